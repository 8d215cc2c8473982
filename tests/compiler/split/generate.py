#!/usr/bin/env python3
"""Prints random kernels, one a seed, as one CUDA program that runs them and prints what they left.

  generate.py FIRST_SEED COUNT > program.cu     the program: [--dump] [seed...]
  generate.py FIRST_SEED COUNT --reference      the same without kernels whose threads wait, for g++ -x c++ -DNUNA_REFERENCE
  generate.py FIRST_SEED COUNT --expect         a line for each: seed, shared or host or either, kind
"""

import argparse

import forms
import grids
import hard
import patterns
from kernel import Kernel


def make(seed):
    kernel = Kernel(seed)
    kind = kernel.random.random()
    if kind < 0.5:
        grids.make(kernel)
    elif kind < 0.7:
        patterns.make(kernel)
    elif kind < 0.88:
        forms.make(kernel)
    else:
        hard.make(kernel)
    return kernel


def program(kernels):
    lines = ['#include "harness.hpp"', ""]
    for kernel in kernels:
        lines += kernel.text()
    lines += ["int main(int count, char** arguments) {", "  const Wanted wanted(count, arguments);"]
    lines += [f"  if (wanted.has({kernel.seed})) run{kernel.seed}(wanted.dump);" for kernel in kernels]
    return "\n".join(lines + ["}"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int, nargs="?", default=1)
    parser.add_argument("--expect", action="store_true", help="tell which kernels must be shared")
    parser.add_argument("--reference", action="store_true", help="only kernels whose threads can run one after the other")
    given = parser.parse_args()
    kernels = [make(seed) for seed in range(given.first, given.first + given.count)]
    if given.reference:
        kernels = [kernel for kernel in kernels if not kernel.threads_wait()]
    if given.expect:
        for kernel in kernels:
            print(kernel.seed, kernel.expect, kernel.kind)
    else:
        print(program(kernels))


if __name__ == "__main__":
    main()
