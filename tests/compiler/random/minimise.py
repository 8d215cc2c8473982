#!/usr/bin/env python3
"""Leaves out statements of one seed's kernel as long as nunacc's program still differs from the interpreter's.

  minimise.py SEED [FOLDER]        NUNA_TEST_BUILD: where nunacc is (build/release)

Prints the numbers left out (for generate.py --drop); the folder then holds small.cu and both programs.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

from generate import program
from kernel import Kernel

HERE = pathlib.Path(__file__).resolve().parent


class Attempt:
    def __init__(self, seed, folder):
        self.seed, self.folder = seed, folder
        build = pathlib.Path(os.environ.get("NUNA_TEST_BUILD") or HERE.parents[2] / "build" / "release")
        self.compilers = {
            "reference": ["g++", "-std=c++17", "-O1", "-ffp-contract=off", "-fno-strict-aliasing", "-w", "-x", "c++", "-DNUNA_REFERENCE"],
            "device": [str(build.resolve() / "bin" / "nunacc"), "-O3", "-w"]}

    def output(self, name, *arguments):
        try:
            done = subprocess.run([str(self.folder / name), *arguments], capture_output=True, timeout=20)
        except subprocess.TimeoutExpired:
            return "never ends"
        return done.stdout if done.returncode == 0 else f"status {done.returncode}"

    def fails(self, dropped):
        """Whether the program without these statements is right and nunacc's differs."""
        source = self.folder / "small.cu"
        source.write_text(program([Kernel(self.seed)], dropped))
        for name, command in self.compilers.items():
            command = command + ["-I", str(HERE), str(source), "-o", str(self.folder / name)]
            if subprocess.run(command, capture_output=True).returncode != 0:
                return name == "device"
            if name == "reference":
                expected = self.output("reference")
                if isinstance(expected, str) or expected != self.output("reference", "--backwards"):
                    return False
        return self.output("device") != expected


def minimise(attempt, numbers):
    dropped = set()
    size = max(1, len(numbers) // 2)
    while True:
        position = 0
        while position < len(numbers):
            more = set(numbers[position:position + size])
            if attempt.fails(dropped | more):
                dropped |= more
                numbers = numbers[:position] + numbers[position + size:]
            else:
                position += size
            print(f"{len(numbers)} statements left", file=sys.stderr)
        if size == 1:
            return dropped
        size //= 2


def main():
    seed = int(sys.argv[1])
    folder = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    attempt = Attempt(seed, folder)
    if not attempt.fails(frozenset()):
        sys.exit(f"seed {seed} does not fail")
    dropped = minimise(attempt, Kernel(seed).numbers())
    attempt.fails(dropped)
    print(f"--drop {','.join(str(number) for number in sorted(dropped))}\n{folder}/small.cu")


if __name__ == "__main__":
    main()
