#!/bin/sh
# One program on several ranks is as on one: what its ranks give the device may differ (unequal.cu), work of the host moves little (turns.cu),
# standard input reaches all (input.cu), kernels may wait for the whole grid (together.cu), an
# error is over when the device is reset (again.cu), it ends as on one however it ends (fails.cu), and its threads call in any order (threads.cu).
#   tests/compiler/ranks/run.sh        NUNA_TEST_BUILD: where nunacc is (build/release)
set -u
export NUNACC_PTX=off
unset NUNA_DEVICES NUNA_ALL_RANKS
here=$(cd "$(dirname "$0")" && pwd)
build=${NUNA_TEST_BUILD:-$(cd "$here/../../.." && pwd)/build/release}
mpirun=$(cat "$build/mpiexec.txt" 2>/dev/null)
[ -n "$mpirun" ] || { echo "no mpirun: nothing to test"; exit 0; }
[ "$(id -u)" != 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
oversubscribe=
! "$mpirun" --version 2>&1 | grep -q 'Open MPI\|OpenRTE' || oversubscribe=--oversubscribe
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

fail() {
  echo "FAILED: $*"
  status=1
}
# ranks <number> <command>...: by its status, output in "$work/out" and "$work/err"
ranks() {
  number=$1
  shift
  timeout 120 "$mpirun" $oversubscribe -n "$number" "$@" >"$work/out" 2>"$work/err"
}
# same <what>: as $work/expected
same() {
  diff "$work/expected" "$work/out" >"$work/difference" || fail "$1: $(head -n 5 "$work/difference" | tr '\n' ' ')"
}

for program in unequal turns input together again fails threads; do
  timeout 300 "$build/bin/nunacc" -O3 -std=c++17 "$here/$program.cu" -o "$work/$program" 2>"$work/log" ||
    { fail "$program.cu: $(tail -n 1 "$work/log")"; exit 1; }
done

timeout 60 "$work/unequal" >"$work/expected" || fail "unequal on one rank"
for number in 2 3; do
  ranks $number "$work/unequal" || fail "unequal on $number ranks: $(tail -n 2 "$work/err")"
  same "unequal on $number ranks"
  [ "$(grep -c 'differs between ranks' "$work/err")" = 1 ] || fail "unequal on $number ranks: is to say so once"
done
NUNA_DEVICES=2 ranks 2 "$work/unequal" || fail "unequal on 2 ranks of 2 devices: $(tail -n 2 "$work/err")"
same "unequal on 2 ranks of 2 devices"

timeout 60 "$work/turns" >"$work/expected" || fail "turns on one rank"
for number in 2 3; do
  NUNA_STATS=1 ranks $number "$work/turns" || fail "turns on $number ranks: $(tail -n 2 "$work/err")"
  same "turns on $number ranks"
done
# Other ranks need the pages that the first one has written on the host (with all arrays it would be 230 MB), and all of the arrays in the end.
sent=$(sed -n 's/.*"bytes_by_route":{[^}]*"send":\([0-9]*\),.*/\1/p' "$work/err")
[ "${sent:-0}" -gt 0 ] && [ "$sent" -lt 80000000 ] || fail "turns: the first of 3 ranks sends $sent bytes"

timeout 60 "$work/together" >"$work/expected" || fail "together on one rank"
ranks 2 "$work/together" || fail "together on 2 ranks: $(tail -n 2 "$work/err")"
same "together on 2 ranks"

timeout 60 "$work/again" >"$work/expected" || fail "again on one rank"
for number in 2 3; do
  ranks $number "$work/again" || fail "again on $number ranks: $(tail -n 2 "$work/err")"
  same "again on $number ranks"
done

seq 1 30000 >"$work/numbers"
yes 1.5 | head -n 400000 >"$work/many"
: >"$work/none"
for how in scanf cin getline read half nothing; do
  for numbers in many none; do
    timeout 60 "$work/input" $how <"$work/$numbers" >"$work/expected" || fail "input $how on one rank"
    ranks 3 "$work/input" $how <"$work/$numbers" || fail "input $how of $numbers: $(tail -n 2 "$work/err")"
    same "input $how of $numbers"
  done
  { head -n 500 "$work/numbers"; sleep 0.3; tail -n +501 "$work/numbers"; } | ranks 2 "$work/input" $how
  timeout 60 "$work/input" $how <"$work/numbers" >"$work/expected"
  same "input $how by a pipe that waits"
done
timeout 60 "$work/input" scanf </dev/null >"$work/expected"
ranks 2 "$work/input" scanf </dev/null || fail "input without any"
same "input without any"
ranks 2 sh -c '"$0" scanf <&-' "$work/input" || fail "input that is closed"
same "input that is closed"
# Two nodes: a second daemon of Open MPI, on this machine, without MPI's shared memory, whose names would collide. Rank 1 is on the second one.
printf '#!/bin/sh\nshift\nexec sh -c "$*"\n' >"$work/agent"
chmod +x "$work/agent"
nodes="--mca plm_rsh_agent $work/agent --host $(hostname):2,127.0.0.2:2 --map-by node --mca btl self,tcp --mca btl_tcp_if_include lo"
if [ -n "$oversubscribe" ] && timeout 60 "$mpirun" $nodes -n 2 true </dev/null >/dev/null 2>&1; then
  for how in scanf cin read half nothing; do
    timeout 60 "$work/input" $how <"$work/many" >"$work/expected"
    ranks 3 $nodes "$work/input" $how <"$work/many" || fail "input $how on two nodes: $(tail -n 2 "$work/err")"
    same "input $how on two nodes"
  done
  { head -n 500 "$work/numbers"; sleep 0.3; tail -n +501 "$work/numbers"; } | ranks 2 $nodes "$work/input" cin
  timeout 60 "$work/input" cin <"$work/numbers" >"$work/expected"
  same "input on two nodes by a pipe that waits"
else
  echo "input on two nodes: not run (this mpirun starts none)"
fi
# Who does not read does not wait for who does not write.
sleep 20 | ranks 2 "$work/input" nothing &
waiting=$!
sleep 5
timeout 60 "$work/input" nothing >"$work/expected" </dev/null
same "input that nobody reads"
wait $waiting

# ends <how> <status> <text on stdout or stderr>
ends() {
  begin=$(date +%s)
  ranks 3 "$work/fails" "$1"
  found=$?
  [ $found = "$2" ] || fail "fails $1: status $found, not $2"
  cat "$work/out" "$work/err" | grep -q "$3" || fail "fails $1 does not say $3: $(tail -n 3 "$work/err")"
  [ $(($(date +%s) - begin)) -lt 30 ] || fail "fails $1 takes half a minute"
}
ends nothing 0 '^cudaSuccess'
ends assert 4 'fails.cu:[0-9]*:.*block: \[399,0,0\], thread: \[249,0,0\] Assertion'
ends assert 4 '^cudaErrorAssert, then cudaErrorAssert'
ends trap 4 '^cudaErrorLaunchFailure, then'
ends exit 3 'xit code: *3'
ends abort 134 'Aborted\|signal 6'
ends killed 137 'signal 9\|Killed'

timeout 60 "$work/threads" >"$work/expected" || fail "threads on one rank"
for round in $(seq "${NUNA_TEST_ROUNDS:-3}"); do
  for number in 2 3; do
    ranks $number "$work/threads" || fail "threads on $number ranks, round $round: $(head -n 2 "$work/err")"
    same "threads on $number ranks, round $round"
  done
done
# differs <how> <text on stderr>
differs() {
  ranks 2 "$work/threads" "$1" && fail "threads $1: succeeds"
  grep -q "$2" "$work/err" || fail "threads $1 does not say $2: $(head -n 2 "$work/err")"
}
differs extra 'rank 1 made an allocation of 5000 bytes (call 2 of thread 1) where rank 0 made the end of the program'
differs other 'rank 0 made an allocation of 6000 bytes (call 2 of thread 1) where rank 1 made a fill of 4096 bytes'
export NUNA_STALL='500 ms'
differs crossed 'rank 0 made a wait (call 1 of thread 2) where rank 1 made a wait (call 1 of thread 3)'
exit $status
