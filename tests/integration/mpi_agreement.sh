#!/usr/bin/env bash
# Ranks that call different things are told so, with both places in the source, and the job ends; so it does when a rank
# fails, leaves, vanishes or finalises MPI. What is right beside Nuna stays right.
set -u
. "$NUNA_TEST_SOURCE/tests/support/mpi.bash"
limit_s=40

# right <scenario> <ranks> [threads that the program asks MPI for]
right() { ranks "$2" "$scenario" "$1" ${3:+"$3"} || { failed "$1 on $2 ranks ${3:-}"; tail -n 20 "$work/out"; }; }

# wrong <scenario> <ranks> <what is told> [threads that the program asks MPI for]
wrong() {
  ranks "$2" "$scenario" "$1" ${4:+"$4"}
  local rc=$?
  { [ $rc != 0 ] && [ $rc -lt 124 ]; } || { failed "$1 on $2 ranks ends with $rc"; tail -n 20 "$work/out"; }
  [ -z "$3" ] || told "$3" || { failed "$1 on $2 ranks does not tell '$3'"; tail -n 20 "$work/out"; }
}

# One message of more than 2 GiB takes 10 GiB of memory and half a minute: for those who ask.
huge() { [ "${NUNA_TEST_HUGE:-0}" = 0 ] || limit_s=180 right huge 2; }

for n in 1 2 3 4; do right right $n; done
right traffic 2
[ $open_mpi = 0 ] || right traffic 3  # MPICH spins in the user's own calls: minutes on two cores
right halves 4
right pieces 2
right framed 2
right framed 3
huge
right finalizes 2
told 'MPI_Finalize while' || failed "MPI_Finalize is not told of"

# Where MPI may be called by the program's threads only, they move the messages.
for threads in single funneled serialized; do
  right right 3 $threads
  right halves 4 $threads
  right 'uneven' 2 $threads
  right framed 2 $threads
  wrong skipped 2 "rank 0 made launch 'left out'" $threads
done
right 'another thread' 2 funneled
told "wait at scenarios.cpp:[0-9]+: MPI was initialised for the main thread only" ||
  failed "a call on another thread is not refused"

wrong skipped 2 "rank 0 made launch 'left out' at scenarios.cpp:[0-9]+ .call [0-9]+. where rank 1 made launch 'after' at scenarios.cpp:[0-9]+"
wrong swapped 2 "rank 0 made launch 'one' .* where rank 1 made launch 'two'"
wrong 'other size' 3 "with other arguments"
wrong 'early exit' 2 "rank 1 made|rank 1 left"
NUNA_STALL=0.3 wrong 'own barrier' 2 "waits in launch 'after' at scenarios.cpp:[0-9]+ for a message of rank 1, whose last call is launch 'set'"
NUNA_STALL=0.45 right 'long kernel' 2  # of 6 s, and a silent rank is given up after 5.4
wrong 'kernel fails' 2 "kernel 'unlucky' failed .* no luck"
wrong throws 2 "the last rank gives up"
wrong vanishes 2 ''  # the launcher ends the others: what they tell is not certain to come through

if [ $open_mpi = 1 ] && [ $sanitized = 0 ]; then  # the other transports are MPI's matter, and slow
  for transport in '--mca btl tcp,self' '--mca pml ucx --mca pml_ucx_tls any --mca pml_ucx_devices any'; do
    read -ra chosen <<< "--oversubscribe $transport"
    mpi_options=("${chosen[@]}")
    if [[ $transport == *ucx* ]] && ! ompi_info 2> /dev/null | grep -q 'pml: ucx'; then
      echo "left out: this Open MPI has no UCX"
      continue
    fi
    right right 2
    right framed 3
    right traffic 2
    huge
    wrong skipped 2 "rank 0 made launch 'left out'"
  done
fi

[ $status = 0 ] && echo "agreement, and every way to break it, as promised"
exit $status
