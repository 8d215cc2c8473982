#!/usr/bin/env python3
"""The page docs/gpu-results.md, of what tests/gpu/run left in a folder, or in several, of which the later ones replace steps.

  tests/gpu/results.py FOLDER...            prints it
  tests/gpu/results.py FOLDER... --write    renews docs/gpu-results.md
  tests/gpu/results.py --none --write       the page of a project that never saw a GPU

Results of the stand-in are refused, whose figures mean nothing, and those of a machine without a GPU.
"""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "gpu-results.md"

HEAD = """# Results on GPUs

Made by `tests/gpu/run --write`; do not edit.
"""

HOW = """## How to fill this page

On a Debian machine with internet, once, in the folder of the source:

    tests/gpu/pack                     # the libraries, unpacked, to build/gpu-packages

Take the source and that folder to a machine with an NVIDIA GPU, nvcc (CUDA 12 or newer), g++, CMake, ninja and python3, and there

    OUT=results tests/gpu/run

Its folder `results` makes this page, there or here:

    tests/gpu/results.py results --write
"""

NONE = """
**No GPU was to be had when this was written. No line of Nuna's CUDA device has run on a GPU yet, and there is no figure of its
speed.**

What was tested instead: a stand-in for the driver (`tests/cuda_standin`), a libcuda.so.1 that keeps the cards' memory on the host
and interprets the PTX that nvcc made of the kernels. On it pass the device boundary's conformance suite (the one of the host
devices), programs over the public API, and the stencil and the examples with the bits of the host's devices, in one process and
under MPI. It shows that Nuna calls the driver as the driver's manual says, in the right order, and that the kernels compute what
they must. It cannot show what a real driver does otherwise than its manual says, nor races on real hardware, nor any speed.

`tests/gpu/run --standin --small` runs all that follows a GPU's arrival on the stand-in, the benchmark too, so that the script
itself is known to work.

| aim | met |
|---|---|
| copies between pinned host memory and a device, at least 0.95 of the bare copy's speed | not known |
| an empty launch, at most 3 us more than a bare cuLaunchKernel | not known |
| the stencil, at least 0.95 of the speed of a kernel written by hand | not known |
| memcheck and racecheck of compute-sanitizer without findings | not known |

"""

STEPS = {
    "probe": "what the driver does",
    "build": "build for this GPU",
    "device": "conformance of the device boundary, host and CUDA devices",
    "cuda": "programs on CUDA devices",
    "programs": "stencil and examples, the same bits as on host devices",
    "benchmark": "speed against bare calls",
    "memcheck": "compute-sanitizer memcheck",
    "leakcheck": "compute-sanitizer, leaks of device memory",
    "racecheck": "compute-sanitizer racecheck",
}


def about(folders):
    known = {}
    for folder in folders:
        lines = (folder / "about.txt").read_text().splitlines()
        known.update(line.split(": ", 1) for line in lines if ": " in line)
    return known


def newest(folders, name):
    """The text of that file, or nothing."""
    found = [folder / name for folder in folders if (folder / name).exists()]
    return found[-1].read_text() if found else ""


def steps(folders):
    yield from ("## Steps", "", "| step | what | verdict | seconds | |", "|---|---|---|---|---|")
    seen = {}
    for folder in folders:
        for line in (folder / "summary.tsv").read_text().splitlines():
            step, verdict, seconds, note = line.split("\t")
            seen[step] = (verdict, seconds, note.replace("|", "/"))
    for step, what in STEPS.items():
        verdict, seconds, note = seen.get(step, ("not run", "-", ""))
        yield f"| {step} | {what} | {verdict if verdict == 'ok' else '**' + verdict + '**'} | {seconds} | {note} |"
    yield ""


def verdict(row):
    return "-" if row["aim"] == 0 else "yes" if row["met"] else "**no**"


def speed(folders):
    yield from ("## Speed", "")
    rows = [json.loads(line) for line in newest(folders, "benchmark.jsonl").splitlines()]
    if not rows:
        yield from ("Not measured.", "")
        return
    yield from (
        "A ratio above 1 means that Nuna is better; median and quartiles of interleaved rounds in one process (see",
        "[performance.md](performance.md)). \"ours / ours\" is the spread of Nuna against itself. The peer's column in GB/s is what",
        "the bare copy reached: the limit of this machine. Rows without an aim are there to know.", "",
        "| ours / peer | ours | peer | unit | ratio | quartiles | aim | ours / ours | met |", "|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        yield (f"| {row['name']} | {row['ours']:.4g} | {row['peer']:.4g} | {row['unit']} | {row['ratio']:.2f} | "
               f"{row['lower_quartile']:.2f} - {row['upper_quartile']:.2f} | {row['aim']:.2f} | "
               f"{row['self_lower_quartile']:.2f} - {row['self_upper_quartile']:.2f} | {verdict(row)} |")
    yield ""


def answers(folders):
    return json.loads(newest(folders, "probe.json") or "{}")


def probe(folders):
    yield from ("## What the driver does", "")
    if not answers(folders):
        yield from ("Not asked.", "")
        return
    yield from ("| | |", "|---|---|")
    for question, answer in answers(folders).items():
        yield f"| {question} | {answer} |"
    yield ""


def page(folders):
    known = about(folders)
    if known.get("standin") != "0":
        sys.exit("results: these are of the stand-in for the driver; they are not written")
    if not known.get("cards"):  # there was no nvidia-smi
        known["cards"] = answers(folders).get("card 0: name")
    if not known["cards"]:
        sys.exit("results: there was no GPU; nothing is written")
    lines = [HEAD]
    # From nvidia-smi: name, driver, memory, PCI Express generation and lanes.
    for key in ("date", "cards", "commit", "compiler", "cores", "libraries"):
        lines.append(f"- {key}: {known.get(key) or 'unknown'}")
    return "\n".join([*lines, "", *steps(folders), *speed(folders), *probe(folders), HOW])


def main(arguments):
    write = "--write" in arguments
    folders = [pathlib.Path(argument) for argument in arguments if not argument.startswith("--")]
    if "--none" in arguments:
        text = HEAD + NONE + HOW
    elif folders:
        text = page(folders)
    else:
        sys.exit(__doc__)
    if write:
        PAGE.write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main(sys.argv[1:])
