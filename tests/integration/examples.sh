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
exit $status
