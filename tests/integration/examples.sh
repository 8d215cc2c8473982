#!/usr/bin/env bash
# The examples run, and say the same on any number of devices.
set -u
bin=$NUNA_TEST_BUILD/bin/examples
status=0
"$bin/01_vector_add" && "$bin/01_vector_add" --devices 3 || status=1
one=$("$bin/02_heat") || status=1
four=$("$bin/02_heat" --devices 4) || status=1
echo "$four"
[ "$(tail -n +2 <<< "$one")" = "$(tail -n +2 <<< "$four")" ] || { echo "the heat differs on one device:"; echo "$one"; status=1; }
one=$("$bin/03_two_ranks") || status=1
echo "$one"
[[ $one == *"peak "*", middle "* ]] || status=1
if [ -e "$NUNA_TEST_BUILD/mpiexec.txt" ]; then
  two=$(bash -c '. "$NUNA_TEST_SOURCE/tests/support/mpi.bash"; ranks 2 "$1"; cat "$work/out"' - "$bin/03_two_ranks")
  echo "$two"
  [ "${one#1}" = "${two#2}" ] || { echo "the string differs on two ranks"; status=1; }
fi
for size in 200 333; do
  for devices in 1 3; do
    told=$("$bin/04_matmul" --size $size --devices $devices) || status=1
    echo "$told"
    [[ $told == "$size x $size on 1 rank(s) of $devices device(s): "*" GFLOP/s, the same bits as a plain loop" ]] || status=1
  done
done
"$bin/04_matmul" --size 0 2> /dev/null && { echo "a product of nothing is content"; status=1; }
for devices in 1 3; do
  told=$("$bin/05_library" --devices $devices) || status=1
  echo "$told"
  [[ $told == *": all correct" ]] || status=1
done
exit $status
