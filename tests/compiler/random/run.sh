#!/bin/sh
# Random kernels (generate.py), compiled by nunacc, compute bit for bit what a plain interpreter of their text does.
#   tests/compiler/random/run.sh [first seed, count]        NUNA_TEST_BUILD: where nunacc is (build/release)
set -u
export NUNACC_PTX=off
here=$(cd "$(dirname "$0")" && pwd)
build=${NUNA_TEST_BUILD:-$(cd "$here/../../.." && pwd)/build/release}
first=${1:-1}
count=${2:-24}
batch=30
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "FAILED: $*"
  : >"$work/failed"
}

# -frounding-math: without it g++ 12 takes 0.0f - (c ? 1.0f : 0.0f) for -0.0f where c is false.
compile_reference() {
  g++ -std=c++17 -O1 -ffp-contract=off -frounding-math -fno-strict-aliasing -w -x c++ -DNUNA_REFERENCE -I "$here" "$1.cu" \
    -o "$1.reference" 2>&1
}
compile_device() { "$build/bin/nunacc" -O3 -w -I "$here" "$1.cu" -o "$1.device" 2>&1; }

# What both say about one seed, where they first differ. What a program does not list is zero.
show_difference() {
  timeout 60 "$1.reference" --dump "$2" >"$1.all_expected"
  timeout 60 "$1.device" --dump "$2" >"$1.all_found" || echo "  the program ends with status $?"
  diff "$1.all_expected" "$1.all_found" | grep -v ' hash ' >"$1.different"
  grep -m 1 '^<' "$1.different" | sed 's/^</  expected/'
  grep -m 1 '^>' "$1.different" | sed 's/^>/  found   /'
}

check_programs() {
  name=$1
  timeout 60 "$name.reference" >"$name.expected" || { fail "the interpreter: $(tail -n 1 "$name.expected")"; return; }
  timeout 60 "$name.reference" --backwards | cmp -s - "$name.expected" ||
    { fail "$name.cu depends on the order of threads: a mistake of the generator"; return; }
  for seed in $(seq "$2" $(($2 + $3 - 1))); do
    grep "^seed $seed " "$name.expected" >"$name.one"
    timeout 60 "$name.device" "$seed" 2>&1 | grep -v ' runs on .*, not on [0-9]* devices: ' | cmp -s - "$name.one" && continue
    fail "seed $seed"
    show_difference "$name" "$seed"
  done
}

# A batch whose kernels do not all compile is tried one by one.
check_seeds() {
  name=$work/kernels_$1_$2
  python3 "$here/generate.py" "$1" "$2" >"$name.cu" || { fail "generate.py $1 $2"; return; }
  compile_reference "$name" >"$name.log" &
  reference=$!
  problem=$(compile_device "$name")
  status=$?
  wait $reference || { fail "g++ on seeds from $1: $(grep -m 3 error "$name.log")"; return; }
  if [ $status -eq 0 ]; then
    check_programs "$name" "$1" "$2"
  elif [ "$2" -eq 1 ]; then
    fail "seed $1 does not compile: $(printf %s "$problem" | grep -m 3 -i 'error\|nunacc\|assert')"
  else
    for seed in $(seq "$1" $(($1 + $2 - 1))); do check_seeds "$seed" 1; done
  fi
}

# Two batches at a time.
done=0
while [ $done -lt "$count" ]; do
  for _ in 1 2; do
    now=$((count - done < batch ? count - done : batch))
    [ $now -eq 0 ] || check_seeds $((first + done)) $now &
    done=$((done + now))
  done
  wait
done
# A loop over threads that had no preheader, with a division that not all of them make.
[ $# -gt 0 ] || check_seeds 20030 1
[ ! -e "$work/failed" ] || exit 1
echo "$count random kernels equal the interpreter's"
