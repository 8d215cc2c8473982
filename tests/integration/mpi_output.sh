#!/usr/bin/env bash
# Whenever a rank of the stencil is killed - while it computes, while the files are written - every file is what it was before
# or whole, the four of them together, and no temporary file stays. Only rank 0, which writes, leaves its own when it is itself
# killed (SIGKILL), and may be killed between two renames: then each file for itself. $NUNA_TEST_KILLS says how many kills at
# random instants.
set -u
. "$NUNA_TEST_SOURCE/tests/support/mpi.bash"
[ $open_mpi = 1 ] || { echo "skipped: --enable-recovery is Open MPI's"; exit 77; }
stencil=$work/stencil  # a name of its own, so that other tests' processes are not taken for ours
ln -s "$NUNA_TEST_BUILD/bin/stencil" "$stencil"
[ -x "$stencil" ] || { echo "skipped: this build has no stencil"; exit 77; }
kills=${NUNA_TEST_KILLS:-4}
RANDOM=${NUNA_TEST_SEED:-1}
limit_s=30
cd "$work" || exit 1
files=(run_wavefield.f32 run_traces.f32 run_wavefield.png run_seismogram.png)

cat > rank.sh << 'RANK'
echo $$ > "pid.$OMPI_COMM_WORLD_RANK"
[ -z "${LARGEST_KIB:-}" ] || { trap '' XFSZ; ulimit -f "$LARGEST_KIB"; }
exec "$@"
RANK
# job <folder for the output>: 38 MB of it
job() { ranks 2 bash rank.sh "$stencil" --shape 300x200x160 --steps 20 --output "$1/run"; }

# Who ends the job: each waits for its moment and has the ranks' process numbers in pid.* then.
wait_for() { # <what must be true>
  local i
  for ((i = 0; i < 4000; ++i)); do
    eval "$1" && return
    sleep 0.002
  done
  failed "$now: the moment does not come"
  return 1
}
# A survivor in MPI_Finalize waits for ever (docs/LIMITATIONS.md); until it has written its files it is left alone.
release() { # <survivor>
  local pid waited=0
  pid=$(< "pid.$1")
  while kill -0 "$pid" 2> /dev/null; do
    if [ "$1" != 0 ] || told '^written'; then ((++waited < 150)) || kill -9 "$pid"; fi
    sleep 0.02
  done
}
kill_rank() {
  kill -9 "$(< "pid.$1")" 2> /dev/null
  [[ ${mpi_options[*]} == *recovery* ]] || return  # mpirun ends the survivor
  kill -CONT "$(< pid.0)" 2> /dev/null
  release $((1 - $1))
}
kill_at_random() { # <rank> <ms>
  wait_for '[ -s out ]' || return
  sleep "0.$(printf '%03d' "$2")"
  kill_rank "$1"
}
# Rank 0 stops in the middle of the first file, so that what follows comes before its end.
stop_while_writing() { wait_for '[ -s out.d/run_wavefield.f32.part-* ]' 2> /dev/null && kill -STOP "$(< pid.0)"; }
kill_while_writing() { stop_while_writing && kill_rank "$1"; }  # <rank>
terminate_while_writing() { stop_while_writing && kill -TERM "$(< pid.0)" && kill -CONT "$(< pid.0)"; }

# attempt <what> <rank that is killed by SIGKILL, or none> <older|new> <end>...: a job that `end` ends.
attempt() {
  local killed=$2 older=$3 rc file states=
  now="$1 ${mpi_options[*]}, $older files"
  shift 3
  rm -rf out out.d pid.* && mkdir out.d
  [ $older = new ] || for file in "${files[@]}"; do echo "older $file" > "out.d/$file"; done
  "$@" &
  job out.d
  rc=$?
  wait $!
  [ $rc != 124 ] || failed "$now: the job hangs"
  for file in "${files[@]}"; do
    if [ ! -e "out.d/$file" ]; then
      states+=" absent"
      [ $older = new ] || failed "$now: the older $file is gone"
    elif cmp -s "out.d/$file" "whole.d/$file"; then
      states+=" whole"
    elif [ $older = older ] && [ "$(cat "out.d/$file")" = "older $file" ]; then
      states+=" older"
    else
      failed "$now: $file is damaged"
    fi
  done
  echo "$now:$states"
  [ "$killed" = 0 ] || [ "$(tr ' ' '\n' <<< "${states# }" | sort -u | wc -l)" = 1 ] || failed "$now: not together:$states"
  [ "$(grep -c '^written' out)" = 0 ] || [ "$states" = " whole whole whole whole" ] || failed "$now: told as written:$states"
  for file in out.d/*.part-*; do
    [ ! -e "$file" ] || [ "$killed" = 0 ] || failed "$now: $file is left"
  done
}

mkdir whole.d
job whole.d || { failed "an undisturbed run"; cat out; exit 1; }

for recovery in '' --enable-recovery; do
  mpi_options=(--oversubscribe $recovery)
  attempt 'rank 0 killed while it writes,' 0 older kill_while_writing 0
  attempt 'rank 1 killed while rank 0 writes,' 1 older kill_while_writing 1
  attempt 'rank 1 killed while rank 0 writes,' 1 new kill_while_writing 1
done
for ((k = 0; k < kills; ++k)); do
  mpi_options=(--oversubscribe)
  [ $((k / 2 % 2)) = 0 ] || mpi_options+=(--enable-recovery)
  older=(older new) delay=$((RANDOM % 800))
  attempt "rank $((k % 2)) killed after $delay ms," $((k % 2)) ${older[RANDOM % 2]} kill_at_random $((k % 2)) $delay
done
mpi_options=(--oversubscribe)
attempt 'rank 0 terminated while it writes,' none older terminate_while_writing
LARGEST_KIB=10000 attempt 'a limit on file sizes,' none older true
told 'stencil: cannot write .*File too large' || failed "a file that is too large is not told of"

pgrep -f "^$stencil" > /dev/null && failed "processes are left"
[ $status = 0 ] && echo "$kills kills at random and those while files were written: whole or as before, together"
exit $status
