#!/usr/bin/env bash
# Bad input gets one clear line, a failing exit status, and leaves no file behind.
set -u
stencil=$NUNA_TEST_BUILD/bin/stencil
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
status=0
failed() { echo "FAILED: $*"; status=1; }

# floats <value>...: little-endian float32 of a few values.
floats() {
  local value
  for value in "$@"; do
    case $value in
      1.5) printf '\x00\x00\xc0\x3f' ;;
      nan) printf '\x00\x00\xc0\x7f' ;;
      -1.5) printf '\x00\x00\xc0\xbf' ;;
    esac
  done
}

# refused <words in the message> <option>...
refused() {
  local words=$1 rc
  shift
  "$stencil" "$@" --output "$work/out/run" > stdout 2> stderr
  rc=$?
  [ $rc -gt 0 ] && [ $rc -lt 126 ] || failed "exit status $rc for: $*"
  [ "$(grep -c . stderr)" = 1 ] || { failed "not one line for: $*"; cat stderr; }
  grep -qF -- "$words" stderr || { failed "no '$words' for: $*"; cat stderr; }
  [ -z "$(ls -A out)" ] || { failed "files left by: $*"; ls -A out; rm -rf out/*; }
}

mkdir out
floats 1.5 1.5 1.5 1.5 > good
floats 1.5 nan 1.5 1.5 > nan
floats 1.5 1.5 -1.5 1.5 > negative
file=(--shape 2x2 --spacing 10 --sponge 0)

refused 'has 16 bytes' --velocity good --shape 3x2 --spacing 10 --velocity-unit km/s
refused 'trace 0, sample 1' --velocity nan "${file[@]}" --velocity-unit km/s
refused 'not a number' --velocity nan "${file[@]}" --velocity-unit km/s
refused 'is -1500 m/s' --velocity negative "${file[@]}" --velocity-unit km/s
refused 'check the unit' --velocity good "${file[@]}" --velocity-unit m/s
refused '--velocity-unit' --velocity good "${file[@]}"
refused '--spacing' --velocity good --shape 2x2 --velocity-unit km/s
refused '--shape' --velocity good --spacing 10 --velocity-unit km/s
refused 'cannot read' --velocity nowhere "${file[@]}" --velocity-unit km/s
refused 'unstable' --shape 40x40 --dt 100
refused 'use at most' --shape 40x40 --dt 100
refused 'is no shape' --shape 40by40
refused 'is no shape' --shape 0x40
refused 'the spacing must be' --shape 40x40 --spacing 1e300
refused '1e-06 to' --shape 40x40 --frequency 1e300
refused '1 to 63' --shape 400x40 --devices 100
refused '1 to 1024' --shape 40x40 --ranks 4000
refused 'at least 5' --shape 40x40 --extrude 4
refused 'planes along x' --shape 3x40 --devices 4
refused 'planes along x' --shape 3x40 --devices 2 --ranks 2
NUNA_MEMORY_LIMIT=1M refused 'memory' --shape 400x400 --steps 2
NUNA_MEMORY_LIMIT=lots refused 'NUNA_MEMORY_LIMIT' --shape 40x40 --steps 2

# A disk that is full: first as a limit on the size of files, which every user can set, then a real one if we may mount.
(
  trap '' XFSZ
  ulimit -f 100
  refused 'free some space' --shape 201x121 --steps 20
  exit $status
) || status=1
if unshare -Urm true 2> /dev/null; then
  unshare -Urm bash -c "mount -t tmpfs -o size=200k none '$work/out' 2> /dev/null || exit 0
    '$stencil' --shape 201x121 --steps 20 --output '$work/out/run' > stdout 2> stderr && { echo 'a full disk was not seen'; exit 1; }
    grep -q 'No space left' stderr || { cat stderr; exit 1; }
    [ -z \"\$(ls -A '$work/out')\" ]" || failed "a full disk"
fi

# What was there before a failed run is still there after it.
echo precious > out/run_wavefield.f32
(trap '' XFSZ; ulimit -f 100; "$stencil" --shape 201x121 --steps 20 --output out/run > stdout 2> stderr)
[ "$(cat out/run_wavefield.f32)" = precious ] || failed "an older result was lost"
rm out/run_wavefield.f32

# A folder that is not there is noticed before the work, not after it.
"$stencil" --time 1e6 --steps 1000000 --output "$work/nowhere/run" > stdout 2> stderr && failed "a missing folder was accepted"
grep -q 'nowhere' stderr || failed "the missing folder is not named"

[ $status = 0 ] && echo "every bad input was refused by one clear line"
exit $status
