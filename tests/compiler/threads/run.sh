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

# Objects of many kernels are made in parts; two of the same names go into one program, also with device code that is linked.
cp "$here/many.cu" "$work/other.cu"
for rdc in false true; do
  "$NUNACC" -std=c++17 -rdc=$rdc -DNAME=one -DBY=3 -c "$here/many.cu" -o "$work/one.o" &&
    "$NUNACC" -std=c++17 -rdc=$rdc -DNAME=other -DBY=5 -c "$work/other.cu" -o "$work/other.o" &&
    "$NUNACC" -rdc=$rdc "$here/many_main.cpp" "$work/one.o" "$work/other.o" -o "$work/many" && "$work/many" || {
    echo "FAILED: many kernels, -rdc=$rdc"
    status=1
  }
done
exit $status
