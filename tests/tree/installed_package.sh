#!/usr/bin/env bash
# Strangers prove the package: installs Nuna into an empty folder, builds a small program and all of examples/ against it
# with find_package(Nuna), far from this tree, and runs the small one.
#
#   NUNA_TEST_BUILD=build/release tests/tree/installed_package.sh
set -eu
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd "${NUNA_TEST_BUILD:-$source/build/release}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --build "$build" --target nuna > "$work/log" || { cat "$work/log"; exit 1; }
cmake --install "$build" --prefix "$work/nuna" > "$work/log" || { cat "$work/log"; exit 1; }

mkdir "$work/stranger"
cat > "$work/stranger/CMakeLists.txt" << 'CMAKE'
cmake_minimum_required(VERSION 3.16)
project(Stranger LANGUAGES CXX)
find_package(Nuna 0.1 REQUIRED)
add_executable(stranger stranger.cpp)
target_link_libraries(stranger PRIVATE Nuna::nuna)
get_target_property(options Nuna::nuna INTERFACE_COMPILE_OPTIONS)
if(NOT options MATCHES "-ffp-contract=off")
  message(FATAL_ERROR "Nuna::nuna does not carry -ffp-contract=off")
endif()
CMAKE
{
  (cd "$work/nuna/include" && find nuna -name '*.hpp' ! -name mpi.hpp | sort | sed 's/.*/#include <&>/')
  echo '#if __cplusplus != 201703L'
  echo '#error "the public headers are meant for C++17"'
  echo '#endif'
  echo 'int main() { return 0; }'
} > "$work/stranger/stranger.cpp"

# build_against <name> <source folder>: configures and builds it against the installed package only.
build_against() {
  cmake -G Ninja -S "$2" -B "$work/build-$1" -DCMAKE_PREFIX_PATH="$work/nuna" > "$work/log" 2>&1 &&
    cmake --build "$work/build-$1" >> "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
}
build_against stranger "$work/stranger"
"$work/build-stranger/stranger"
echo "a stranger's program builds and runs against the installed package"

if [ -f "$source/examples/CMakeLists.txt" ] && find "$source/examples" -name '*.cpp' | grep -q .; then
  cp -r "$source/examples" "$work/examples"
  build_against examples "$work/examples"
  echo "so do the examples: $(find "$work/build-examples" -maxdepth 2 -type f -executable | wc -l)"
fi
