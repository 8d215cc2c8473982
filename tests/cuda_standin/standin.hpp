#pragma once
// What the stand-in's libcuda.so.1 exports beyond the driver's functions, for tests (dlsym).

extern "C" {

/// How often something happened in this process: a driver function by its name without a version ("cuMemAlloc"),
/// "launches", "instructions" (of kernels), or "leaked_allocations" (alive when their context was destroyed).
unsigned long long nuna_standin_count(const char* name);

/// Begins anew with faults, slowness and losses as `text` says (as in NUNA_TEST_CUDA; the number and the memory of
/// the cards stay): counts are 0 again, and lost contexts are healthy. No other thread may be in the driver. Returns
/// 0, and nothing happens, if the text cannot be read.
int nuna_standin_begin(const char* text);
}
