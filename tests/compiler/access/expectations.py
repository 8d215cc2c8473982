#!/usr/bin/env python3
"""Compares what nunacc --explain says of kernels with what stands above them in the source.

    expectations.py kernels.cu explanation.txt

"//= text": a line of the kernel's explanation is that text, spaces and the source's line aside. "//! text": no line contains it.
"""

import re
import sys


def expectations(source):
    """(kernel, wanted lines, unwanted texts) of each kernel."""
    wanted, unwanted = [], []
    for line in source.splitlines():
        if line.startswith("//= "):
            wanted.append(line[4:].strip())
        elif line.startswith("//! "):
            unwanted.append(line[4:].strip())
        elif match := re.match(r"__global__ void (\w+)\(", line):
            yield match.group(1), wanted, unwanted
            wanted, unwanted = [], []


def explanations(text):
    """kernel -> its lines."""
    kernels = {}
    for part in text.split("\n\n"):
        lines = [re.sub(r"  +\S+:\d+$", "", line).strip() for line in part.splitlines()]
        if lines:
            name = re.search(r"(\w+)(<.*>)?\(", lines[0]).group(1)
            kernels[name] = lines
    return kernels


def main():
    with open(sys.argv[1], encoding="utf-8") as source, open(sys.argv[2], encoding="utf-8") as text:
        explained = explanations(text.read())
        failed = 0
        for kernel, wanted, unwanted in expectations(source.read()):
            lines = explained.get(kernel, [])
            wrong = [f"it does not say: {one}" for one in wanted if one not in lines]
            wrong += [f"it says: {line}" for one in unwanted for line in lines if one in line]
            failed += bool(wrong)
            if wrong:
                print(f"FAILED: {kernel}", *wrong, "of", *lines, sep="\n    ")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
