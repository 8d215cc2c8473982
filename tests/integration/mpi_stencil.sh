#!/usr/bin/env bash
# The stencil on 1 to 4 processes of 1 and 2 devices, over shared memory, TCP and UCX: the bits of the serial reference.
set -u
. "$NUNA_TEST_SOURCE/tests/support/mpi.bash"
stencil=$NUNA_TEST_BUILD/bin/stencil
cd "$work" || exit 1

# verified <ranks> <devices>
verified() {
  ranks "$1" "$stencil" --devices "$2" --shape 101x61 --steps 60 --verify --output "$work/run" ||
    { failed "$1 ranks x $2 devices"; tail -n 20 "$work/out"; return; }
  told "on $1 ranks? of $2 devices?, .*; verified" || { failed "$1 ranks x $2 devices: not verified"; tail -n 5 "$work/out"; }
  [ "$(told 'written' && grep -c written "$work/out")" = 4 ] || failed "$1 ranks x $2 devices: not four files"
}

for n in 1 2 3 4; do
  for d in 1 2; do verified $n $d; done
done
if [ $open_mpi = 1 ]; then
  mpi_options=(--oversubscribe --mca btl tcp,self)
  verified 2 1
  verified 4 2
  if ompi_info 2> /dev/null | grep -q 'pml: ucx'; then
    mpi_options=(--oversubscribe --mca pml ucx --mca pml_ucx_tls any --mca pml_ucx_devices any)
    verified 2 1
    verified 4 2
  fi
fi
ranks 2 "$stencil" --shape 3x40 --devices 2 && failed "more parts than planes were accepted"
told 'stencil: the model has 3 planes' || { failed "more parts than planes are not named"; tail -n 5 "$work/out"; }
if [ $open_mpi = 1 ]; then
  mpi_options=(--oversubscribe --bind-to core)
  verified 2 2
  [ "$(grep -c 'has 2 devices but may use only 1 core' "$work/out")" = 2 ] || { failed "two devices on one core are not told of once a rank"; head -5 "$work/out"; }
  mpi_options=(--oversubscribe --bind-to none)
  verified 2 2
  ! told 'may use only' || [ "$(nproc)" = 1 ] || failed "unbound ranks are warned"
fi
[ $status = 0 ] && echo "the same bits on every number of processes, over every transport"
exit $status
