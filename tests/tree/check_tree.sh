#!/usr/bin/env bash
# Checks the source tree: format, include guards, file lengths, the arrow between layers, the guides' tables.
#
#   tests/tree/check_tree.sh [format|files|layers|tables|all]   default: all
#   tests/tree/check_tree.sh fix                                formats the files in place, and renews the tables
#
# The table of environment variables is printed by nuna_settings_table, of $NUNA_TEST_BUILD or else of the release or the dev
# build; where that is not built, the table is left alone.
#
# Exit status: 0 all well, 1 something to repair (printed), 77 the check cannot run here (printed).
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
clang_format=clang-format-19
longest=500

# Our C++ files, below the folders that hold code.
sources() {
  local folders=()
  for folder in runtime api apps examples tests compiler; do [ -d "$folder" ] && folders+=("$folder"); done
  find "${folders[@]}" -type f \( -name '*.hpp' -o -name '*.cpp' -o -name '*.h' -o -name '*.cu' \) | sort
}

check_format() {
  if ! command -v "$clang_format" > /dev/null; then
    echo "format: not checked, $clang_format is not installed (./quickstart test installs it)"
    return 77
  fi
  sources | xargs -r -n 40 -P 2 "$clang_format" --dry-run -Werror --ferror-limit=3 && return 0
  echo "format: run tests/tree/check_tree.sh fix"
  return 1
}

check_files() {
  sources | xargs -r awk -v longest="$longest" '
    function complain(text) { print text; wrong = 1 }
    function close_file() {
      if (file == "") return
      if (lines > longest) print "warning: " file " has " lines " lines (over " longest "): can it be two?"
      if (file ~ /\.h(pp)?$/ && !guarded) complain(file ":1: does not begin with #pragma once")
    }
    FNR == 1 { close_file(); file = FILENAME; seen_code = 0; guarded = 0; dos = 0 }
    { lines = FNR }
    !dos && /\r$/ { dos = 1; complain(FILENAME ":" FNR ": has DOS line ends") }
    !seen_code && !/^[ \t]*(\/\/.*)?$/ { seen_code = 1; guarded = ($0 == "#pragma once") }
    END { close_file(); exit wrong }' || return 1
}

# tables check|fix
tables() {
  local build program=()
  for build in "${NUNA_TEST_BUILD:-}" build/release build/dev; do
    if [ -n "$build" ] && [ -x "$build/bin/nuna_settings_table" ]; then
      program=(--settings "$build/bin/nuna_settings_table")
      break
    fi
  done
  python3 tests/tree/tables.py "$1" "${program[@]}"
}
check_tables() { tables check; }

check_layers() { python3 tests/tree/layers.py .; }

case ${1:-all} in
  format | files | layers | tables) "check_$1" ;;
  fix) sources | xargs -r "$clang_format" -i && tables fix ;;
  all)
    status=0
    for check in format files layers tables; do
      "check_$check" || { [ $? = 77 ] || status=1; }
    done
    exit $status ;;
  *) echo "usage: $0 [format|files|layers|tables|all|fix]" >&2; exit 2 ;;
esac
