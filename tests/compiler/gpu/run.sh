#!/bin/bash
# Programs of nunacc on GPUs, over the stand-in for the driver (tests/cuda_standin): the same results as on the CPU, shared over 1, 2 and 3; the
# host runs what it must, and says so; failures are told by name. Needs the toolkit (nvcc), which makes the PTX.
#   tests/compiler/gpu/run.sh [folder]        NUNA_TEST_BUILD: where nunacc and the stand-in are (build/release)
. "$(dirname "$0")/../prelude.sh"
unset NUNACC_PTX NUNA_DEVICES NUNA_DEVICE
driver=${NUNA_TEST_BUILD:+$NUNA_TEST_BUILD/lib/cuda_standin/libcuda.so.1}
if ! "$NUNACC" -v --dryrun -c "$here/parts.cu" -o "$work/parts.o" 2>&1 | grep -q -- ' -ptx '; then
  echo "skipped: there is no NVIDIA toolkit whose nvcc makes PTX"
  exit 0
fi
if [ ! -e "$driver" ]; then
  echo "skipped: there is no stand-in for the driver (built with CUDA only)"
  exit 0
fi
export NUNA_CUDA_DRIVER=$driver
failures=0
fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# on_gpus <number> <command>...
on_gpus() {
  number=$1
  shift
  NUNA_DEVICE=cuda NUNA_DEVICES=$number NUNA_TEST_CUDA=${cards:-devices=$number} timeout 300 "$@" >"$work/found" 2>"$work/told"
}

# check_more <source> <number> [option...]: the same results, whatever runs where
check_more() {
  source=$1
  number=$2
  shift 2
  "$NUNACC" -O3 -w "$@" "$source" -o "$work/more" || { fail "$source does not compile"; return; }
  timeout 300 "$work/more" >"$work/expected" || fail "$source on the CPU: $(tail -n 1 "$work/expected")"
  on_gpus "$number" "$work/more" || fail "$source, $number GPUs: $(cat "$work/found" "$work/told" | tail -n 3)"
  # Times; and by how much sums miss that blocks add to in any order: each program has held that against its own limit.
  sed -i -e 's/ in [0-9.]* ms//' -e 's/error [0-9.e+-]*/error/' "$work/expected" "$work/found"
  diff <(sort "$work/expected") <(sort "$work/found") || fail "$source, $number GPUs: other results"
}

# check <program> <kernels that the host runs, by words of their mangled names>
check() {
  program=$1
  shift
  "$NUNACC" -std=c++17 -O2 -w --extended-lambda "$here/$program.cu" -o "$work/$program" || { fail "$program.cu does not compile"; return; }
  "$work/$program" >"$work/expected" || fail "$program on the CPU: $(tail -n 1 "$work/expected")"
  for number in 1 2 3; do
    on_gpus $number "$work/$program" || fail "$program, $number GPUs: $(cat "$work/found" "$work/told" | tail -n 3)"
    diff "$work/expected" "$work/found" || fail "$program, $number GPUs: other results"
    sed -n 's/^nuna: \(.*\) runs on the host, not on .*/\1/p' "$work/told" >"$work/on_host"
    [ "$(wc -l <"$work/on_host")" = $# ] || fail "$program, $number GPUs: the host runs $(tr '\n' ' ' <"$work/on_host")"
    for kernel in "$@"; do
      grep -q "$kernel" "$work/on_host" || fail "$program, $number GPUs: the host does not run $kernel"
    done
  done
}

check host fetch in_turn walk on_host_memory
check parts by_pointers prints
cards=devices=1 on_gpus 2 "$work/parts" || fail "two devices on one GPU"
diff "$work/expected" "$work/found" || fail "two devices on one GPU: other results"

for option in NUNA_FAULTS=off NUNA_POISON=1 NUNA_CUDA_MEMORY=plain; do
  on_gpus 2 env NUNA_MEMORY_LIMIT=256MiB $option "$work/parts" || fail "parts with $option: $(tail -n 1 "$work/told")"
  diff "$work/expected" "$work/found" || fail "parts with $option: other results"
done

# What a launch meets is told.
expect() {
  what=$1
  text=$2
  grep -q -- "$text" "$work/found" "$work/told" || fail "$what: nobody says '$text': $(tail -n 3 "$work/found" "$work/told")"
}
cards='devices=1,fail=cuModuleLoadDataEx@*:CUDA_ERROR_UNSUPPORTED_PTX_VERSION' on_gpus 1 "$work/parts" &&
  fail "a driver that takes no PTX"
expect "a driver that takes no PTX" "PTX of kernel '_Z6vecaddPKfS0_Pfi' on cuda:0 is refused by the driver"
cards='devices=2,fail=cuLaunchKernel@3:CUDA_ERROR_INVALID_VALUE' on_gpus 2 "$work/parts" && fail "a launch that fails"
expect "a launch that fails" "cudaErrorLaunchFailure"
"$NUNACC" -std=c++17 -O2 -w --ptx=off "$here/parts.cu" -o "$work/without" || fail "without PTX: does not compile"
on_gpus 1 "$work/without" && fail "without PTX"
expect "without PTX" "cudaErrorNoKernelImageForDevice"
expect "without PTX" "nuna: kernel _Z6vecaddPKfS0_Pfi has no PTX"
cards=devices=0 on_gpus 1 "$work/parts" && fail "without a GPU"
expect "without a GPU" "there are no CUDA devices"

cards='devices=2,lose=0@5' on_gpus 2 "$work/parts" && fail "a GPU that is lost"
expect "a GPU that is lost" "device cuda:0 broke while its GPU ran '_Z6vecaddPKfS0_Pfi'"
mpirun=$(cat "$NUNA_TEST_BUILD/mpiexec.txt" 2>/dev/null)
if [ -n "$mpirun" ]; then
  [ "$(id -u)" != 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  on_gpus 1 "$mpirun" -n 2 "$work/parts" && fail "several ranks"
  expect "several ranks" "in one process only"
fi

# Kernels of random accesses, and other programs.
python3 "$here/../split/generate.py" 1 24 >"$work/random.cu"
check_more "$work/random.cu" 3 -I "$here/../split"
for program in vecadd transpose hotspot stencil3d scan scalar_product histogram; do
  check_more "$here/../../../apps/cuda/$program.cu" 2
done

[ $failures = 0 ] && echo "programs on GPUs: as on the CPU"
exit $failures
