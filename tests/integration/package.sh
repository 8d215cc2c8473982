#!/usr/bin/env bash
# Strangers prove the package: Nuna is installed, the folder is moved, and somebody without root who has nothing but that
# folder builds the examples and a program of their own, with CMake and with pkg-config, and runs them.
set -u
source=$NUNA_TEST_SOURCE
build=$NUNA_TEST_BUILD
grep -q '^CMAKE_BUILD_TYPE:[A-Z]*=Release$' "$build/CMakeCache.txt" || { echo "skipped: not a release build"; exit 77; }
grep -q '^NUNA_INSTALL:BOOL=ON$' "$build/CMakeCache.txt" || { echo "skipped: NUNA_INSTALL is off"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
status=0
failed() { echo "FAILED: $*"; status=1; }
step() { printf '%3d s  %s\n' $SECONDS "$*"; }

# --- the stranger: another user where we are root, with an environment that knows nothing of us ------------------------------
home="$work/home"
mkdir -p "$home/project"
other=()
if [ "$(id -u)" = 0 ]; then
  other=(setpriv --reuid=nobody --regid=nogroup --clear-groups)
  if "${other[@]}" test -r "$source/CMakeLists.txt" 2> /dev/null; then
    chown -R nobody:nogroup "$home"
  else
    other=()
    echo "the stranger is root: setpriv does not work here, or nobody may not read $source"
  fi
fi
stranger() {
  (cd "$home/project" && "${other[@]}" env -i HOME="$home" TMPDIR="$home" PATH="$PATH" LANG=C.UTF-8 \
    ${LD_LIBRARY_PATH:+LD_LIBRARY_PATH="$LD_LIBRARY_PATH"} ${PKG_CONFIG_PATH:+PKG_CONFIG_PATH="$PKG_CONFIG_PATH"} \
    OMPI_MCA_rmaps_base_oversubscribe=1 "$@")
}
[ ${#other[@]} != 0 ] || [ "$(id -u)" != 0 ] || export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# quietly <what> <command>...: its output only if it fails.
quietly() {
  local what=$1
  shift
  "$@" > "$work/log" 2>&1 && { step "$what"; return 0; }
  failed "$what"
  cat "$work/log"
  return 1
}

# --- installed by component, and moved ---------------------------------------------------------------------------------------
for component in runtime development tools documentation; do
  quietly "installed: $component" cmake --install "$build" --prefix "$work/first" --component $component || exit 1
done
quietly "installed: all" cmake --install "$build" --prefix "$work/all" || exit 1
diff -r "$work/first" "$work/all" > "$work/log" || { failed "the components are not the whole"; cat "$work/log"; }
rm -rf "$work/all"
prefix="$work/moved to/nuna"
mkdir "$work/moved to"
mv "$work/first" "$prefix"

for place in "$source" "$build" "$work/first"; do
  LC_ALL=C grep -rlaE "(^|[^[:alnum:]_.]|-[IL])$(sed 's/[].[*^$+?(){}|\\]/\\&/g' <<< "$place")(/|$)" "$prefix" |
    while read -r file; do echo "$file names $place"; done
done > "$work/log"
[ ! -s "$work/log" ] || { failed "what is installed names where it was made:"; cat "$work/log"; }
package=$(dirname "$(find "$prefix" -name NunaConfig.cmake)")

# --- a program of the stranger's own -----------------------------------------------------------------------------------------
project="$home/project"
{
  (cd "$prefix/include" && find nuna -name '*.hpp' ! -name mpi.hpp ! -path 'nuna/cuda/*' | sort | sed 's/.*/#include <&>/')
  cat << 'CPP'
#include <cstdio>
#include <cstring>
struct Twice {
  NUNA_KERNEL void operator()(nuna::Thread t, nuna::View<int, 1> x) const { x(t.global(0)) *= 2; }
};
int main(int argc, char** argv) {
  const nuna::Index n = 1000;
  nuna::Context context = nuna::Context::world(argc, argv);
  nuna::Buffer<int, 1> x(context, {n});
  context.fill(x, 21);
  context.launch("twice", {n}, nuna::block(8), Twice{}, nuna::read_write(x));
  std::printf("%d devices: %d, Nuna %s\n", context.devices(), x.host(nuna::Access::read)(n - 1), nuna::version());
  return std::strcmp(nuna::version(), NUNA_VERSION);
}
CPP
} > "$project/stranger.cpp"
version=$(sed -n 's/^#define NUNA_VERSION "\(.*\)"/\1/p' "$prefix/include/nuna/version.hpp")

# says <program>: what it should.
says() {
  local told
  told=$(stranger "$1" --devices 2 2>&1)
  [ "$told" = "2 devices: 42, Nuna $version" ] || failed "$1 says: $told"
}

cat > "$project/CMakeLists.txt" << CMAKE
cmake_minimum_required(VERSION 3.16)
project(Stranger LANGUAGES CXX)
find_package(Nuna ${version%.*} REQUIRED COMPONENTS runtime)
add_executable(stranger stranger.cpp)
target_link_libraries(stranger PRIVATE Nuna::nuna)
CMAKE
if quietly "configured with find_package" stranger cmake -S . -B build -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON &&
  quietly "built with find_package" stranger cmake --build build; then
  says build/stranger
  grep -q -- '-ffp-contract=off' "$project/build/compile_commands.json" || failed "Nuna::nuna does not carry -ffp-contract=off"
fi

# The same with kernels in a file of their own: for CUDA devices too where this Nuna is for them and nvcc is found, unless the
# stranger does not want that.
mkdir -p "$project/kernels"
sed 's/^int main.*/int run(int argc, char** argv) {/' "$project/stranger.cpp" > "$project/kernels/kernels.cpp"
printf 'int run(int argc, char** argv);\nint main(int argc, char** argv) { return run(argc, argv); }\n' > "$project/kernels/main.cpp"
cat > "$project/kernels/CMakeLists.txt" << CMAKE
cmake_minimum_required(VERSION 3.18)
project(Kernels LANGUAGES CXX)
find_package(Nuna REQUIRED)
add_executable(stranger main.cpp)
target_link_libraries(stranger PRIVATE Nuna::nuna)
nuna_add_kernels(stranger \${KERNELS})
message(STATUS "CUDA of the package: \${Nuna_CUDA}, compiler: \${CMAKE_CUDA_COMPILER}")
CMAKE
with_kernels() { # <build folder> <option>...
  local folder=$1
  shift
  quietly "configured with nuna_add_kernels $*" stranger cmake -S kernels -B "$home/$folder" -DCMAKE_PREFIX_PATH="$prefix" -DKERNELS=kernels.cpp "$@" || return 1
  sed -n 's/^-- CUDA of/     CUDA of/p' "$work/log"
  quietly "built with nuna_add_kernels $*" stranger cmake --build "$home/$folder" && says "$home/$folder/stranger"
}
has_cuda() { nm -D "$home/$1/stranger" | grep -q note_cuda_kernels; }
with_kernels kernels
if grep -q '^set(Nuna_CUDA ON)' "$package/NunaConfig.cmake"; then
  has_cuda kernels || failed "nuna_add_kernels did not compile kernels for CUDA devices"
else
  has_cuda kernels && failed "nuna_add_kernels compiled for CUDA devices, which this Nuna does not have"
fi
with_kernels kernels_of_host -DNUNA_CUDA=OFF && has_cuda kernels_of_host && failed "NUNA_CUDA=OFF does not switch CUDA off"
if stranger cmake -S kernels -B "$home/no_file" -DCMAKE_PREFIX_PATH="$prefix" -DKERNELS=nowhere.cpp > "$work/log" 2>&1; then
  failed "nuna_add_kernels takes a file that does not exist"
elif ! tr -s ' \n' ' ' < "$work/log" | grep -q "nuna_add_kernels(stranger): there is no file .*/nowhere.cpp"; then
  failed "nuna_add_kernels does not name the file that does not exist:"
  cat "$work/log"
fi

# The guide's first program says what the guide says that it says.
guide="$prefix/share/doc/nuna/docs/first-program.md"
mkdir -p "$project/guide"
fenced() { awk -v fence="\`\`\`$1" '!done && inside && /^```/ { done = 1 } inside && !done; $0 == fence { inside = 1 }' "$guide"; }
fenced cpp > "$project/guide/smooth.cpp"
fenced cmake > "$project/guide/CMakeLists.txt"
if quietly "configured the guide's program" stranger cmake -S guide -B "$home/guide" -DCMAKE_PREFIX_PATH="$prefix" &&
  quietly "built the guide's program" stranger cmake --build "$home/guide"; then
  for devices in 1 4; do
    told=$(stranger "$home/guide/smooth" --devices $devices 2>&1)
    grep -qxF "    $told" "$guide" || failed "the guide's program says what is not in the guide: $told"
  done
fi

# What is not there is said. Without a language a configuration is quick, but CMake does not know lib/<architecture> then:
# hence the package itself is named.
refusal() { # <what is asked> <what must be told>
  mkdir -p "$project/refused"
  printf 'cmake_minimum_required(VERSION 3.16)\nproject(Refused LANGUAGES NONE)\nfind_package(Nuna %s)\n' "$1" > "$project/refused/CMakeLists.txt"
  if stranger cmake -S refused -B "$home/refused" -DCMAKE_PREFIX_PATH="$package" > "$work/log" 2>&1; then
    failed "find_package(Nuna $1) is content"
  elif ! tr -s ' \n' ' ' < "$work/log" | grep -qE -- "$2"; then
    failed "find_package(Nuna $1) does not say '$2':"
    cat "$work/log"
  fi
  rm -rf "$home/refused"
}
refusal "REQUIRED COMPONENTS runtime compiler" "component 'compiler' does not exist \(there are runtime and tools\)\. Installed here: runtime"
refusal "99.1 REQUIRED" "compatible with requested version \"99\.1\".*version: ${version//./\\.}"
tools=("$prefix"/bin/nuna-*)
if [ -e "${tools[0]}" ]; then
  printf 'cmake_minimum_required(VERSION 3.16)\nproject(Tools LANGUAGES NONE)\nfind_package(Nuna REQUIRED COMPONENTS tools)\n' > "$project/CMakeLists.txt"
  for tool in "${tools[@]}"; do
    name=${tool##*/}
    [ "$(head -c 2 "$tool")" != '#!' ] || continue  # a script that a tool calls
    printf 'if(NOT TARGET Nuna::%s)\nmessage(FATAL_ERROR "no Nuna::%s")\nendif()\n' "$name" "$name" >> "$project/CMakeLists.txt"
    stranger ldd "$tool" | grep 'not found' && failed "$name does not find its libraries"
  done
  quietly "tools: ${#tools[@]}" stranger cmake -S . -B "$home/tools" -DCMAKE_PREFIX_PATH="$package"
  mv "$package/NunaToolsTargets.cmake" "$work"
  refusal "REQUIRED COMPONENTS tools" "component 'tools' is not installed"
  mv "$work/NunaToolsTargets.cmake" "$package"
else
  refusal "REQUIRED COMPONENTS tools" "component 'tools' is not installed"
fi
step "what is not there is said"

# --- pkg-config, in a third place: without a space, which an unquoted \$(pkg-config ...) would not survive -------------------
mv "$prefix" "$work/third"
prefix="$work/third"
pc=$(dirname "$(find "$prefix" -name nuna.pc)")
by_hand() { # <compiler> <standard>
  stranger env PKG_CONFIG_PATH="$pc" sh -c "$1 -std=$2 -Wall -Wextra -Werror -o stranger-$2 stranger.cpp \$(pkg-config --cflags --libs nuna)"
}
for standard in c++17 c++20; do
  quietly "g++ -std=$standard with pkg-config" by_hand g++ $standard && says "./stranger-$standard"
done
clang=$(command -v clang++ clang++-19 | head -n 1)
[ -z "$clang" ] || { quietly "clang++ with pkg-config" by_hand "$clang" c++17 && says ./stranger-c++17; }
[[ $(stranger env PKG_CONFIG_PATH="$pc" pkg-config --cflags --libs nuna) == *-ffp-contract=off* ]] ||
  failed "pkg-config does not say -ffp-contract=off"
stranger env PKG_CONFIG_PATH="$pc" pkg-config --cflags --libs nuna | grep -i mpi && failed "pkg-config names MPI"
[ "$(stranger env PKG_CONFIG_PATH="$pc" pkg-config --modversion nuna)" = "$version" ] || failed "pkg-config names another version"

# --- nunacc, and a project of CUDA files that looks for a toolkit ------------------------------------------------------------
if [ -x "$prefix/bin/nunacc" ]; then
  cp -r "$source/tests/compiler/toolkit" "$home/toolkit"
  quietly "find_package(CUDAToolkit) with nunacc" stranger bash "$home/toolkit/check.sh" "$prefix/bin/nunacc" "$home/toolkit-build"
fi

# --- the examples, as installed ----------------------------------------------------------------------------------------------
examples="$home/examples"
if quietly "configured the examples" stranger cmake -S "$prefix/share/nuna/examples" -B "$examples" -DCMAKE_PREFIX_PATH="$prefix" &&
  quietly "built the examples" stranger cmake --build "$examples" -j 2; then
  count=0
  for example in "$prefix"/share/nuna/examples/*/; do
    name=$(basename "$example")
    quietly "ran $name" stranger "$examples/$name" --devices 2
    count=$((count + 1))
  done
  [ $count -ge 6 ] || failed "only $count examples are installed"
  if [ -e "$build/mpiexec.txt" ]; then
    mpiexec=$(cat "$build/mpiexec.txt")
    told=$(stranger timeout -k 5 60 "$mpiexec" -n 2 "$examples/03_two_ranks" 2>&1)
    [[ $told == *"2 rank(s): peak "* ]] || failed "03_two_ranks on two ranks says: $told"
    step "$told"
  fi
fi

# --- Nuna inside a stranger's project: nothing of Nuna's but the library, and the project's own names stay free ---------------
cat > "$project/CMakeLists.txt" << CMAKE
cmake_minimum_required(VERSION 3.25)
project(Embedding LANGUAGES CXX)
foreach(name IN ITEMS libraries lint perf unit_tests self_contained_headers)
  add_custom_target(\${name})
endforeach()
add_subdirectory("$source" nuna EXCLUDE_FROM_ALL)
add_executable(stranger stranger.cpp)
target_link_libraries(stranger PRIVATE Nuna::nuna)
if(CMAKE_BUILD_TYPE OR BUILD_TESTING)
  message(FATAL_ERROR "Nuna changed the project's own settings")
endif()
CMAKE
if quietly "configured with add_subdirectory" stranger cmake -G Ninja -S . -B "$home/embedding"; then
  grep -qE 'nuna_settings_table|api_tests|example_01|bin/stencil' "$home/embedding/build.ninja" && failed "tests, examples or programs are built, too"
  quietly "nothing of it is installed" stranger cmake --install "$home/embedding" --prefix "$home/nothing"
  [ ! -e "$home/nothing" ] || failed "an embedding project installs $(find "$home/nothing" -type f | head -n 3)"
fi
[ $status = 0 ] && echo "strangers build and run from the installed package ($SECONDS s)"
exit $status
