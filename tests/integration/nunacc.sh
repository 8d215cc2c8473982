#!/usr/bin/env bash
# nunacc as its users call it: CUDA programs of ours, several files, build systems, wrong input.
set -u
nunacc=$NUNA_TEST_BUILD/bin/nunacc
if [ ! -x "$nunacc" ]; then
  echo "skipped: there is no nunacc in this build (NUNA_COMPILER is OFF)"
  exit 77
fi
export NUNACC_PTX=off  # but where it is tested
apps=$NUNA_TEST_SOURCE/apps/cuda
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
wrong=0
complain() {
  echo "WRONG: $*"
  wrong=1
}
# passes <what> <command>...: it ends well, and says PASS if it says anything.
passes() {
  local what=$1
  shift
  timeout 120 "$@" > out 2>&1 && ! grep -q FAIL out && return
  complain "$what: exit $?: $(tail -3 out)"
}
# refuses <what> <regular expression> <command>...: exit status 1 to 4, and a message.
refuses() {
  local what=$1 message=$2 status
  shift 2
  timeout 60 "$@" > out 2>&1
  status=$?
  { [ "$status" -ge 1 ] && [ "$status" -le 4 ]; } || complain "$what: exit $status"
  grep -qE -e "$message" out || complain "$what: no '$message' in: $(head -3 out)"
}

