#!/usr/bin/env python3
"""Measures what sharing launches costs: CPU time spent on plans, on the account of who has what, and on handing out parts.

  tests/perf/cuda/overhead.py --nunacc build/release/bin/nunacc [--devices 2,4,8] [--runs N] [--write FILE] [--launches COUNT]

The time is Nuna's own count of the thread that launches (NUNA_STATS, sharing_cpu_ns), over the CPU time of the whole process; the
median of a few runs. With --launches it is that of one launch of those of launches.cu, with the same scalars each time and with new
ones, and beside both the CPU time of the process for a launch on one device. It holds more than paper 004 counts in section 9.2 (the resolution of dependencies and the updates of its
tracker): also the first proof that memories reach each other, and starting the parts. Exit status: 0; 1 where the median over all runs is
above the limit; 2 the call is wrong.
"""

import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

APPS = pathlib.Path(__file__).resolve().parents[3] / "apps" / "cuda"
LAUNCHES = pathlib.Path(__file__).resolve().parent / "launches.cu"
KERNELS = ("add", "scale", "window", "eliminate", "spline")
RUNS = [("hotspot", side, 400) for side in (1024, 2048, 4096)]
RUNS += [("nbody", bodies, 10) for bodies in (8192, 16384, 32768)]
RUNS += [("matmul", side) for side in (512, 1024, 2048)]
LIMIT = 0.003
PAPER = 0.0051


def cpu_of_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measured(program, arguments, devices):
    """CPU seconds of the launches' account, and of all."""
    environment = {**os.environ, "NUNA_DEVICES": str(devices), "NUNA_STATS": "1", "NUNA_THREADS": "1"}
    before = cpu_of_children()
    run = subprocess.run([program, *map(str, arguments)], env=environment, capture_output=True, text=True, timeout=600)
    cpu = cpu_of_children() - before
    lines = [line for line in run.stderr.splitlines() if line.startswith("nuna: stats ")]
    if run.returncode != 0 or "PASS" not in run.stdout or not lines:
        raise RuntimeError(f"{program.name}: exit {run.returncode}: {run.stdout}{run.stderr}")
    return json.loads(lines[-1][len("nuna: stats "):])["sharing_cpu_ns"] / 1e9, cpu


def page(rows, quartiles):
    lower, middle, upper = (f"{100 * value:.2g} %" for value in quartiles)
    lines = ["# What sharing launches costs", "",
             "Made by `tests/perf/cuda/overhead.py --write`; do not edit. Whole runs of [apps/cuda](../apps/cuda/README.md) over host devices of one thread: CPU",
             "time of plans, of the account of who has what, and of handing out parts, and its share in the CPU time of the process; medians. On",
             "one device nothing of it runs: launches do not come by.", "",
             f"Median of all shares {middle} (quartiles {lower} and {upper}); the limit is {100 * LIMIT} %, paper 004 has {100 * PAPER} % (section 9.2).", "",
             "| program | devices | sharing, ms | process, ms | share |", "|---|---|---|---|---|"]
    lines += [f"| {' '.join(map(str, run))} | {devices} | {1e3 * own:.2f} | {1e3 * cpu:.0f} | {100 * own / cpu:.2g} % |"
              for run, devices, own, cpu in rows]
    return "\n".join(lines) + "\n"


def launches(program, options):
    """Microseconds of CPU time for a launch, with the same scalars and with new ones."""
    count = options.launches

    def median(kernel, scalars, devices, which):
        runs = [measured(program, (kernel, scalars, count), devices)[which] for _ in range(options.runs)]
        return 1e6 * statistics.median(runs) / count

    for kernel in KERNELS:
        alone = median(kernel, "same", 1, 1)
        for devices in options.devices:
            same, new = (median(kernel, scalars, devices, 0) for scalars in ("same", "new"))
            print(f"{kernel:10} {devices:2} devices: sharing {same:7.1f} us, with new scalars {new:7.1f} us; "
                  f"all of it on one device {alone:7.1f} us", flush=True)


def main(argv):
    os.environ.setdefault("NUNACC_PTX", "off")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nunacc", default="nunacc")
    parser.add_argument("--devices", default="2,4,8", type=lambda text: [int(word) for word in text.split(",")])
    parser.add_argument("--runs", default=3, type=int)
    parser.add_argument("--write", metavar="FILE", type=pathlib.Path)
    parser.add_argument("--launches", metavar="COUNT", type=int)
    options = parser.parse_args(argv)
    rows = []
    with tempfile.TemporaryDirectory(prefix="nuna-overhead-") as folder:
        if options.launches:
            program = pathlib.Path(folder, "launches")
            subprocess.run([options.nunacc, "-O3", "-std=c++17", LAUNCHES, "-o", program], check=True)
            launches(program, options)
            return 0
        for name in sorted({run[0] for run in RUNS}):
            subprocess.run([options.nunacc, "-O3", "-std=c++17", APPS / f"{name}.cu", "-o", pathlib.Path(folder, name)], check=True)
        for name, *size in RUNS:
            for devices in options.devices:
                runs = sorted((measured(pathlib.Path(folder, name), size, devices) for _ in range(options.runs)),
                              key=lambda run: run[0] / run[1])
                own, cpu = runs[len(runs) // 2]
                rows.append(((name, *size), devices, own, cpu))
                print(f"{name:8} {' '.join(map(str, size)):10} {devices:2} devices: {1e3 * own:8.2f} of {1e3 * cpu:8.0f} ms   {100 * own / cpu:.3f} %",
                      flush=True)
    quartiles = statistics.quantiles((own / cpu for _, _, own, cpu in rows), n=4)
    print(f"median {100 * quartiles[1]:.3f} %, quartiles {100 * quartiles[0]:.3f} and {100 * quartiles[2]:.3f}; limit {100 * LIMIT} %")
    if options.write:
        options.write.write_text(page(rows, quartiles))
    return 1 if quartiles[1] > LIMIT else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
