#!/usr/bin/env bash
# The traces of several processes become one file: every rank's rows, on one clock, with an arrow for every message between
# them. When a rank has died the others say so, and their own files stay.
set -u
. "$NUNA_TEST_SOURCE/tests/support/mpi.bash"
cd "$work" || exit 1
mkdir traces
export NUNA_TRACE=$work/traces/trace.json

cat > check.py << 'CHECK'
import json, sys
file, ranks, arrows_wanted = sys.argv[1], [int(r) for r in sys.argv[2].split(",")], sys.argv[3] == "arrows"
tolerance_us = float(sys.argv[4]) if len(sys.argv) > 4 else 0
events = json.load(open(file))["traceEvents"]
pids = {r + 1 for r in ranks}
wrong = []
if {e["pid"] for e in events} != pids:
    wrong.append("processes %s" % sorted({e["pid"] for e in events}))
for pid in pids:
    rows = {e["args"]["name"] for e in events if e["pid"] == pid and e["name"] == "thread_name"}
    missing = {"planner", "host:0", "sends", "receives"} - rows
    if missing:
        wrong.append("process %d has no rows %s" % (pid, sorted(missing)))
    name = [e["args"]["name"] for e in events if e["pid"] == pid and e["name"] == "process_name"]
    if name != ["rank %d" % (pid - 1)]:
        wrong.append("process %d is named %s" % (pid, name))
threads = [(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"]
if len({t for _, t in threads}) != len(threads):
    wrong.append("two rows share a thread number")
begun = {e["id"]: e for e in events if e["ph"] == "s"}
ended = {e["id"]: e for e in events if e["ph"] == "f"}
if arrows_wanted:
    if len(begun) < 20 or begun.keys() != ended.keys():
        wrong.append("%d arrows begin, %d end" % (len(begun), len(ended)))
    for key in begun.keys() & ended.keys():
        s, f = begun[key], ended[key]
        if s["pid"] == f["pid"]:
            wrong.append("an arrow stays in its process")
        if not s["ts"] < f["ts"] + tolerance_us:
            wrong.append("an arrow ends %g us before it begins" % (s["ts"] - f["ts"]))
    spans = [e["ts"] for e in events if e["ph"] == "X"]
    if max(spans) - min(spans) > 300e6:
        wrong.append("the spans are %g s apart" % ((max(spans) - min(spans)) / 1e6))
print("; ".join(wrong[:5]) or "%d events, %d arrows" % (len(events), len(begun)))
sys.exit(1 if wrong else 0)
CHECK

# holds <file> <ranks> <arrows|apart> [<us>]: with arrows that end at most so much too early; one node has one clock.
holds() { python3 check.py "traces/$1" "${@:2}" > "$work/verdict" 2>&1 || failed "$1 of ranks $2: $(tail -n 3 "$work/verdict")"; }
# files <name>...: these are there and no others.
files() { [ "$(ls -A traces)" = "$(printf '%s\n' "$@")" ] || failed "$now: there are $(ls -A traces | tr '\n' ' ')"; rm -f traces/*; }

now="two ranks"
ranks 2 "$scenario" right || failed "$now"
holds trace.json 0,1 arrows
files trace.json
now="three ranks"
ranks 3 "$scenario" right || failed "$now"
holds trace.json 0,1,2 arrows
files trace.json
now="MPI_Finalize by the program, before its Context ends"
ranks 2 "$scenario" finalizes || failed "$now"
holds trace.json 0,1 arrows
files trace.json
now="Contexts of halves and of all"
ranks 4 "$scenario" halves || failed "$now"
holds trace.json 0,1,2,3 arrows
files trace.json
now="one process"
ranks 1 "$scenario" right || failed "$now"
files trace.json

now="two ranks whose clocks are 1000 s apart, as those of two nodes are"
cat > shifted.sh << 'RANK'
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] || exec unshare --time --monotonic 1000 --fork "$@"
exec "$@"
RANK
if unshare --time --monotonic 1000 true 2> /dev/null; then
  ranks 2 bash shifted.sh "$scenario" right || failed "$now"
  holds trace.json 0,1 arrows 100000  # on a busy machine the difference is known to some time slices
  files trace.json
else
  echo "left out: $now (unshare is not allowed)"
fi

now="no trace on rank 0"
cat > only_others.sh << 'RANK'
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 0 ] || unset NUNA_TRACE
exec "$@"
RANK
ranks 2 bash only_others.sh "$scenario" right || failed "$now"
told 'rank 0 has no NUNA_TRACE' || failed "$now is not told"
holds trace.rank1.json 1 apart
files trace.rank1.json
now="trace on rank 0 only"
sed -i 's/!= 0/= 0/' only_others.sh
ranks 2 bash only_others.sh "$scenario" right || failed "$now"
holds trace.json 0 apart
files trace.json

if [ $open_mpi = 1 ]; then
  mpi_options=(--oversubscribe --enable-recovery)
  now="a rank that dies at the end"
  limit_s=20 ranks 3 "$scenario" 'gone at the end'
  [ $? -lt 124 ] || failed "$now: the job hangs"
  [ "$(grep -c 'rank 2 is lost .*: the traces of the processes stay in files of their own' out)" = 1 ] ||
    { failed "$now is not told once"; cat out; }
  holds trace.json 0 apart
  holds trace.rank1.json 1 apart
  holds trace.rank2.json 2 apart
  files trace.json trace.rank1.json trace.rank2.json
fi

[ $status = 0 ] && echo "one trace of all ranks, or one of each"
exit $status
