#!/bin/sh
# The device headers of nunacc: every file here compiles in both passes, without a warning of the headers; every header
# stands alone for g++, clang++ and gcc; what can run on the host does. Takes half a minute.
#   [NUNACC=...] tests/compiler/headers/run.sh [folder for what is built]
set -u
export NUNACC_PTX=off
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
work=${1:-$(mktemp -d)}
[ $# -gt 0 ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work"
clang=${NUNA_CLANG:-clang++-19}
jobs=$(nproc)
includes="-I $root/compiler/include -isystem $root/api/cudart/include"
warnings="-Wall -Wextra -Werror"
cuda="-x cuda -nocudainc -nocudalib -nogpuinc -Wno-unknown-cuda-version $includes $warnings -include cuda_runtime.h"
device="--cuda-device-only --cuda-gpu-arch=sm_80 -fno-builtin-printf -fno-math-errno -ffp-contract=off"
# The same headers straight for the host's triple.
straight="--cuda-device-only -Xclang -triple -Xclang x86_64-unknown-linux-gnu -Xclang -target-cpu -Xclang x86-64-v3 -fno-math-errno"

: >"$work/list"
check() { printf '%s\n' "$*" >>"$work/list"; }

for name in language maths groups half random_textures; do
  file=$here/$name.cu
  check "$clang $cuda $device -std=c++17 -O3 -Xclang -disable-llvm-passes -S -emit-llvm $file -o $work/$name.ll"
  check "$clang $cuda --cuda-host-only -std=c++17 -fsyntax-only $file"
  case $name in
    language | half)
      check "$clang $cuda $device -std=c++20 -fsyntax-only $file"
      check "$clang $cuda $device -std=c++11 -fsyntax-only $file"
      ;;
    maths) check "$clang $cuda $straight -fsyntax-only $file" ;;
  esac
done
for path in "$root"/compiler/include/*.h "$root"/compiler/include/crt/*.h "$root"/compiler/include/cooperative_groups/*.h; do
  header=${path#"$root"/compiler/include/}
  unit=$work/$(printf %s "$header" | tr '/.' '__')
  printf '#include <%s>\n#include <%s>\nint main(void) { return 0; }\n' "$header" "$header" >"$unit.c"
  cp "$unit.c" "$unit.cpp"
  cp "$unit.c" "$unit.cu"
  check "gcc -std=c11 $warnings $includes -fsyntax-only $unit.c"
  if grep -q 'by this name' "$path"; then continue; fi  # forwards
  check "g++ -std=c++11 $warnings $includes -fsyntax-only $unit.cpp"
  check "$clang -std=c++17 $warnings $includes -fsyntax-only $unit.cpp"
  case $header in
    cuda_runtime.h | cuda_fp16.h | cuda_bf16.h | cuda_fp8.h | vector_types.h | cuComplex.h)
      for standard in 14 17 20; do check "g++ -std=c++$standard $warnings $includes -fsyntax-only $unit.cpp"; done
      ;;
    cuda_* | curand_kernel.h | cooperative_groups*) check "$clang $cuda $device -fsyntax-only $unit.cu" ;;
  esac
done
for name in half_test fp8_test random_test; do
  check "g++ -std=c++11 $warnings $includes $here/$name.cpp -o $work/$name && $work/$name"
done
check "$clang -std=c++17 $warnings $includes $here/half_test.cpp -o $work/half_test_clang --rtlib=libgcc && $work/half_test_clang"
# As CUDA host code, without kernels, so that nothing of libnuna_cudart is needed; and with device code made host code.
check "$clang $cuda --cuda-host-only -std=c++17 -O1 -ffp-contract=off -c $here/maths_test.cu -o $work/maths_test.o && g++ $work/maths_test.o -o $work/maths_test -lm && $work/maths_test"
cat >"$work/as_host.h" <<'END'
#define NUNA_TEST_ON_HOST 1
#define NUNA_DEVICE static __host__ __device__ __inline__ __attribute__((unused))
#include "nuna/device/standard.h"
#include "vector_functions.h"
#include "nuna/device/integer.h"
#include "nuna/device/lanes.h"
#include "nuna/device/convert.h"
#include "nuna/device/special.h"
END
check "$clang -x cuda -nocudainc -nocudalib -nogpuinc -Wno-unknown-cuda-version -Wno-unused-command-line-argument $includes -include $work/as_host.h --cuda-host-only -std=c++17 -O1 -frounding-math -ffp-contract=off -mfma -c $here/maths_test.cu -o $work/maths_test_2.o && g++ $work/maths_test_2.o -o $work/maths_test_2 -lm && $work/maths_test_2"

# On a CPU device, where nunacc is built: NUNACC=build/release/bin/nunacc.
NUNACC=${NUNACC:-${NUNA_TEST_BUILD:+$NUNA_TEST_BUILD/bin/nunacc}}
if [ -n "${NUNACC:-}" ]; then
  for name in device_test references_test builtins_test warp_synchronous_test groups_test; do
    check "$NUNACC -O2 $here/$name.cu -o $work/$name && $work/$name 2>&1 | grep PASS"
  done
fi

cat >"$work/one.sh" <<'END'
if output=$(eval "$1" 2>&1); then exit 0; fi
printf 'FAILED: %s\n%s\n' "$1" "$output" | head -c 3000
exit 1
END
if tr '\n' '\0' <"$work/list" | xargs -0 -n 1 -P "$jobs" sh "$work/one.sh"; then
  # The optimiser must see intrinsics, not calls.
  for intrinsic in llvm.sin.f32 llvm.sqrt.f32 llvm.exp.f32 llvm.pow.f32 llvm.fma.f32 llvm.floor.f32; do
    grep -q "@$intrinsic" "$work/maths.ll" || { echo "FAILED: no $intrinsic in maths.ll"; exit 1; }
  done
  grep -q 'atomicrmw fadd' "$work/language.ll" || { echo "FAILED: no atomicrmw fadd in language.ll"; exit 1; }
  grep -q 'nvvm.barrier\|call.*@llvm.nvvm' "$work"/language.ll "$work"/groups.ll && { echo "FAILED: NVPTX intrinsics"; exit 1; }
  echo "$(wc -l <"$work/list") checks passed"
else
  exit 1
fi
