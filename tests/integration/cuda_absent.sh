#!/usr/bin/env bash
# A program that was built for CUDA devices, without a driver: it links none, says in one line why there are no devices, and runs
# on the CPU; where CUDA devices are asked for, that is a named error.
set -u
if ! grep -q '^CMAKE_CUDA_COMPILER:' "$NUNA_TEST_BUILD/CMakeCache.txt" || [ ! -x "$NUNA_TEST_BUILD/bin/gpu/stencil" ]; then
  echo "skipped: this build has no kernels for CUDA devices (NUNA_CUDA is off)"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
failed() { echo "FAILED: $*"; status=1; }
# Also where there is a driver.
export NUNA_CUDA_DRIVER=libcuda-that-is-not-there.so.1

# without_driver <program> <argument>...
without_driver() {
  local name=${1##*/}
  ldd "$1" > "$work/ldd" || failed "$name: ldd"
  grep -E 'libcuda|libcudart|libnvidia' "$work/ldd" && failed "$name is linked with it"
  NUNA_LOG=info "$@" > "$work/out" 2>&1 || { failed "$name does not run without a driver"; cat "$work/out"; }
  [ "$(grep -c 'no CUDA devices: .*libcuda-that-is-not-there.so.1' "$work/out")" = 1 ] ||
    { failed "$name does not say in one line why there are no CUDA devices"; cat "$work/out"; }
  NUNA_DEVICE=cuda "$@" > "$work/out" 2>&1 && failed "$name is content without the CUDA devices that were asked for"
  [ "$(wc -l < "$work/out")" = 1 ] && grep -q 'there are no CUDA devices: .*NUNA_DEVICE=host' "$work/out" ||
    { failed "$name: not one line that names the error"; cat "$work/out"; }
  cat "$work/out"
}

without_driver "$NUNA_TEST_BUILD/bin/stencil" --shape 31x23 --steps 5 --no-output
without_driver "$NUNA_TEST_BUILD/bin/examples/04_matmul" --size 50
exit $status
