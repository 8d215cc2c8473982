#!/usr/bin/env bash
# Programs that use host pointers, as a shell starts them: under limits, with a crash and its core, with faults off.
set -u
program=$NUNA_TEST_BUILD/bin/debug_host_pointers
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
status=0
failed() { echo "FAILED: $*"; status=1; }
# same <what> <command>...: exit status 0 and the sum of the first run.
same() {
  local what=$1
  shift
  "$@" > out 2> err || { failed "$what: exit status $?"; cat err; }
  [ "$(cat out)" = "$sum" ] || failed "$what: $(cat out), not $sum"
}

sum=$("$program") || exit 1
echo "$sum"
[[ $sum == "sum "* ]] || failed "no sum"
same "faults off" env NUNA_FAULTS=off "$program"
for block in 4K 2M; do same "blocks of $block" env NUNA_BLOCK=$block "$program"; done
same "small stacks" bash -c 'ulimit -s 256 && exec "$0" threads' "$program"
for kib in 4000000 20000000 1000000000; do
  same "ulimit -v $kib" bash -c "ulimit -v $kib"' && exec "$0"' "$program"
done
[ ! -s err ] || { failed "a warning under ulimit -v"; cat err; }
for bad in "NUNA_FAULTS=maybe" "NUNA_BLOCK=5000" "NUNA_BLOCK=1K" "NUNA_BLOCK=4M" "NUNA_BLOCK=many"; do
  { env "$bad" "$program" > out 2> err; } 2> /dev/null && failed "$bad is accepted"
  grep -q "${bad%%=*}" err || { failed "$bad is not named"; cat err; }
done

# A crash ends as a crash, and the core holds the program, not the 64 MiB of the buffer or its mappings.
{ bash -c 'ulimit -c unlimited 2> /dev/null; exec "$0" crash' "$program" > out 2> err; } 2> /dev/null
[ $? = 139 ] || failed "a crash does not end by SIGSEGV"
[ "$(cat out)" = "$sum" ] || failed "the sum before the crash"
core=$(find . -maxdepth 1 -name 'core*' | head -n 1)
if [ -n "$core" ]; then
  bytes=$(du --block-size=1 "$core" | cut -f1)
  echo "a core of $bytes bytes"
  [ "$bytes" -lt $((32 << 20)) ] || failed "a core of $bytes bytes"
  [ "$(stat -c %s "$core")" -lt $((64 << 20)) ] || failed "a core that is $(stat -c %s "$core") bytes long"
else
  echo "no core is written here ($(cat /proc/sys/kernel/core_pattern)): the flags of the mappings are a unit test"
fi
exit $status
