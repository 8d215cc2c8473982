#!/usr/bin/env bash
# Messages by every route bring the same bytes; where a route fails, another one is taken and said, or the failure is named.
set -u
. "$NUNA_TEST_SOURCE/tests/support/mpi.bash"
limit_s=120
programs=$NUNA_TEST_BUILD/bin/mpi_routes
seeds=${NUNA_TEST_SEEDS:-$((12 - 8 * sanitized))}

# Random programs by random routes, with more ranks than cores.
for n in 2 3 4; do
  ranks $n "$programs" $((n * 1000)) "$seeds" || { failed "random programs on $n ranks"; tail -n 40 "$work/out"; }
done

# fault <NUNA_INJECT> <NUNA_ROUTES> <what is told, or empty>: the program ends well all the same.
fault() {
  NUNA_INJECT=$1 NUNA_ROUTES=$2 ranks 2 "$scenario" routes || { failed "$1 ends badly"; tail -n 20 "$work/out"; }
  [ -z "$3" ] || told "$3" || { failed "$1 does not tell '$3'"; tail -n 20 "$work/out"; }
}
# hopeless <NUNA_INJECT> <NUNA_ROUTES> <what is told>: the program ends soon (in seconds; busy machines need more) with a named error.
hopeless() {
  local rc begin=$SECONDS
  NUNA_INJECT=$1 NUNA_ROUTES=$2 ranks 2 "$scenario" routes
  rc=$?
  { [ $rc != 0 ] && [ $rc -lt 124 ]; } || { failed "$1 ends with $rc"; tail -n 20 "$work/out"; }
  told "$3" || { failed "$1 does not tell '$3'"; tail -n 20 "$work/out"; }
  [ $((SECONDS - begin)) -le $((60 * (1 + 2 * sanitized))) ] || failed "$1 took $((SECONDS - begin)) s"
}

for routes in mapped packed pipelined; do fault '' $routes ''; done
fault mapped:refused '' 'come by MPI instead of being read from its memory: it gave no descriptor'
fault mapped:lost '' 'come by MPI instead of being read from its memory: it gave no descriptor'
fault mapped:wrong '' 'come by MPI instead of being read from its memory: a pattern'
fault mapped:slow '' 'come by MPI instead of being read from its memory: its memory is slow'
fault mapped:unmapped mapped ''
fault staged:refused pipelined ''
fault direct:wrong '' 'are not direct but staged: a pattern did not arrive'
fault direct:lost '' 'are not direct but staged: nothing arrived'
fault direct:slow '' 'are not direct but staged: it moved only'
hopeless 'direct:wrong, staged:wrong' '' 'no way is left on which bytes get from'
hopeless 'direct:lost, staged:lost' '' 'no way is left on which bytes get from'
hopeless pipelined:lost pipelined 'the network lost it'
hopeless packed:lost packed 'the network lost it'
NUNA_CHECK=1 hopeless pipelined:wrong pipelined 'changed on the way'
NUNA_CHECK=1 hopeless packed:wrong packed 'changed on the way'
for routes in mapped packed pipelined; do NUNA_CHECK=1 fault '' $routes ''; done

# Ranks that are told different routes say so.
if [ $open_mpi = 1 ]; then
  ranks 1 -x NUNA_ROUTES=mapped "$scenario" routes : -n 1 "$scenario" routes && failed 'different routes are accepted'
  told 'give every rank the same NUNA_ROUTES' || { failed 'different routes are not told'; cat "$work/out"; }
fi
exit $status
