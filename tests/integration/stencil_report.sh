#!/usr/bin/env bash
# What the stencil prints and writes: the JSON object on the last line, the four files, silence of the progress bar where
# there is no terminal, and a dry run that writes nothing.
set -u
stencil=$NUNA_TEST_BUILD/bin/stencil
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
status=0
failed() { echo "FAILED: $*"; status=1; }

"$stencil" --ranks 2 --devices 2 --shape 101x61 --steps 50 --json > stdout 2> stderr || { cat stderr; failed "the run"; }
[ ! -s stderr ] || { cat stderr; failed "something on standard error"; }
tail -n 1 stdout | python3 -c '
import json, sys
report = json.loads(sys.stdin.readline())
wanted = {"app": "stencil", "ranks": 2, "devices": 2, "verified": None, "dry_run": False, "points": 101 * 9 * 61, "steps": 50}
for key, value in wanted.items():
    assert report[key] == value, (key, report[key])
assert report["seconds"] > 0 and report["points_per_second"] > 0, report
assert 0 <= report["transfer_share"] <= 1, report
assert sum(report["bytes_by_route"].values()) > 0, report
' || failed "the JSON object"
for file in wavefield.f32:$((101 * 9 * 61 * 4)) traces.f32:$((101 * 50 * 4)); do
  [ "$(stat -c %s "stencil_${file%:*}")" = "${file#*:}" ] || failed "the size of ${file%:*}"
done
for file in wavefield.png seismogram.png; do
  [ "$(head -c 4 "stencil_$file" | tail -c 3)" = PNG ] || failed "$file"
done
rm -f stencil_*

if [ -w /dev/full ]; then
  "$stencil" --shape 41x41 --steps 2 --no-output > /dev/full 2> stderr && failed "a full standard output was not noticed"
  grep -q '^stencil: cannot write .standard output' stderr || { cat stderr; failed "the full standard output is not named"; }
fi

NUNA_DRY_RUN=1 "$stencil" --devices 2 --shape 101x61 --steps 2 --verify --json > stdout 2> stderr || failed "the dry run"
tail -n 1 stdout | grep -q '"verified":null,"dry_run":true' || failed "a dry run claims to know"
grep -q 'nothing was computed' stdout || failed "a dry run does not say that it is one"
ls stencil_* > /dev/null 2>&1 && failed "a dry run wrote files"

"$stencil" --help > stdout || failed "--help"
grep -q -- --velocity-unit stdout || failed "--help does not tell of --velocity-unit"
[ $status = 0 ] && echo "the report, the files and the dry run are as promised"
exit $status