# Programs of ours, each with a checker.
for program in "$apps"/*.cu; do
  name=$(basename "$program" .cu)
  passes "compiling $name" "$nunacc" -O3 -std=c++17 "$program" -o "$name"
  passes "running $name" "./$name"
  passes "running $name on one thread" env NUNA_THREADS=1 "./$name"
done

printf 'int main() { return 0; }\n' > nothing.cu
passes "compiling with lines for debuggers" "$nunacc" -g -G -lineinfo "$apps/scan.cu" -o scan_debug
passes "running that" ./scan_debug

# Device code across files: kernels, device functions and variables of other files, with and without a library.
cat > shared.cuh <<'C'
#pragma once
extern __device__ int offset;
__device__ int twice(int x);
__global__ void fill(int* out, int n);
void set_offset(int value);
C
cat > device.cu <<'C'
#include "shared.cuh"
__device__ int offset = 1;
__device__ int twice(int x) { __syncthreads(); return 2 * x; }
void set_offset(int value) { cudaMemcpyToSymbol(offset, &value, sizeof value); }
C
cat > kernel.cu <<'C'
#include "shared.cuh"
__global__ void fill(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int value = twice(i) + offset;
  if (i < n) out[i] = value;
}
C
cat > main.cu <<'C'
#include <cstdio>
#include "shared.cuh"
int main() {
  int* d = nullptr;
  int h[100] = {};
  cudaMalloc(&d, sizeof h);
  set_offset(5);
  fill<<<2, 64>>>(d, 100);
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  std::printf("%s\n", h[0] == 5 && h[99] == 203 ? "PASS" : "FAIL");
  return h[99] != 203;
}
C
passes "linking device code of three files" "$nunacc" -rdc=true main.cu kernel.cu device.cu -o separate
passes "running it" ./separate
passes "compiling with -dc" "$nunacc" -dc main.cu kernel.cu device.cu
passes "a library" "$nunacc" -lib kernel.o device.o -o libparts.a
passes "linking with a library" "$nunacc" main.o -L. -lparts -o with_library
passes "running that" ./with_library
passes "-dlink" "$nunacc" -dlink main.o kernel.o device.o -o linked.o
passes "linking by the C++ compiler" g++ main.o kernel.o device.o linked.o -L"$NUNA_TEST_BUILD/lib" -lnuna_cudart \
  -Wl,-rpath,"$NUNA_TEST_BUILD/lib" -o by_gxx
passes "running what g++ linked" ./by_gxx

# Dependencies, preprocessing, shared libraries.
passes "-M" "$nunacc" -M kernel.cu
grep -q 'shared.cuh' out || complain "-M does not name shared.cuh"
passes "-MD" "$nunacc" -MD -MF kernel.d -dc kernel.cu -o k.o
grep -q '^k\.o:' kernel.d || complain "-MD: $(head -1 kernel.d)"
passes "-E" "$nunacc" -E kernel.cu -o kernel.ii
passes "-shared" "$nunacc" -shared -Xcompiler -fPIC "$apps/vecadd.cu" -o libvecadd.so
passes "--dryrun" "$nunacc" --dryrun -c kernel.cu

# What kernels need, and the commands: one does not ask for the other.
cat > needs.cu <<'C'
__device__ int count[10];
__global__ void mirror(int* to, const int* from) {
  __shared__ int tile[256];
  const int t = threadIdx.x;
  tile[t] = from[t] * 3;
  __syncthreads();
  to[t] = tile[255 - t] + count[t % 10];
}
C
passes "-Xptxas -v" "$nunacc" -Xptxas -v -c needs.cu
grep -qx "ptxas info    : 40 bytes gmem" out || complain "-Xptxas -v: $(cat out)"
grep -q "^ptxas info    : Compiling entry function '_Z6mirrorPiPKi' for '" out || complain "-Xptxas -v: $(cat out)"
grep -qx "ptxas info    : Used 1024 bytes smem, 16 bytes cmem\[0\]" out || complain "-Xptxas -v: $(cat out)"
grep -q '^#\$' out && complain "-Xptxas -v prints commands"
passes "--ptxas-options=-v of a device link" "$nunacc" --ptxas-options=-v -rdc=true needs.cu nothing.cu -o needs
grep -qx "ptxas info    : Used 1024 bytes smem, 16 bytes cmem\[0\]" out || complain "--ptxas-options=-v: $(cat out)"
passes "-v" "$nunacc" -v -c needs.cu
{ grep -q '^#\$ .*needs.cu' out && ! grep -q ptxas out; } || complain "-v: $(cat out)"
passes "--dryrun after -Xptxas -v" "$nunacc" --dryrun -Xptxas -v -c needs.cu -o not_made.o
{ grep -q '^#\$ TOP=' out && [ ! -e not_made.o ]; } || complain "--dryrun: $(cat out)"

# A Makefile and a CMake project that know nothing of nunacc.
mkdir make cmake
cp "$apps/vecadd.cu" "$apps/check.hpp" make
printf 'NVCC ?= nvcc\nvecadd: vecadd.cu\n\t$(NVCC) -O2 -arch=sm_80 -gencode arch=compute_90,code=sm_90 --std=c++17 -o $@ $<\n' > make/Makefile
passes "make" make -C make NVCC="$nunacc"
passes "what make built" make/vecadd
cp main.cu kernel.cu device.cu shared.cuh "$apps/vecadd.cu" "$apps/check.hpp" cmake
cat > cmake/CMakeLists.txt <<'C'
cmake_minimum_required(VERSION 3.25)
project(Stranger LANGUAGES CXX CUDA)
add_executable(vecadd vecadd.cu)
set_target_properties(vecadd PROPERTIES CUDA_STANDARD 17)
add_executable(separate main.cu kernel.cu device.cu)
set_target_properties(separate PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
add_executable(mixed vecadd.cu more.cpp)
C
echo 'int more() { return 1; }' > cmake/more.cpp
passes "configuring with CMake" cmake -S cmake -B cmake/build -G Ninja -DCMAKE_CUDA_COMPILER="$nunacc" -DCMAKE_CUDA_ARCHITECTURES=80
passes "building with CMake" cmake --build cmake/build
passes "what CMake built" cmake/build/vecadd
passes "what CMake built of several files" cmake/build/separate
passes "what CMake built of CUDA and C++" env LD_LIBRARY_PATH="$NUNA_TEST_BUILD/lib" cmake/build/mixed

# A project that looks for a toolkit.
bash "$NUNA_TEST_SOURCE/tests/compiler/toolkit/check.sh" "$nunacc" "$work/toolkit" || wrong=1

# Libraries of a toolkit that programs name, and there is nothing in.
passes "libraries of a toolkit" "$nunacc" "$apps/vecadd.cu" -lcuda -lcudart -lcudadevrt -o with_toolkit_libraries
passes "what was linked with them" ./with_toolkit_libraries
passes "options of the host compiler with blanks" "$nunacc" -c -Xcompiler "-Wall -fPIC" "$apps/vecadd.cu" -o blanks.o

# What nvcc takes and clang alone would not: blanks inside the marks of a launch, also in headers and macros; a program's own texture;
# narrowing, and a literal with a macro behind it.
cat > spaced.cuh <<'C'
#define GO(p) twice << <1, 1 >> > (p)
__global__ void twice(int* p) { *p *= 2; }
cudaTextureObject_t texture;
C
cat > spaced.cu <<'C'
#include <cstdio>
#include "spaced.cuh"
#define FORMAT "s\n"
template <int N> __global__ void add(int* p) { *p += N; }
int main() {
  int* p;
  cudaMallocManaged(&p, 4);
  *p = 1;
  add<3><< <1, 1>>
      >(p);
  GO(p);
  cudaDeviceSynchronize();
  const float f = 2;
  dim3 block{f, 1, 1};
  const char* verdict = *p == 8 && block.x == 2 ? "PASS" : "FAIL";
  std::printf("%"FORMAT, verdict);
  return *p != 8;
}
C
passes "blanks in the marks of launches" "$nunacc" -MD -MF spaced.d spaced.cu -o spaced
passes "running that" ./spaced
grep -q ' spaced.cuh' spaced.d || complain "-MD of spaced.cu: $(cat spaced.d)"
sed 's/GO(p);/GO(q);/' spaced.cu > wrong_spaced.cu
refuses "an error beside such launches" "^wrong_spaced\.cu:11:6: error: .*'q'" "$nunacc" -c wrong_spaced.cu
printf 'texture<float> t;\nint main() { return texture; }\n' > wrong_texture.cu
refuses "a wrong use of textures" "^wrong_texture\.cu:2:21: error: .*template arguments" "$nunacc" -c wrong_texture.cu
"$nunacc" -c wrong_spaced.cu > out 2>&1
[ "$(grep -c ": error: " out)" = 1 ] || complain "an error beside spaced launches: $(cat out)"

# static __managed__ variables, one of the same name in each of two files.
for part in one two; do
  cat > managed_$part.cu <<C
static __managed__ int value = 5;
namespace {
__managed__ float rest[2] = {1, 2};
}
static __managed__ int of_kernels;
static __global__ void change() { of_kernels += 3, value += of_kernels, rest[1] *= 3; }
bool check_$part() {
  change<<<1, 1>>>();
  int* address = nullptr;
  return cudaDeviceSynchronize() == cudaSuccess && value == 8 && rest[1] == 6 &&
         cudaGetSymbolAddress((void**)&address, value) == cudaSuccess && address == &value;
}
C
done
cat > restrict.cu <<'C'
#include <cstdio>
// A thread reads through its restrict pointers what others wrote before a barrier.
__global__ void follow(int* __restrict__ at, int* __restrict__ next, const int* __restrict__ table, int steps) {
  const int t = threadIdx.x;
  for (int i = 0; i < steps; ++i) {
    if (table[at[0]] % 32 == t) next[0] = table[at[0]];
    __syncthreads();
    if (t == 0) at[0] = next[0];
    __syncthreads();
  }
}
int main() {
  int *at, *next, *table, expected = 3;
  cudaMallocManaged(&at, 4), cudaMallocManaged(&next, 4), cudaMallocManaged(&table, 4000);
  for (int i = 0; i < 1000; ++i) table[i] = (i * 37 + 11) % 1000;
  at[0] = next[0] = expected;
  for (int i = 0; i < 5; ++i) expected = table[expected];
  follow<<<1, 32>>>(at, next, table, 5);
  cudaDeviceSynchronize();
  std::puts(at[0] == expected ? "PASS" : "FAIL");
}
C
passes "threads that share what restrict pointers lead to" "$nunacc" -O3 restrict.cu -o restrict
passes "running them" ./restrict
cat > managed.cpp <<'C'
#include <cstdio>
bool check_one();
bool check_two();
int main() { std::puts(check_one() && check_two() ? "PASS" : "FAIL"); }
C
passes "static __managed__ variables" "$nunacc" managed.cpp managed_one.cu managed_two.cu -o managed
passes "running them" ./managed
passes "compiling them with -dc" "$nunacc" -dc managed_one.cu managed_two.cu
refuses "linking them" ": a static __managed__ variable is not supported with -rdc=true" "$nunacc" managed.cpp managed_one.o managed_two.o -o managed

# PTX, by an nvcc that only says how it was called, and by one that fails.
mkdir -p toolkit/bin
printf '#!/bin/sh\nfor last; do :; done\necho "// nvcc $*" > "$last"\n' > toolkit/bin/nvcc
chmod +x toolkit/bin/nvcc
unset NUNACC_PTX
passes "compiling with an nvcc" env CUDA_HOME="$PWD/toolkit" "$nunacc" -arch=sm_86 -DANSWER=42 -c nothing.cu
passes "PTX in the object" grep -aq '// nvcc -ptx .*-arch=compute_86 .*-DANSWER=42' nothing.o
passes "compiling with --cuda-path" "$nunacc" --cuda-path=toolkit -c nothing.cu -o nothing_2.o
passes "PTX in that object" grep -aq '// nvcc -ptx' nothing_2.o
passes "compiling with --ptx=off" "$nunacc" --cuda-path=toolkit --ptx=off -c nothing.cu
passes "no PTX in that object" sh -c "! grep -aq '// nvcc' nothing.o"
refuses "a toolkit that is not there" "no/such: there is no bin/nvcc" "$nunacc" --cuda-path no/such -c nothing.cu
printf '#!/bin/sh\necho "nvcc does not like it" >&2\nexit 3\n' > toolkit/bin/nvcc
passes "compiling with an nvcc that fails" "$nunacc" --cuda-path=toolkit -c nothing.cu
passes "no word of it" test ! -s out
passes "a word of it with -v" "$nunacc" -v --cuda-path=toolkit -c nothing.cu
grep -q 'nvcc does not like it' out || complain "-v does not say why there is no PTX: $(cat out)"
ln -s "$nunacc" toolkit/nvcc
passes "nunacc that is called nvcc" env PATH="$PWD/toolkit:/usr/bin:/bin" NUNACC_PTX= nvcc --version
export NUNACC_PTX=off

# Wrong input.
printf '__global__ void k(int* x) {\n  x[0] = 1\n}\nint main() {}\n' > syntax.cu
refuses "a syntax error" "^syntax\.cu:2:11: error: expected ';'" "$nunacc" -c syntax.cu
[ "$(grep -c "error: expected" out)" = 1 ] || complain "a syntax error is told twice"
passes "a file without kernels" "$nunacc" nothing.cu -o nothing
passes "running it" ./nothing
refuses "a missing file" "missing\.cu: no such file" "$nunacc" -c missing.cu
refuses "no file" "no input files" "$nunacc" -O3
refuses "an unknown option" "--frobnicate: there is no such option" "$nunacc" --frobnicate -c nothing.cu
refuses "a source as output" "nothing\.cu: would be written over itself" "$nunacc" -c nothing.cu -o nothing.cu
refuses "-o without a name" "a value is missing" "$nunacc" -c nothing.cu -o
refuses "a file that cannot be written" "^nunacc: no/such/folder/x.o: cannot be written: no/such/folder: No such file" "$nunacc" -c nothing.cu -o no/such/folder/x.o
printf '__device__ void wait(int n) { if (n > 0) wait(n - 1); __syncthreads(); }\n__global__ void k(int n) { wait(n); }\n' > recursive.cu
refuses "a barrier in a recursive function" "recursive\.cu:1: .*recursive" "$nunacc" -c recursive.cu
printf '__global__ void k(int* x) { asm("frob.u32 %%0;" : "=r"(x[0])); }\n' > assembly.cu
refuses "inline PTX" "assembly\.cu:1: .*PTX" "$nunacc" -c assembly.cu
{
  printf '__global__ void half_full(float* x) { __shared__ float a[12288]; a[threadIdx.x] = *x; __syncthreads(); *x = a[1]; }\n'
  printf 'template <int N>\n__global__ void full(float* x) {\n  __shared__ float a[N]; a[threadIdx.x] = *x; __syncthreads(); *x = a[1];\n}\n'
  printf 'int main() { half_full<<<1, 1>>>(nullptr); full<12289><<<1, 1>>>(nullptr); }\n'
} > shared.cu
refuses "static shared memory above 48 KiB" "shared\.cu:3: entry function 'void full<12289>\(float\*\)' uses too much shared data \(0xc004 bytes, 0xc000 max\)" \
  "$nunacc" -c shared.cu
sed -i s/12289/12288/ shared.cu
passes "static shared memory of 48 KiB" "$nunacc" -c shared.cu
cat > nested.cu <<'C'
__global__ void child(int* x) { *x = 1; }
template <class T> __global__ void again(T* x, int n) {
  if (n > 0) again<<<1, 1>>>(x, n - 1);
}
__global__ void parent(int* x) {
  child<<<1, 32>>>(x);
  cudaDeviceSynchronize();
}
int main() { again<<<1, 1>>>((int*)nullptr, 3); }
C
for line in 3 6; do
  refuses "a launch in a kernel" "^nested\.cu:$line:[0-9]+: error: device code launches a kernel here .*launch it from the host" "$nunacc" -c nested.cu
done
grep -q "^nested\.cu:7:3: error: device code calls 'cudaDeviceSynchronize' here" out || complain "a call in a kernel: $(cat out)"
[ "$(grep -cE "error|note" out)" = 3 ] || complain "launches in kernels: $(cat out)"
refuses "an architecture that is none" "architecture foo: expected sm_80" "$nunacc" -arch=foo -c nothing.cu
# Nothing stays behind when it is stopped. (A shell's background jobs ignore SIGINT.)
mkdir temporary
for signal in TERM HUP; do
  TMPDIR=$PWD/temporary "$nunacc" -O3 "$apps/scan.cu" -o stopped 2> out &
  for _ in $(seq 200); do [ -z "$(ls temporary)" ] || break; sleep 0.05; done
  [ -n "$(ls temporary)" ] || complain "no temporary folder"
  kill -s $signal $!
  wait $!
  [ $? = $((128 + $(kill -l $signal))) ] || complain "SIG$signal does not end it"
  [ -z "$(ls temporary)" ] || complain "SIG$signal leaves $(ls temporary)"
done
printf '#include <cublas_v2.h>\nint main() {}\n' > library.cu
refuses "cuBLAS" "cublas_v2\.h" "$nunacc" -c library.cu
refuses "linking cuBLAS" "cublas" "$nunacc" nothing.cu -lcublas -o nothing
{
  printf '__global__ void k('
  for i in $(seq 60); do printf 'int a%d%s' "$i" "$([ "$i" = 60 ] || echo ,)"; done
  printf ', int* out) { *out = a1'
  for i in $(seq 2 60); do printf ' + a%d' "$i"; done
  printf '; }\n#include <cstdio>\nint main() { int* d; cudaMallocManaged(&d, 4); k<<<1, 1>>>('
  for i in $(seq 60); do printf '%d, ' "$i"; done
  printf 'd); cudaDeviceSynchronize(); std::printf("%%s\\n", *d == 1830 ? "PASS" : "FAIL"); }\n'
} > many.cu
passes "60 parameters" "$nunacc" many.cu -o many
passes "running them" ./many
{
  echo '__global__ void k(int* x) { x[0] += 1; }'
  awk 'BEGIN { for (i = 0; i < 45000; ++i) printf "static const int constant_number_%d_of_this_file = %d + 1; // filler\n", i, i }'
  echo 'int main() { k<<<1, 1>>>(nullptr); return 0; }'
} > large.cu
passes "a source of 3 MB" "$nunacc" -c large.cu
exit $wrong
