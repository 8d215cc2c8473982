#pragma once
// What the stand-in's libcuda.so.1 exports beyond the driver's functions, for tests (dlsym).

extern "C" {

/// How often something happened in this process: a driver function by its name without a version ("cuMemAlloc"),
/// "launches", "instructions" (of kernels), or "leaked_allocations" (alive when their context was destroyed).
unsigned long long nuna_standin_count(const char* name);
}
