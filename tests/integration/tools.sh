#!/usr/bin/env bash
# nuna-info and nuna-bandwidth, alone and under mpirun: their tables and JSON, a measured machine that is read back, a chart that
# cannot be drawn, and bad input.
set -u
info=$NUNA_TEST_BUILD/bin/nuna-info
bandwidth=$NUNA_TEST_BUILD/bin/nuna-bandwidth
if [ ! -x "$info" ]; then
  echo "skipped: this build has no tools (NUNA_APPS=OFF)"
  exit 77
fi
hpe=$NUNA_TEST_SOURCE/docs/machines/hpe.toml
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
status=0
failed() { echo "FAILED: $*"; status=1; }

# good <command>...: exit status 0; prints to stdout and stderr.
good() { "$@" > stdout 2> stderr || { failed "exit status $? of: $*"; tail -n 5 stderr; }; }
# json <file> <expression about j>...: well-formed, and each expression holds.
json() {
  local file=$1
  shift
  python3 -m json.tool "$file" > /dev/null || { failed "no JSON: $file"; return; }
  python3 - "$file" "$@" <<'END' || failed "the JSON of $file"
import json, sys
j = json.load(open(sys.argv[1]))
for expression in sys.argv[2:]:
    assert eval(expression), expression
END
}
# refused <exit status> <words> <command>...: one line with these words.
refused() {
  local wanted=$1 words=$2 rc
  shift 2
  "$@" > stdout 2> stderr
  rc=$?
  [ $rc = "$wanted" ] || failed "exit status $rc, not $wanted, of: $*"
  [ "$(grep -c . stderr)" = 1 ] || { failed "not one line from: $*"; cat stderr; }
  grep -qF -- "$words" stderr || { failed "no '$words' from: $*"; cat stderr; }
}
shows() { grep -qE -- "$1" stdout || { failed "no '$1'"; head -n 40 stdout; }; }

# --- nuna-info ---
good "$info"
for section in '^Nuna$' '^MPI$' '^host$' '^limits of the kernel$' '^machine$' '^places$' 'vm.max_map_count +[0-9]'; do shows "$section"; done
good "$info" --devices 2 --routes --json
json stdout 'j["build"]["version"]' 'j["machine"]["memories"][2]["place"] == 2' 'len(j["ranks"]) == 1' 'j["problems"] == []' \
  'len(j["ranks"][0]["routes"]) == 6' 'j["ranks"][0]["places"][0]["base"].startswith("0x")' \
  'j["ranks"][0]["routes"][0]["sizes"][0]["ways"][0]["possible"]' '"max_map_count" in j["ranks"][0]["limits"]'
good "$info" --ranks 2 --devices 2 --routes --size 64KiB
shows '^  rank 0 host -> rank 1 host$'
good "$info" --machine "$hpe" --size 16MiB
shows 'gpu0 and gpu2 are on different buses'
good "$info" --machine "$hpe" --json
json stdout 'j["machine"]["name"] == "HPE"' 'len(j["routes"]) == 90'
refused 1 'NUNA_DEVICES' env NUNA_DEVICES=many "$info"
env NUNA_DEVICES=many "$info" --json > report 2> /dev/null
json report 'j["machine"] is None' 'len(j["problems"]) == 1' 'j["ranks"][0]["limits"]'
refused 2 'is no size' "$info" --size huge
refused 2 '--help' "$info" --unknown
refused 1 'nowhere.toml' "$info" --machine nowhere.toml

# --- nuna-bandwidth, alone ---
small=(--quick --max-size 1MiB --budget 1)
good "$bandwidth" "${small[@]}" --json rows.json --write-machine measured.toml
shows '^host:0 -> host:1, one way, GB/s$'
shows '^ +1 MiB( +[0-9.]+){6} +[0-9.]+-[0-9.]+ +[0-9]+  [a-z]+'
json rows.json 'j["measured"]' 'len(j["rows"]) == 9 * 3' 'all(r["schemes"]["nuna"]["samples"] > 0 for r in j["rows"])' \
  'all(r["nuna_to_best"]["lower"] <= r["nuna_to_best"]["median"] for r in j["rows"])'
