#!/usr/bin/env python3
"""Counts the bytes that programs of apps/cuda move between memories over several devices, beside what they have to move.

  tests/perf/cuda/traffic.py --nunacc build/release/bin/nunacc [--devices 2,4,8] [--write FILE]

The counts are Nuna's own (NUNA_STATS): bytes from the host to devices, and between devices, in whole runs. The theory is below,
program by program; the last column is what a tracker with one owner for each byte (paper 004) would move, which forgets that a part
holds what it has read. Exit status: 0; 1 where a count is not the theory's; 2 the call is wrong.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

APPS = pathlib.Path(__file__).resolve().parents[3] / "apps" / "cuda"
FLOAT, FLOAT4, ROWS_OF_HALO, STEPS_OF_A_LAUNCH = 4, 16, 2, 2


def hotspot(side, steps, parts):
    """Rows of temperature and power, each part's with a halo on both sides; then the halos of the temperature only."""
    launches = steps // STEPS_OF_A_LAUNCH
    halos = (parts - 1) * 2 * ROWS_OF_HALO * side * FLOAT
    arrays = 2 * side * side * FLOAT
    return arrays + 2 * halos, (launches - 1) * halos, arrays + 2 * launches * halos


def matmul(side, parts):
    """Rows of A once, B for each part."""
    matrix = side * side * FLOAT
    return (1 + parts) * matrix, 0, (1 + parts) * matrix


def nbody(bodies, steps, parts):
    """All bodies for each part; later those of the other parts. Velocities are zeros that are made where they are used."""
    array = bodies * FLOAT4
    return parts * array, (steps - 1) * (parts - 1) * array, (parts + (steps - 1) * (parts - 1)) * array


RUNS = [("hotspot", hotspot, size) for size in [(512, 20), (1024, 20), (2048, 20)]]
RUNS += [("matmul", matmul, size) for size in [(256,), (512,), (1024,)]]
RUNS += [("nbody", nbody, size) for size in [(4096, 4), (8192, 4), (12288, 4)]]


def counted(program, arguments, devices):
    environment = {**os.environ, "NUNA_DEVICES": str(devices), "NUNA_STATS": "1", "NUNA_THREADS": "1"}
    run = subprocess.run([program, *map(str, arguments)], env=environment, capture_output=True, text=True, timeout=300)
    lines = [line for line in run.stderr.splitlines() if line.startswith("nuna: stats ")]
    if run.returncode != 0 or "PASS" not in run.stdout or not lines:
        raise RuntimeError(f"{program.name}: exit {run.returncode}: {run.stdout}{run.stderr}")
    stats = json.loads(lines[-1][len("nuna: stats "):])
    return stats["bytes_by_route"]["host_to_device"], stats["bytes_by_route"]["device_to_device"]


def page(rows):
    lines = ["# Bytes that CUDA programs move", "",
             "Made by `tests/perf/cuda/traffic.py --write`; do not edit. Whole runs of [apps/cuda](../apps/cuda/README.md) over host devices with memories of",
             "their own: bytes from the host to devices, and between devices, as Nuna counted them; what the programs have to move (the script says",
             "why); and what a tracker with one owner for each byte (paper 004) would move in all.", "",
             "| program | devices | host to devices | theory | between devices | theory | one owner, all |", "|---|---|---|---|---|---|---|"]
    lines += [f"| {' '.join(map(str, row[0]))} | {row[1]} | " + " | ".join(f"{value:,}" for value in row[2:]) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def main(argv):
    os.environ.setdefault("NUNACC_PTX", "off")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nunacc", default="nunacc")
    parser.add_argument("--devices", default="2,4,8", type=lambda text: [int(word) for word in text.split(",")])
    parser.add_argument("--write", metavar="FILE", type=pathlib.Path)
    options = parser.parse_args(argv)
    rows, wrong = [], 0
    with tempfile.TemporaryDirectory(prefix="nuna-traffic-") as folder:
        for name in sorted({run[0] for run in RUNS}):
            subprocess.run([options.nunacc, "-O3", "-std=c++17", APPS / f"{name}.cu", "-o", pathlib.Path(folder, name)], check=True)
        for name, theory, size in RUNS:
            for devices in options.devices:
                found = counted(pathlib.Path(folder, name), size, devices)
                to_devices, between, one_owner = theory(*size, devices)
                rows.append(((name, *size), devices, found[0], to_devices, found[1], between, one_owner))
                good = found == (to_devices, between) and sum(found) <= one_owner
                wrong += not good
                print(f"{name:8} {' '.join(map(str, size)):10} {devices:2} devices: {found[0]:12,} {found[1]:12,}"
                      f"   theory {to_devices:12,} {between:12,}   one owner {one_owner:12,}   {'as it must be' if good else 'WRONG'}")
    if options.write:
        options.write.write_text(page(rows))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
