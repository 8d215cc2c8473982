#!/bin/sh
# Inline PTX of nunacc: what it does, beside C++ of the same meaning, and what is refused. Takes some seconds.
#   [NUNACC=...] tests/compiler/ptx/run.sh [folder for what is built]
. "$(dirname "$0")/../prelude.sh"
failed=0

run() {
  name=$1
  shift
  "$NUNACC" -std=c++17 "$@" "$here/$name.cu" -o "$work/$name" && "$work/$name" && return
  echo "FAILED: $name $*"
  failed=1
}
run values -O2
run threads -O2
run threads -G -rdc=true

# Each is refused, with its line and its name.
refuse() {
  printf '__global__ void kernel(int* x, float* y, size_t z) {\n  unsigned r = 0;\n  asm volatile(%s);\n  x[0] = (int)r;\n}\n' "$1" \
    >"$work/refused.cu"
  if "$NUNACC" -c "$work/refused.cu" -o "$work/refused.o" >"$work/refused.txt" 2>&1; then
    echo "FAILED: not refused: $1"
    failed=1
  elif ! grep -q "refused.cu:3: .*does not translate .*$2" "$work/refused.txt"; then
    echo "FAILED: refused with other words: $1"
    cat "$work/refused.txt"
    failed=1
  fi
}
refuse '"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r) : "l"(x)' 'ldmatrix.sync'
refuse '"mbarrier.init.shared.b64 [%0], %1;" :: "l"(x), "r"(r)' 'mbarrier.init.shared.b64'
refuse '"cp.async.bulk.commit_group;"' 'cp.async.bulk'
refuse '"bar.sync 3, 64;"' 'bar.sync with 2 operands'
refuse '"bar.sync 1;"' 'bar.sync of another barrier than 0'
refuse '"{ .reg .pred p; tex.1d.v4.f32.s32 {%0, _, _, _}, [%1, {%0}]; }" : "+r"(r) : "l"(z)' 'tex.1d.v4.f32.s32'
refuse '"add.u32 %0, %1, nothing;" : "=r"(r) : "r"(r)' 'add.u32: the name nothing'
refuse '"ld.global.u32 %0, [%1];" : "=r"(r) : "r"(r)' 'ld.global.u32: an address of 32 bits'
refuse '"ld.shared::cluster.u32 %0, [%1];" : "=r"(r) : "r"(r)' 'ld.shared::cluster.u32'
refuse '"bra NOWHERE;"' 'a jump to NOWHERE'

[ $failed -eq 0 ] && echo "inline PTX passed"
exit $failed
