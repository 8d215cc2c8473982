#!/usr/bin/env bash
# What becomes of kernels that touch memory that nobody has, and other things that processors stop: faults.cu. Takes some seconds.
#   [NUNACC=...] tests/compiler/faults/run.sh
. "$(dirname "$0")/../prelude.sh"
status=0
failed() {
  echo "FAILED: $*"
  status=1
}
# stops <program> <what> <error> <text of the line>, with the environment as it is.
stops() {
  local program=$1 what=$2 error=$3 line=$4 out
  out=$(timeout 60 "$work/$program" "$what" 2>"$work/said") || failed "$program $what: exit $?"
  [ "$out" = "$(printf '%s\n%s\ncudaSuccess\ncudaSuccess' "$error" "$error")" ] || failed "$program $what: $out"
  grep -qE "^nuna: kernel misdo\(int, int\*, long, int\), block \(5, 2, 0\): $line.*: $error\$" "$work/said" &&
    [ "$(grep -c '^nuna: kernel .*: cuda' "$work/said")" = 1 ] && ! grep -q '^nuna error' "$work/said" || failed "$program $what says: $(cat "$work/said")"
}

memory="where it has no memory"
"$NUNACC" -O3 "$here/faults.cu" -o "$work/plain" && "$NUNACC" -O3 -g --audit "$here/faults.cu" -o "$work/audited" || exit 1
for devices in 1 3; do
  export NUNA_DEVICES=$devices NUNA_THREADS=4
  stops plain 0 cudaErrorIllegalAddress "writes to 0x18, $memory"
  stops plain 1 cudaErrorIllegalAddress "writes to 0x[0-9a-f]+, $memory"
  stops plain 2 cudaErrorIllegalAddress "reads from 0x[0-9a-f]+, $memory, at [^ ]*/plain\+0x[0-9a-f]+"
  stops plain 3 cudaErrorIllegalAddress "uses the address 0x1234[0-9a-f]*, which no memory has"
  stops plain 4 cudaErrorLaunchFailure "divides an integer by zero"
  stops plain 5 cudaErrorLaunchFailure "has used up its thread's stack"
  stops plain 6 cudaErrorInvalidPc "calls a function at 0x40, where there is none"
  stops plain 9 cudaErrorIllegalAddress "writes to 0x[0-9a-f]+, $memory"
  stops plain 7 cudaErrorIllegalAddress "reads from 0x[0-9a-f]+, $memory"
  stops plain 10 cudaErrorLaunchFailure "__trap\(\) or abort\(\)"
  timeout 60 "$work/plain" 8 > "$work/out" 2> "$work/said"
  [ $? = 139 ] && grep -q '^nuna: kernel _Z5misdoiPili fails inside a function of a library' "$work/said" || failed "printf: $(cat "$work/said")"
  for audit in 0 1; do
    export NUNA_AUDIT=$audit
    stops audited 0 cudaErrorIllegalAddress "writes to 0x18, $memory, at [^ ]*faults.cu:21"
    stops audited 1 cudaErrorIllegalAddress "writes to 0x[0-9a-f]+, $memory, at [^ ]*faults.cu:22"
    stops audited 5 cudaErrorLaunchFailure "has used up its thread's stack"
  done
  unset NUNA_AUDIT
done

# The line of what is no line, by its place in the program.
unset NUNA_DEVICES
"$NUNACC" -O3 -lineinfo "$here/faults.cu" -o "$work/plain" || failed "-lineinfo"
stops plain 2 cudaErrorIllegalAddress "reads from"
if command -v addr2line > /dev/null; then
  place=$(sed -n 's/.*plain+\(0x[0-9a-f]*\).*/\1/p' "$work/said")
  addr2line -e "$work/plain" "$place" | grep -q 'faults.cu:' || failed "$place is $(addr2line -e "$work/plain" "$place")"
fi

# Without Nuna's own faults.
NUNA_FAULTS=off stops plain 1 cudaErrorIllegalAddress "writes to"
exit $status
