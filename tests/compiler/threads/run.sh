#!/bin/sh
# What nunacc must not take for granted of threads: cases.cu, unoptimised too. Takes some seconds.
#   [NUNACC=...] tests/compiler/threads/run.sh
. "$(dirname "$0")/../prelude.sh"
status=0
for level in -O3 -O0; do
  "$NUNACC" -std=c++17 $level "$here/cases.cu" -o "$work/cases" && "$work/cases" && continue
  echo "FAILED: cases.cu $level"
  status=1
done

# A value that is made in many steps, each of which uses the one before twice, is looked at in steps, not in all ways through them.
steps=$(for _ in $(seq 30); do printf 'u ^= u << 13; u ^= u >> 17; '; done)
printf '__global__ void k(int* a, unsigned u) {\n  %s\n  if (threadIdx.x + (blockIdx.x ^ u) < u) a[0] = 1;\n' "$steps" >"$work/steps.cu"
printf '  for (unsigned i = threadIdx.x; i < u; i += blockDim.x) a[i] = 2;\n}\n' >>"$work/steps.cu"
timeout 60 "$NUNACC" -c "$work/steps.cu" -o "$work/steps.o" || {
  echo "FAILED: a long sum takes more than a minute to compile"
  status=1
}
exit $status
