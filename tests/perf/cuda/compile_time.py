#!/usr/bin/env python3
"""Compares what nunacc takes to compile CUDA files with what clang takes, by interleaved pairs.

  tests/perf/cuda/compile_time.py --nunacc build/release/bin/nunacc [--cuda-path /usr/local/cuda] [--runs N] [--write FILE] [FILE.cu...]

Without files: apps/cuda, and many_kernels.cu. nunacc makes an object (-O3 -c) without PTX. clang++-19, with the toolkit's headers, makes the host's
object and the device's PTX text (--cuda-host-only -c, --cuda-device-only -S; no ptxas), both -O3, one after the other as its driver does. A row has
seconds by the clock, CPU seconds of all processes, and the medians of the ratios of ours to clang's, of both: below 1 nunacc is quicker.

Exit status: 0, also for slow figures; 1 a file does not compile; 2 the call is wrong, or there is no toolkit.
"""

import argparse
import datetime
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
CLANG = "clang++-19"
AIM = 2.0


class Failed(Exception):
    pass


def seconds(commands):
    """By the clock, and of the CPU for the commands and all that they start."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    for command in commands:
        process = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if process.returncode != 0:
            raise Failed(f"{' '.join(map(str, command))}: {process.stdout.strip().splitlines()[:3]}")
    clock = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return clock, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def clang_commands(file, toolkit, folder):
    # Headers that clang 19 asks for and CUDA 13 no longer has: nothing in these files needs them.
    shims = folder / "shims"
    shims.mkdir(exist_ok=True)
    if not (toolkit / "include/texture_fetch_functions.h").exists():
        (shims / "texture_fetch_functions.h").touch()
    common = [CLANG, "-O3", "-std=c++17", f"--cuda-path={toolkit}", "--cuda-gpu-arch=sm_80", "-Wno-unknown-cuda-version", "-isystem", shims, file]
    return [[*common, "--cuda-host-only", "-c", "-o", folder / "host.o"], [*common, "--cuda-device-only", "-S", "-o", folder / "device.s"]]


def measured(options, folder):
    rows = []
    for file in options.files:
        ours, clangs = [], []
        for run in range(-1, options.runs):
            pair = (seconds([[options.nunacc, "-O3", "-std=c++17", "-c", file, "-o", folder / "ours.o"]]),
                    seconds(clang_commands(file, options.cuda_path, folder)))
            if run >= 0:
                ours.append(pair[0])
                clangs.append(pair[1])
        kernels = len(re.findall(r"\.entry", (folder / "device.s").read_text()))
        row = {"file": os.path.relpath(file, ROOT), "kernels": kernels}
        for i, kind in enumerate(["", "_cpu"]):
            row["ours" + kind] = statistics.median(run[i] for run in ours)
            row["clang" + kind] = statistics.median(run[i] for run in clangs)
            row["ratio" + kind] = statistics.median(a[i] / b[i] for a, b in zip(ours, clangs))
        print("{file}: {kernels} kernels, {ours:.2f} s, clang {clang:.2f} s, {ratio:.2f}; CPU {ours_cpu:.2f} s, clang {clang_cpu:.2f} s, {ratio_cpu:.2f}"
              .format(**row), flush=True)
        rows.append(row)
    return rows


def page(rows, runs):
    cpu = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "unknown")
    lines = ["# Compile time of CUDA files", "",
             "Made by `tests/perf/cuda/compile_time.py --write`; do not edit. Seconds to compile a file at -O3: nunacc, without PTX, and clang 19 with a",
             f"CUDA toolkit's headers, host code and PTX, without ptxas; medians of {runs} interleaved runs. The aim is at most {AIM} times clang's by the clock.",
             "nunacc's two front ends, and the parts of large files, run side by side; the last columns have the CPU time of all of it.", "",
             f"- date: {datetime.date.today()}", f"- machine: {cpu}, {os.cpu_count()} cores", "",
             "| file | kernels | nunacc, s | clang, s | nunacc / clang | met | nunacc, CPU s | clang, CPU s | of the CPU |",
             "|---|---|---|---|---|---|---|---|---|"]
    for row in rows:
        met = "yes" if row["ratio"] <= AIM else "**no**"
        lines.append("| {file} | {kernels} | {ours:.2f} | {clang:.2f} | {ratio:.2f} | {met} | {ours_cpu:.2f} | {clang_cpu:.2f} | {ratio_cpu:.2f} |"
                     .format(**row, met=met))
    return "\n".join(lines) + "\n"


def main(argv):
    os.environ["NUNACC_PTX"] = "off"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nunacc", default="nunacc")
    parser.add_argument("--cuda-path", type=pathlib.Path, default=pathlib.Path("/usr/local/cuda"))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--write", metavar="FILE", type=pathlib.Path)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args(argv)
    options.files = options.files or [*sorted((ROOT / "apps/cuda").glob("*.cu")), HERE / "many_kernels.cu"]
    if not (options.cuda_path / "include/cuda_runtime.h").exists():
        print(f"compile_time.py: no toolkit in {options.cuda_path}: clang cannot compile CUDA without one (--cuda-path)", file=sys.stderr)
        return 2
    try:
        with tempfile.TemporaryDirectory(prefix="nuna-perf-") as folder:
            rows = measured(options, pathlib.Path(folder))
    except Failed as error:
        print(f"compile_time.py: {error}", file=sys.stderr)
        return 1
    if options.write:
        options.write.write_text(page(rows, options.runs))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
