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
first=""
for devices in 1 2 3 4; do
  told=$("$bin/06_hpe_styles" --devices $devices) || status=1
  echo "$told"
  [[ $told == *"all the same bits as plain loops" ]] || status=1
  [ $devices = 1 ] || [[ $told == *"device 0 uses the memory of device 1 in place"* ]] || status=1
  sums=$(grep -oE ' [0-9a-f]{8}$' <<< "$told" | sort -u)
  [ "${first:=$sums}" = "$sums" ] || { echo "other bits on $devices devices"; status=1; }
done
NUNA_POISON=1 NUNA_CHECK=1 "$bin/06_hpe_styles" --devices 4 --planes 17 --side 9 --steps 50 || status=1
# refused <part of the message> <argument>...
refused() {
  local words=$1 told
  shift
  told=$("$bin/06_hpe_styles" "$@" 2>&1) && { echo "06_hpe_styles $* is content"; status=1; }
  [[ $told == "hpe_styles: "*"$words"* ]] || { echo "06_hpe_styles $* says: $told"; status=1; }
}
refused '--devices is "0": expected a whole number from 1' --devices 0
refused '--devices is "2x"' --devices 2x
refused '--steps is ""' --steps
refused "unknown argument --size" --size 3
refused "15 planes for 4 devices: each needs at least 4" --planes 15 --devices 4
exit $status
