#!/usr/bin/env bash
# clang-tidy over the compile commands of a clang build (cmake --preset clang).
#
#   tests/tree/lint.sh [build folder] [file or folder]...
#
# The default build folder is build/clang; the default files are all our .cpp files that it compiles. A folder stands for
# the files below it. Finding nothing to check is a failure. NUNA_LINT_JOBS: processes at a time (2).
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
build=${1:-build/clang}
[ $# -gt 0 ] && shift
tidy=clang-tidy-19

command -v "$tidy" > /dev/null || { echo "lint: $tidy is not installed (./quickstart test installs it)"; exit 77; }
if [ ! -f "$build/compile_commands.json" ]; then
  echo "lint: no $build/compile_commands.json: run cmake --preset clang"
  exit 1
fi

files=$(mktemp)
trap 'rm -f "$files"' EXIT
python3 - "$build/compile_commands.json" "$@" > "$files" << 'PYTHON'
import json, os, sys
root = os.getcwd()
wanted = [os.path.abspath(path) for path in sys.argv[2:]]
seen = set()
for command in json.load(open(sys.argv[1], encoding="utf-8")):
    path = os.path.normpath(os.path.join(command["directory"], command["file"]))
    ours = any(path.startswith(f"{root}/{folder}/") for folder in ("runtime", "api", "apps", "examples", "tests"))
    asked = not wanted or any(path == one or path.startswith(one + "/") for one in wanted)
    if ours and asked and path not in seen and os.path.exists(path):
        seen.add(path)
        print(path)
PYTHON

count=$(wc -l < "$files")
if [ "$count" = 0 ]; then
  echo "lint: no file of ours in $build/compile_commands.json matches: nothing was checked"
  exit 1
fi
echo "lint: $count files"
# The count of warnings in other people's headers, which clang-tidy always prints, says nothing.
set -o pipefail
xargs -a "$files" -n 1 -P "${NUNA_LINT_JOBS:-2}" "$tidy" -p "$build" --quiet 2>&1 |
  sed -E '/^[0-9]+ warnings?( and [0-9]+ errors?)? generated\.$/d'
