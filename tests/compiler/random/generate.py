#!/usr/bin/env python3
"""Prints random kernels, one a seed, as one CUDA program that runs them and prints what they computed.

  generate.py FIRST_SEED COUNT [--drop NUMBERS] > program.cu

Built with nunacc it uses the device; with g++, -x c++ and -DNUNA_REFERENCE it is its own plain interpreter
(reference.hpp). The program prints a hash a launch; with --dump all results; arguments are the seeds to run.
"""

import argparse

from kernel import Kernel


def program(kernels, dropped=frozenset()):
    lines = ['#include "harness.hpp"']
    for kernel in kernels:
        lines += kernel.text(dropped)
    lines += ["int main(int count, char** arguments) {", "  const Wanted wanted(count, arguments);"]
    lines += [f"  if (wanted.has({kernel.seed})) run{kernel.seed}(wanted.dump);" for kernel in kernels]
    return "\n".join(lines + ["}", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int, nargs="?", default=1)
    parser.add_argument("--drop", default="", help="statements to leave out, by number, separated by commas")
    given = parser.parse_args()
    dropped = frozenset(int(number) for number in given.drop.split(",") if number)
    print(program([Kernel(seed) for seed in range(given.first, given.first + given.count)], dropped), end="")


if __name__ == "__main__":
    main()
