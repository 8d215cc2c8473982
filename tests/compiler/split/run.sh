#!/bin/sh
# Random kernels (generate.py) leave the same bytes on one device as where threads run one after the other, as shared out over 2, 3 and 8, and over ranks; each of their accesses
# is within what nunacc says of its block (--audit); most of those that can be shared are, and none that cannot. From seed 1 on also: the programs of apps/cuda pass, and share their kernels if these have no atomics.
#   tests/compiler/split/run.sh [first seed, count]        NUNA_TEST_BUILD: where nunacc is (build/release)
#   NUNA_TEST_WORK: a folder that keeps programs and what they wrote
set -u
export NUNACC_PTX=off
unset NUNA_DEVICES
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
build=${NUNA_TEST_BUILD:-$root/build/release}
first=${1:-1}
count=${2:-48}
batch=24
least_shared=95  # percent of the kernels that can be
work=${NUNA_TEST_WORK:-$(mktemp -d)}
[ -n "${NUNA_TEST_WORK:-}" ] || trap 'rm -rf "$work"' EXIT
mpirun=$(cat "$build/mpiexec.txt" 2>/dev/null)
[ "$(id -u)" != 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
oversubscribe=
[ -z "$mpirun" ] || ! "$mpirun" --version 2>&1 | grep -q 'Open MPI\|OpenRTE' || oversubscribe=--oversubscribe

fail() {
  echo "FAILED: $*"
  : >"$work/failed"
}

# ranks <number> <command>...: each line once
ranks() {
  number=$1
  shift
  timeout 60 "$mpirun" $oversubscribe -n "$number" "$@" >"$name.ranks" 2>"$name.ranks.err"
  status=$?
  sort -u "$name.ranks"
  return $status
}

# compare <what> <command>...: with what the program writes on one device
compare() {
  what=$1
  shift
  "$@" >"$name.found" 2>"$name.err" || { status=$?; fail "$name.cu, $what: status $status: $(tail -n 1 "$name.err")"; }
  sort "$name.found" | diff "$name.expected" - >"$name.different" && return
  fail "$what: seeds $(sed -n 's/^[<>] seed \([0-9]*\) .*/\1/p' "$name.different" | sort -nu | tr '\n' ' ')"
}

# With threads that run one after the other, by g++; fewer kernels.
compare_reference() {
  python3 "$here/generate.py" "$1" "$2" --reference >"$name.reference.cu"
  g++ -std=c++17 -O1 -fwrapv -fno-strict-aliasing -w -x c++ -DNUNA_REFERENCE -I "$here" "$name.reference.cu" -o "$name.reference" \
    2>"$name.log" || { fail "g++ on seeds from $1: $(grep -m 3 error "$name.log")"; return; }
  timeout 60 "$name.reference" | sort >"$name.found"
  comm -23 "$name.found" "$name.expected" >"$name.different"
  [ -s "$name.found" ] && [ ! -s "$name.different" ] ||
    fail "one device is not as threads in turn: seeds $(awk '{ print $2 }' "$name.different" | tr '\n' ' ')"
}

# audit <first seed> <count>: every access against the kernel's model, on one device and on three.
audit() {
  timeout 300 "$build/bin/nunacc" -O3 -g -w --audit -I "$here" "$name.cu" -o "$name.audited" 2>"$name.log" ||
    { fail "seeds $1 and $2 more do not compile with --audit: $(tail -n 1 "$name.log")"; return; }
  for devices in 1 3; do
    NUNA_AUDIT=1 NUNA_DEVICES=$devices timeout 300 "$name.audited" >"$name.found" 2>"$name.err" ||
      fail "$name.cu, audited on $devices devices: status $?: $(grep -m 1 ' audit: kernel .*which' "$name.err")"
    grep -q '^nuna: audit: [1-9].* blocks, 0 misses$' "$name.err" ||
      fail "seeds from $1, audited on $devices devices: $(tail -n 1 "$name.err")"
  done
}

check_seeds() {
  name=$work/kernels_$1_$2
  python3 "$here/generate.py" "$1" "$2" >"$name.cu" || { fail "generate.py $1 $2"; return; }
  python3 "$here/generate.py" "$1" "$2" --expect >"$name.kinds"
  timeout 300 "$build/bin/nunacc" -O3 -g -w -I "$here" "$name.cu" -o "$name" 2>"$name.log" ||
    { fail "seeds $1 and $2 more do not compile: $(grep -m 3 -i 'error\|nunacc\|assert' "$name.log")"; return; }
  timeout 60 "$name" 2>"$name.err" | sort >"$name.expected"
  [ "$(grep -c ' hash ' "$name.expected")" = "$2" ] || { fail "$name.cu on one device: $(tail -n 1 "$name.err")"; return; }
  compare_reference "$1" "$2"
  audit "$1" "$2"
  for devices in 2 8 3; do compare "$devices devices" env NUNA_DEVICES=$devices timeout 60 "$name"; done
  cp "$name.err" "$name.three"
  compare "3 devices, NUNA_FAULTS=off" env NUNA_DEVICES=3 NUNA_FAULTS=off timeout 60 "$name"
  compare "3 devices, NUNA_POISON=1" env NUNA_DEVICES=3 NUNA_POISON=1 timeout 60 "$name"
  sed -n 's/^nuna: .*seed\([0-9]*\)_kernel.* runs on .*, not on [0-9]* devices: .*/\1/p' "$name.three" | sort -u >"$name.host"
  [ -n "$mpirun" ] && [ $(($1 / batch % 2)) = 0 ] || return
  compare "2 ranks" ranks 2 "$name"
  compare "3 ranks" ranks 3 "$name"
  compare "2 ranks of 2 devices" ranks 2 env NUNA_DEVICES=2 "$name"
}

# Which kernels were shared, of all seeds.
check_shares() {
  cat "$work"/*.kinds >"$work/kinds"
  cat "$work"/*.host >"$work/host"
  awk -v least=$least_shared '
    FILENAME ~ /host$/ { on_host[$1] = 1; next }
    $2 == "host" && !($1 in on_host) { print "FAILED: seed " $1 " was shared: " $0; bad = 1 }
    $2 == "shared" { all += 1; if ($1 in on_host) print "not shared: " $0; else shared += 1 }
    $2 == "either" { either += 1; either_shared += !($1 in on_host) }
    $2 == "host" { never += 1 }
    END {
      if (shared * 100 < all * least) { print "FAILED: too few are shared"; bad = 1 }
      print shared + 0 " of " all + 0 " kernels that can be shared are, " either_shared + 0 " of " either + 0 " that may be, none of " never + 0
      exit bad
    }' "$work/host" "$work/kinds" || : >"$work/failed"
}

# check_app <program> <shared or alone>: whether its kernels are shared; those of few blocks are not.
check_app() {
  name=$work/$1
  timeout 300 "$build/bin/nunacc" -O3 -std=c++17 "$root/apps/cuda/$1.cu" -o "$name" 2>"$name.log" ||
    { fail "apps/cuda/$1.cu: $(tail -n 1 "$name.log")"; return; }
  { NUNA_DEVICES=3 timeout 60 "$name" >"$name.found" 2>"$name.err" && grep -q 'PASS$' "$name.found"; } ||
    fail "apps/cuda/$1.cu on 3 devices: $(cat "$name.found" "$name.err" | tail -n 2)"
  told=$(grep '^nuna: .* runs on .*, not on ' "$name.err" | grep -v 'has fewer blocks')
  [ "$2" = alone ] || [ -z "$told" ] || fail "apps/cuda/$1.cu: $told"
  [ "$2" = shared ] || [ -n "$told" ] || fail "apps/cuda/$1.cu: shared, and has atomics"
  [ -n "$mpirun" ] || return
  ranks 2 "$name" >"$name.found" || fail "apps/cuda/$1.cu on 2 ranks: $(tail -n 2 "$name.ranks.err")"
  { grep -q 'PASS$' "$name.ranks" && ! grep -q 'FAIL' "$name.ranks"; } ||
    fail "apps/cuda/$1.cu on 2 ranks: $(tail -n 2 "$name.ranks")"
}
check_apps() {
  for app in hotspot matmul nbody scan stencil3d transpose vecadd; do check_app $app shared; done
  for app in histogram kmeans scalar_product; do check_app $app alone; done
}

# order.cu: line for line what it writes on one device.
check_order() {
  name=$work/order
  timeout 300 "$build/bin/nunacc" -O3 -std=c++17 "$here/order.cu" -o "$name" 2>"$name.log" ||
    { fail "order.cu: $(tail -n 1 "$name.log")"; return; }
  timeout 60 "$name" >"$name.expected" || fail "order.cu: status $?"
  for devices in 2 3; do
    NUNA_DEVICES=$devices timeout 60 "$name" 2>/dev/null | cmp - "$name.expected" || fail "order.cu on $devices devices"
  done
  [ -n "$mpirun" ] || return
  timeout 60 "$mpirun" --oversubscribe -n 2 "$name" 2>/dev/null | cmp - "$name.expected" || fail "order.cu on 2 ranks"
}

[ "$first" != 1 ] || { check_order; check_apps; } &
done=0
while [ $done -lt "$count" ]; do
  for _ in 1 2; do
    now=$((count - done < batch ? count - done : batch))
    [ $now -eq 0 ] || check_seeds $((first + done)) $now &
    done=$((done + now))
  done
  wait
done
wait
check_shares
[ ! -e "$work/failed" ] || exit 1
echo "$count random kernels leave the same on several devices"
