#!/usr/bin/env bash
# Ranks and cores: however the launcher binds, the bits are those of the serial reference, each device has the allowed cores /
# (devices x ranks that share them) threads, at least one, and a rank with more devices than cores says so, once.
set -u
. "$NUNA_TEST_SOURCE/tests/support/mpi.bash"
stencil=$NUNA_TEST_BUILD/bin/stencil
[ -x "$stencil" ] || { echo "skipped: this build has no stencil"; exit 77; }
cd "$work" || exit 1
unset NUNA_THREADS NUNA_DEVICES
cores=$(nproc)

# Each rank counts its devices' threads, by their names, while they live.
cat > rank.sh << 'RANK'
"$@" &
pid=$! most=0
while kill -0 $pid 2> /dev/null; do
  now=$(cat /proc/$pid/task/*/comm 2> /dev/null | grep -cE '^(rank [0-9]+ )?host:')
  [ "$now" -le $most ] || most=$now
  sleep 0.02
done
echo "threads of a rank: $most"
wait $pid
RANK

# bound <ranks> <devices> <threads of each rank's devices> <cores that the warning of each rank names, 0: no warning>
bound() {
  local n=$1 devices=$2 threads=$3 warned=$4 what="$1 ranks of $2 devices, ${mpi_options[*]}" wanted=0
  if ! ranks "$n" bash rank.sh "$stencil" --devices "$devices" --shape 101x61 --steps 1500 --verify --no-output; then
    ! told 'not enough slots|more processes than|could not be|not support' || { echo "left out: $what: not with this MPI here"; return; }
    failed "$what"
    tail -n 20 out
    return
  fi
  told '; verified' || { failed "$what: not verified"; tail -n 5 out; }
  [ "$(grep -c "^threads of a rank: $threads\$" out)" = "$n" ] ||
    failed "$what: $(grep '^threads' out | tr '\n' ' ') where $threads are wanted"
  [ "$warned" = 0 ] || wanted=$n
  [ "$(grep -c 'nuna warning' out)" = $wanted ] || { failed "$what: $(grep -c 'nuna warning' out) warnings"; grep warning out; }
  [ "$(grep -c "has $devices devices but may use only $warned core.*use fewer devices" out)" = $wanted ] ||
    failed "$what: no remedy is named"
}
# share <cores> <ranks that share them> <devices>: the threads of a rank's devices.
share() { local each=$(($1 / ($2 * $3))); echo $((each > 1 ? each * $3 : $3)); }
# few <devices> <cores>: the cores that a warning names.
few() { [ "$1" -le "$2" ] && echo 0 || echo "$2"; }

if [ $open_mpi = 1 ]; then
  none='--bind-to none --oversubscribe' one='--bind-to core' two='--map-by slot:PE=2'
else
  none='-bind-to none' one='-bind-to core' two='-bind-to core:2'
fi
[ "$cores" -ge 2 ] || echo "left out: ranks bound to cores of their own: there is one core"
for devices in 1 2; do
  read -ra mpi_options <<< "$none"
  bound 2 $devices "$(share "$cores" 2 $devices)" "$(few $devices "$cores")"
  [ "$cores" -ge 2 ] || continue
  read -ra mpi_options <<< "$one"
  bound 2 $devices $devices "$(few $devices 1)"
  read -ra mpi_options <<< "$two"
  bound $((cores < 4 ? 1 : 2)) $devices 2 0
done
read -ra mpi_options <<< "$none"
bound $((cores < 8 ? cores + 1 : 9)) 1 "$(share "$cores" $((cores < 8 ? cores + 1 : 9)) 1)" 0
bound 2 3 "$(share "$cores" 2 3)" "$(few 3 "$cores")"
[ $status = 0 ] && echo "on $cores cores: the threads, the warnings and the bits that are wanted, however ranks are bound"
exit $status
