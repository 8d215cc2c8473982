#!/usr/bin/env bash
# find_package(CUDAToolkit) by the project in this folder, with the nunacc of one build or installation. Says what is wrong.
#   tests/compiler/toolkit/check.sh <nunacc> <folder for what is built>
set -u
nunacc=$1
work=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export NUNACC_PTX=off
status=0
# step <what> <command>...: its output only if it fails.
step() {
  local what=$1
  shift
  "$@" > "$work/log" 2>&1 && ! grep -q FAIL "$work/log" && return
  echo "WRONG: $what: $(tail -15 "$work/log")"
  status=1
}
mkdir -p "$work"
step "configuring" cmake -S "$here" -B "$work/both" -G Ninja -DCMAKE_CUDA_COMPILER="$nunacc" -DCMAKE_CUDA_ARCHITECTURES=80
version=$("$nunacc" --version | sed -n 's/.* V\([0-9.]*\)$/\1/p')
grep -q -- "-- toolkit $version, compiler $version" "$work/log" || { echo "WRONG: not toolkit $version: $(grep -- '-- toolkit' "$work/log")"; status=1; }
step "building" cmake --build "$work/both"
for program in host both by_cxx static_runtime; do step "running $program" "$work/both/$program"; done

# Without the language, from the folder that nunacc names.
toolkit=$("$nunacc" -v --dryrun -c "$here/kernels.cu" 2>&1 | sed -n 's/^#\$ TOP=//p')
step "configuring C++ alone" cmake -S "$here" -B "$work/cxx" -G Ninja -DLANGUAGES=CXX -DCUDAToolkit_ROOT="$toolkit"
step "building that" cmake --build "$work/cxx"
step "running that" "$work/cxx/host"

# A library that is not there is named.
if cmake -S "$here" -B "$work/more" -G Ninja -DCMAKE_CUDA_COMPILER="$nunacc" -DCMAKE_CUDA_ARCHITECTURES=80 -DMORE=CUDA::cublas > "$work/log" 2>&1 ||
  ! tr -s ' \n' ' ' < "$work/log" | grep -q 'CUDA::cublas'; then
  echo "WRONG: CUDA::cublas is not missed: $(tail -5 "$work/log")"
  status=1
fi
exit $status
