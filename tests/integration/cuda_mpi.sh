#!/usr/bin/env bash
# The stencil on CUDA devices under mpirun, on the stand-in for the driver: ranks that share two cards give the bits of one rank on
# the host.
set -u
. "$NUNA_TEST_SOURCE/tests/support/mpi.bash"
stencil=$NUNA_TEST_BUILD/bin/gpu/stencil
if [ ! -x "$stencil" ]; then
  echo "skipped: this build has no kernels for CUDA devices (NUNA_CUDA is off)"
  exit 77
fi
export NUNA_CUDA_DRIVER=$NUNA_TEST_BUILD/lib/cuda_standin/libcuda.so.1
model=(--shape 31x23 --steps 12)
cd "$work" || exit 1
NUNA_DEVICE=host "$stencil" "${model[@]}" --output host > out 2>&1 || { cat out; exit 1; }

# same <ranks> <option>...
same() {
  rm -f cuda_*
  NUNA_DEVICE=cuda ranks "$1" "$stencil" "${model[@]}" --output cuda "${@:2}" ||
    { failed "$* on CUDA devices"; tail -n 20 out; return; }
  told "on $1 ranks? of" || { failed "$*: not as many ranks"; tail -n 5 out; }
  for file in wavefield.f32 traces.f32; do cmp host_$file cuda_$file || failed "$*: $file"; done
}

same 1
same 2
same 3
same 2 --devices 2
[ $status = 0 ] && echo "the same bits on 1, 2 and 3 processes with CUDA devices as on one with the CPU"
exit $status
