#!/usr/bin/env bash
# The stencil gives the same bits on any number of ranks and devices: the raw files are compared byte by byte, and one of
# them with the serial reference.
set -u
stencil=$NUNA_TEST_BUILD/bin/stencil
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

# run <ranks>x<devices> <option>...
run() {
  local ranks=${1%x*} devices=${1#*x}
  "$stencil" --ranks "$ranks" --devices "$devices" --output "$work/$1" "${@:2}" > "$work/$1.log" 2>&1 && return
  echo "$1 failed:"
  cat "$work/$1.log"
  status=1
}

# compare <option>...
compare() {
  run 1x1 --verify "$@"
  for way in 1x4 2x2 4x1 3x2; do
    run $way "$@"
    for file in wavefield.f32 traces.f32; do
      cmp "$work/1x1_$file" "$work/${way}_$file" || status=1
    done
  done
  [ $status = 0 ] && echo "the same bits on 1x1, 1x4, 2x2, 4x1, 3x2 ranks x devices: ${*:-layered model}"
}

compare --shape 201x121 --steps 400
compare --shape 61x43x37 --steps 120
exit $status
