#!/usr/bin/env bash
# The script for gdb: page faults pass by, values are readable, `nuna describe` tells about pointers; a genuine segmentation
# fault is still one.
set -u
program=$NUNA_TEST_BUILD/bin/debug_host_pointers
script=$NUNA_TEST_SOURCE/tools/gdb/nuna.py
if ! command -v gdb > /dev/null; then
  echo "skipped: no gdb here"
  exit 77
fi
if ! gdb -nx -batch -ex 'python print(1)' 2> /dev/null | grep -qx 1; then
  echo "skipped: this gdb has no Python"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
gdb -nx -batch -ex 'break main' -ex run -ex 'print (int)getpid() > 0' "$program" > probe 2>&1
if ! grep -q 'Breakpoint 1, main' probe; then
  cat probe
  echo "skipped: gdb may not trace programs here"
  exit 77
fi
if grep -q "Couldn't write extended state" probe; then
  cat probe
  echo "skipped: this gdb cannot write the registers of this CPU, which it has to for calls of functions"
  exit 77
fi
status=0
failed() { echo "FAILED: $*"; status=1; }
# told <words>...: each stands in the output.
told() {
  local words
  for words in "$@"; do grep -qF -- "$words" out || failed "no '$words'"; done
}

gdb -nx -batch -x "$script" -ex 'break stop_here' -ex run -ex up -ex 'print box' -ex 'print interval' -ex 'print extents' \
  -ex 'print elements' -ex 'print view' -ex 'print x' -ex up -ex 'print x' -ex 'nuna describe x' -ex 'nuna describe p' \
  -ex 'nuna describe p + 2 * kColumns + 7' -ex 'nuna describe p[2 * kColumns + 9]' -ex 'nuna describe &argc' \
  -ex 'nuna describe' -ex 'nuna describe 3 + 4' -ex continue --args "$program" > out 2>&1
told '[1, 3) x [10, 20)' '[5, 9)' '= 4 x 5' 'view of 0 x 0 int' 'host view of [2, 3) x [0, 16384) int, element 0 at 0x' \
  'buffer created at host_pointers.cpp:' '1024 x 16384 elements of 4 bytes (int)' \
  'element (0, 0), byte 0 of 4' 'element (2, 7), byte 0 of 4' 'element (2, 9), byte 0 of 4' \
  'host views: read of [2, 3) x [0, 16384), opened at host_pointers.cpp:' 'newest bytes: ' "no address of Nuna's" \
  'a pointer, an element, or a buffer' 'exited normally'
grep -q 'received signal SIGSEGV' out && failed "gdb stops at a fault of Nuna's"
grep -q '^sum 33554534$' out || failed "no sum under gdb"
[ $status = 0 ] || cat out

gdb -nx -batch -x "$script" -ex run -ex backtrace -ex continue --args "$program" crash > out 2>&1
told "a segmentation fault of the program's own at" 'host_pointers.cpp:' '<signal handler called>' 'main (argc=2' \
  'Program terminated with signal SIGSEGV'
[ $status = 0 ] || cat out
exit $status