NUNA_DEVICES=2 NUNA_MACHINE=measured.toml good "$info" --routes
shows 'rates of the machine .*measured'
good "$bandwidth" "${small[@]}" --schemes direct,nuna --json -
json stdout 'set(j["rows"][0]["schemes"]) == {"direct", "nuna"}'
good "$bandwidth" --machine "$hpe" --json predicted.json
shows 'gpu0 -> rank 0 gpu2, one way, GB/s, predicted'
json predicted.json 'not j["measured"]'
python3 - <<'END' || failed "the predicted table is not that of HPE, figure 7"
import json
for row in json.load(open("predicted.json"))["rows"]:
    rate = {name: scheme["bytes_per_second"] for name, scheme in row["schemes"].items()}
    pair = row["from"]["name"], row["to"]["name"]
    if pair == ("rank 0 gpu0", "rank 0 gpu2") and row["bytes"] >= 1 << 18:
        assert rate["double-buffered"] > rate["pinned"] > rate["naive"], row
    if pair == ("rank 0 gpu0", "rank 0 gpu1"):
        assert rate["direct"] == rate["nuna"] == max(rate.values()), row
END

# A machine that is imposed changes what is taken: between its devices nothing goes directly.
NUNA_DEVICES=4 NUNA_MACHINE=$hpe good "$info" --routes --size 16MiB
shows '^      16 MiB  staged'

# --- bad input ---
refused 2 'is no scheme' "$bandwidth" --schemes naive,fastest
refused 2 'is no size' "$bandwidth" --sizes 0
refused 2 'is no size' "$bandwidth" --sizes many
refused 2 'is no size' "$bandwidth" --sizes ''
refused 2 'beyond 1 GiB' "$bandwidth" --sizes 2GiB
refused 1 'use more devices' "$bandwidth" "${small[@]}" --devices 1
refused 2 'leaves no size' "$bandwidth" --max-size 1
refused 2 'seconds above 0' "$bandwidth" --budget 0
refused 2 'choose one' "$bandwidth" --machine "$hpe" --write-machine x.toml
refused 1 'nowhere' "$bandwidth" "${small[@]}" --json nowhere/rows.json
refused 1 'nowhere' "$bandwidth" --machine nowhere.toml
# As the script that draws: by the system's Python, if the first one lacks it.
if python3 -c 'import matplotlib' 2> /dev/null || /usr/bin/python3 -c 'import matplotlib' 2> /dev/null; then
  good "$bandwidth" --machine "$hpe" --chart chart.png
  [ "$(head -c 4 chart.png | tail -c 3)" = PNG ] || failed "the chart"
else
  refused 1 'install python3-matplotlib' "$bandwidth" --machine "$hpe" --chart chart.png
fi
[ -z "$(ls -A | grep -E 'part-|chart.png')" ] || [ -s chart.png ] || { failed "files were left"; ls -A; }

# --- under mpirun ---
if [ -x "$NUNA_TEST_BUILD/bin/mpi_scenarios" ]; then
  . "$NUNA_TEST_SOURCE/tests/support/mpi.bash"
  cd "$work" || exit 1
  [ $open_mpi = 0 ] || mpi_options+=(--bind-to none)
  ranks 2 "$info" --devices 2 --routes --size 64KiB || { failed "nuna-info on two ranks"; tail -n 5 "$work/out"; }
  told '^  rank 0 host -> rank 1 host$' && told '^  rank 1 host -> rank 0 host$' || { failed "routes between ranks"; head -n 60 "$work/out"; }
  told 'thread level +multiple' || failed "the thread level"
  ranks 2 "$info" --json && json "$work/out" 'j["mpi"]["ranks"] == 2' 'j["mpi"]["launched"]' 'len(j["ranks"]) == 2'
  ranks 2 "$bandwidth" "${small[@]}" --api --json rows.json --write-machine measured.toml ||
    { failed "nuna-bandwidth on two ranks"; tail -n 5 "$work/out"; }
  told '^rank 0 host <-> rank 1 host, two ways, GB/s$' || { failed "no table of two ranks"; head -n 20 "$work/out"; }
  json rows.json 'len(j["rows"]) == 13 * 3' 'any("mpi" in r["schemes"] for r in j["rows"])' \
    'any("api" in r["schemes"] for r in j["rows"])'
  NUNA_DEVICES=2 NUNA_MACHINE=measured.toml ranks 2 "$info" --routes && told 'rates of the machine .*measured' ||
    { failed "the measured machine"; tail -n 5 "$work/out"; }
  ranks 2 "$bandwidth" "${small[@]}" --json nowhere/rows.json && failed "an unwritable output was accepted"
  told 'nuna-bandwidth: cannot write' || { failed "the unwritable output is not named"; cat "$work/out"; }
fi
[ $status = 0 ] && echo "both tools, alone and on two ranks"
exit $status
