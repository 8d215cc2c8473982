#!/usr/bin/env bash
# A rank killed at a random instant: every survivor says which rank is lost and what it waited for, and ends with a failure
# within 10 seconds, also under `mpirun --enable-recovery`, where nobody else ends it. Every fourth time messages are large,
# and no call waits. $NUNA_TEST_KILLS says how many.
set -u
. "$NUNA_TEST_SOURCE/tests/support/mpi.bash"
ln -s "$scenario" "$work/scenario"
scenario=$work/scenario  # a name of its own, so that other tests' processes are not taken for ours
[ $open_mpi = 1 ] || { echo "skipped: --enable-recovery is Open MPI's"; exit 77; }
mpi_options=(--oversubscribe --enable-recovery)
kills=${NUNA_TEST_KILLS:-50}
RANDOM=${NUNA_TEST_SEED:-1}
limit_s=25

# The rank's own exit status: mpirun tells none when it recovers.
cat > "$work/rank.sh" << 'RANK'
"$@"
echo "status of rank $OMPI_COMM_WORLD_RANK: $?"
RANK

for ((k = 0; k < kills; ++k)); do
  survivors=$((1 + RANDOM % 2)) delay=$((RANDOM % 400)) what="for ever"
  [ $((k % 4)) != 3 ] || what="for ever large"
  rm -f "$work/killed"
  : > "$work/out"
  (
    for ((i = 0; i < 100; ++i)); do
      [ "$(grep -c started "$work/out")" = $((survivors + 1)) ] && break
      sleep 0.1
    done
    sleep "0.$(printf '%03d' $delay)"
    pid=$(pgrep -f "^$scenario $what" | shuf -n 1 --random-source=<(yes $k))
    date +%s%N > "$work/killed"
    kill -9 "$pid"
  ) &
  ranks $((survivors + 1)) bash "$work/rank.sh" "$scenario" "$what"
  rc=$?
  wait
  seconds=$((($(date +%s%N) - $(cat "$work/killed")) / 1000000000))
  [ $rc -lt 124 ] || failed "kill $k after $delay ms: the job hangs"
  [ $seconds -le 10 ] || failed "kill $k after $delay ms: it took $seconds s"
  good=$(grep -c 'status of rank [0-9]*: 0$' "$work/out")
  [ "$good" = 0 ] || failed "kill $k after $delay ms: $good survivors end well"
  told 'status of rank [0-9]*: 1$' && ! told 'rank [0-9]+ is lost .its process [0-9]+ has ended., but rank [0-9]+ waits for it in ' && {
    failed "kill $k after $delay ms: the loss is not told"
    tail -n 20 "$work/out"
  }
done
pgrep -f "^$scenario" > /dev/null && failed "processes are left"
[ $status = 0 ] && echo "$kills kills, every survivor told of it and ended"
exit $status
