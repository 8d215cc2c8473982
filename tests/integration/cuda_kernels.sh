#!/usr/bin/env bash
# What nvcc made of kernels, as PTX in the programs: an entry for each, whose closure is not copied to local memory, and in
# which no product is fused with a sum.
set -u
bin=$NUNA_TEST_BUILD/bin
grep -q '^CMAKE_CUDA_COMPILER:' "$NUNA_TEST_BUILD/CMakeCache.txt" && [ -n "$(find "$NUNA_TEST_BUILD/CMakeFiles" -name CMakeCUDACompiler.cmake)" ] ||
  { echo "skipped: the programs were compiled without CUDA"; exit 77; }
status=0
work=$(mktemp)
trap 'rm -f "$work"' EXIT
# entries <program> <number> <part of a name>...
entries() {
  local program=$1 number=$2 name found
  shift 2
  # Of what is text, each module of PTX, but for Nuna's own (runtime/device/cuda/kernels.cu).
  grep -a '^[[:print:][:space:]]*$' "$bin/$program" |
    awk '/^\.version/ { if (module !~ /nuna_copy_bytes/) printf "%s", module; module = "" } { module = module $0 "\n" }
         END { if (module !~ /nuna_copy_bytes/) printf "%s", module }' > "$work"
  found=$(grep -ac '^\.visible \.entry ' "$work")
  [ "$found" = "$number" ] || { echo "$program: $found entries instead of $number"; status=1; }
  for name in "$@"; do
    grep -aq "^\.visible \.entry .*$name" "$work" || { echo "$program: no entry for $name"; status=1; }
  done
  grep -aE 'fma\.[a-z]*\.?f(32|64)' "$work" && { echo "$program: a product is fused with a sum"; status=1; }
  grep -aE '^[[:space:]]*\.local ' "$work" && { echo "$program: a kernel has local memory"; status=1; }
  echo "$program: $found entries"
}
entries stencil 3 4Wave 6Source 6Record
entries examples/01_vector_add 1 thread_entry.*3Add
entries examples/02_heat 1 thread_entry.*4Heat
entries examples/04_matmul 1 block_entry.*8Multiply
entries examples/05_library 3 thread_entry.*5Noise thread_entry.*5Means prefix_sums_kernel
exit $status
