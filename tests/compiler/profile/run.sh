#!/bin/sh
# Profile mode: kernels whose access only launches show leave the same bytes on one device and on several, and are split, undone or refused
# as they should.
#   [NUNACC=...] tests/compiler/profile/run.sh
. "$(dirname "$0")/../prelude.sh"
unset NUNA_PROFILE NUNA_AUDIT NUNA_DEVICES
status=0
fail() {
  echo "FAILED: $*"
  status=1
}

"$NUNACC" -std=c++17 -O3 -w "$here/shapes.cu" -o "$work/plain" || exit 1
"$NUNACC" -std=c++17 -O3 -w --audit "$here/shapes.cu" -o "$work/shapes" || exit 1
timeout 60 "$work/plain" >"$work/expected" || fail "one device: status $?"
grep -q wrong "$work/expected" && fail "one device: $(grep wrong "$work/expected")"

# run <settings>...: the bytes of one device
run() {
  env "$@" timeout 120 "$work/shapes" >"$work/out" 2>"$work/err" || fail "$*: status $?: $(tail -n 1 "$work/err")"
  cmp -s "$work/out" "$work/expected" || fail "$*: $(diff "$work/expected" "$work/out" | head -n 4)"
}
# says <number> <text>: of lines
says() {
  found=$(grep -c "$2" "$work/err")
  [ "$found" = "$1" ] || fail "$found lines, not $1, say: $2"
}

for devices in 1 2 8 3; do
  run NUNA_DEVICES=$devices
  run NUNA_PROFILE=1 NUNA_DEVICES=$devices
done
# split_and_undone: what becomes of each kernel, of one rank and of several
split_and_undone() {
  for kernel in scatter scatter_of_many scatter_of_struct scatter_that_changes gather_that_changes scatter_that_changes_last gather_that_changes_last \
    scatter_of_many_that_changes_last scatter_of_some multiply rows_of_pointers link follow mixed columns; do
    says 1 "profile: kernel .*[0-9]${kernel}[A-Z0-9].* is split by what it touched"
  done
  says 1 'kernel .*20scatter_that_changes.* \(reads\|writes\) 4 bytes at .*shapes.cu:.*undone, and run whole'
  says 1 'kernel .*19gather_that_changes.* reads 4 bytes at .*shapes.cu:.*undone, and run whole'
  for kernel in 25scatter_that_changes_last 24gather_that_changes_last 33scatter_of_many_that_changes_last; do
    says 1 "kernel .*$kernel.* \(reads\|writes\) 4 bytes at .*shapes.cu:.*undone, and run whole"
  done
  says 5 'undone, and run whole'
  says 1 'kernel .*27scatter_that_always_changes.* is not split: touches other bytes at each launch'
  says 1 'kernel .*7collide.* is not split: blocks that differ in x write the same bytes'
  says 1 'kernel .*11look_around.* is not split: blocks that differ in x read what others write'
  says 1 'kernel .*5count.* is not split: atomic update'
  says 1 'kernel .*13volatile_rows.* is not split: has volatile accesses'
  says 1 'kernel .*17print_and_scatter.* is not split: it prints'
  says 0 'kernel .*15multiply_active'
  says 1 'profile: 18 kernels recorded, 15 of them split in .* launches, 5 deviations'
}
split_and_undone

run NUNA_PROFILE=1 NUNA_DEVICES=3 NUNA_THREADS=2
run NUNA_PROFILE=1 NUNA_DEVICES=3 NUNA_FAULTS=off
run NUNA_PROFILE=1 NUNA_DEVICES=3 NUNA_POISON=1
run NUNA_PROFILE=1
says 1 'profile: off, because one device has nothing to share out'
run NUNA_PROFILE=1 NUNA_AUDIT=1 NUNA_DEVICES=3
says 1 'profile: off, because NUNA_AUDIT is on'
mv "$work/shapes" "$work/audited"
cp "$work/plain" "$work/shapes"
run NUNA_PROFILE=1 NUNA_DEVICES=3
says 1 'does not tell what it touches: compile with nunacc --audit'

# Several ranks do as one.
mpirun=$(cat "${NUNACC%/bin/nunacc}/mpiexec.txt" 2>/dev/null)
[ -n "$mpirun" ] || { echo "no mpirun: no ranks"; exit $status; }
[ "$(id -u)" != 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
oversubscribe=
! "$mpirun" --version 2>&1 | grep -q 'Open MPI\|OpenRTE' || oversubscribe=--oversubscribe
# run_ranks <number> <settings>...: the bytes of one device
run_ranks() {
  number=$1
  shift
  env "$@" timeout 120 "$mpirun" $oversubscribe -n "$number" "$work/audited" >"$work/out" 2>"$work/err" ||
    fail "$number ranks, $*: status $?: $(tail -n 1 "$work/err")"
  cmp -s "$work/out" "$work/expected" || fail "$number ranks, $*: $(diff "$work/expected" "$work/out" | head -n 4)"
}
for number in 2 3; do
  for devices in 1 2; do
    run_ranks $number NUNA_PROFILE=1 NUNA_DEVICES=$devices
    split_and_undone
  done
done
run_ranks 3 NUNA_PROFILE=1 NUNA_POISON=1 NUNA_DEVICES=2
exit $status
