#!/usr/bin/env bash
# Kernels that cannot be launched are refused by the compiler, in words of Nuna's.
set -u
compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$NUNA_TEST_BUILD/CMakeCache.txt")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
cat > "$work/kernels.cpp" << 'CPP'
#include <nuna/nuna.hpp>
#include <string>
using View = nuna::View<int, 1>;
struct Good { NUNA_KERNEL void operator()(nuna::Thread, View, int) const {} };
struct LacksTheView { NUNA_KERNEL void operator()(nuna::Thread, int) const {} };
struct IsNotConst { NUNA_KERNEL void operator()(nuna::Thread, View, int) {} };
struct LacksItsShared {
  using Block = nuna::Block<8>;
  struct Shared { int x; };
  NUNA_KERNEL void operator()(const Block&, View, int) const {}
};
struct SharesWhatIsInitialised {
  using Block = nuna::Block<8>;
  struct Shared { int x = 0; };
  NUNA_KERNEL void operator()(const Block&, Shared&, View, int) const {}
};
struct SharesTooMuch {
  using Block = nuna::Block<8>;
  struct Shared { char x[48 * 1024 + 1]; };
  NUNA_KERNEL void operator()(const Block&, Shared&, View, int) const {}
};
template <int... Sizes>
struct Of {
  using Block = nuna::Block<Sizes...>;
  NUNA_KERNEL void operator()(const Block&, View, int) const {}
};
template <class T>
struct Keeps {
  using Block = nuna::Block<8>;
  NUNA_KERNEL void operator()(const Block&, View, int) const { typename Block::template PerThread<T> kept; }
};
void launch(nuna::Context& context, nuna::Buffer<int, 1>& x) {
  context.launch("x", {8}, nuna::block(8), KERNEL{}, nuna::write(x), 1);
}
CPP
# expect <kernel> <part of the message, empty: none>
expect() {
  if "$compiler" -std=c++17 -fsyntax-only -I"$NUNA_TEST_SOURCE/api/include" -I"$NUNA_TEST_BUILD/include" "-DKERNEL=$1" \
    "$work/kernels.cpp" > "$work/log" 2>&1; then
    [ -z "$2" ] || { echo "$1 is taken for a kernel"; status=1; }
  elif [ -z "$2" ] || ! grep -qF -- "$2" "$work/log"; then
    echo "$1: expected '$2', but the compiler says:"
    grep -m 3 error "$work/log"
    status=1
  fi
}
expect Good ""
expect 'Of<4, 8>' ""
expect 'Keeps<int>' ""
expect LacksTheView "a kernel has operator()(nuna::Thread, or const nuna::Part&, then one nuna::View for each buffer argument"
expect IsNotConst "in the order of the launch) const"
expect LacksItsShared "a kernel by block has operator()(const Block&, Shared& if it has a Shared"
expect SharesWhatIsInitialised "a block's Shared has no constructor and no destructor"
expect SharesTooMuch "a block's Shared has at most 48 KiB"
expect 'Of<64, 32>' "a nuna::Block has at most 1,024 threads"
expect 'Of<0>' "a nuna::Block has at least one thread along each axis"
expect 'Of<1, 1, 1, 1>' "a nuna::Block has 1 to 3 extents"
expect "Keeps<std::string>" "values of threads are trivially copyable"
exit $status
