#!/usr/bin/env python3
"""Compares kernels compiled by nunacc with the same computation as loops for the CPU, by interleaved pairs.

  tests/perf/cuda/run.py --nunacc build/release/bin/nunacc [--pairs N] [--threads 1,2] [--devices N] [--json] [--write FILE]
                         [--also NAME=COMMAND] [NAME...]

A pair is a process of ours, one of the peer, and one of ours again, after a warm-up; each gives the median of a few
repetitions. The ratio is the peer's time over ours: above 1 we are faster. A row is met when the median reaches its aim
and the lower quartile lacks at most 0.05, or the spread of ours against ours if that is larger. Where the peer has two
forms (hotspot: a pass for each step, or one for both), the faster one of a pair counts. Results must agree, or the row
says so. Both round a * b + c twice (nunacc's default; -ffp-contract=off), and in the rows "fused" both once (-fmad=true; clang's default for C++); the
rows "/ fused peer" have the defaults of both, and no aim. --devices adds how much faster N devices of one thread are than one. --also adds another peer: a program that prints the same lines, run in every pair too.

Ours runs with NUNA_THREADS set. Exit status: 0, also for slow figures; 1 for wrong results; 2 the call is wrong.
"""

import argparse
import datetime
import json
import os
import pathlib
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CLANG = "clang++-19"
FLAGS = ["-O3", "-march=native"]
APART, FUSED = "-ffp-contract=off", "-ffp-contract=on"
ADDS_PRODUCTS = {"matmul", "nbody", "hotspot", "stencil"}
AIMS = {"matmul": 0.8, "nbody": 0.8, "hotspot": 0.9, "stencil": 0.9, "vecadd": 0.95}
PEERS = {"hotspot": ["hotspot_steps", "hotspot_pass"]}
SAME_ORDER = {"hotspot": "hotspot_tiles"}  # the kernel's own order of work by hand: a row of its own
LAUNCHES = ["empty", "empty_and_wait"]  # no peer: microseconds a launch
MOST_LAUNCH_MICROSECONDS = 3.0
TWO_CORES_AIM = 1.6
DEVICES_AIM = 0.85  # of their number
ALLOWANCE = 0.05
LEAST_PAIRS = 15


class Failed(Exception):
    pass


def output_of(command, env=None):
    process = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             env=env)
    if process.returncode != 0:
        lines = (process.stderr or process.stdout).strip().splitlines() or ["no message"]
        raise Failed(f"{command[0]}: exit {process.returncode}: {lines[-1]}")
    return process.stdout


def figures(text):
    return {line["name"]: line for line in map(json.loads, text.splitlines())}


def build(nunacc, folder):
    for name, fmad, contract in [("", "false", APART), ("_fused", "true", FUSED)]:
        output_of([*nunacc, "-O3", "-std=c++17", f"-fmad={fmad}", HERE / "kernels.cu", "-o", folder / f"kernels{name}"])
        output_of([CLANG, "-std=c++20", *FLAGS, contract, "-fno-math-errno", HERE / "peer_loops.cpp", "-o",
                   folder / f"peer_loops{name}", "-pthread"])


def quartiles(values):
    return statistics.quantiles(values, n=4, method="inclusive")


def sampled(folder, also, names, threads, pairs, devices=0):
    """For each program the lines of each pair; ours twice, and once over devices."""
    own = ["--threads", threads, "--repetitions", 5]
    env = {**os.environ, "NUNA_THREADS": str(threads)}
    peers = [peer for name in names for peer in PEERS.get(name, [name]) if name not in LAUNCHES]
    peers += [SAME_ORDER[name] for name in names if name in SAME_ORDER]
    programs = {"ours": [folder / "kernels", *own, *names], "again": [folder / "kernels", *own, *names]}
    if peers:
        programs["peer"] = [folder / "peer_loops", *own, *peers]
    if fused := ADDS_PRODUCTS.intersection(names):
        programs["ours fused"] = [folder / "kernels_fused", *own, *fused]
        programs["peer fused"] = [folder / "peer_loops_fused", *own, *[peer for name in fused for peer in PEERS.get(name, [name])]]
    programs |= {name: [*command, *own, *names] for name, command in also.items()}
    if devices:
        programs["devices"] = programs["ours"]
    samples = {name: [] for name in programs}
    for number in range(-1, pairs):
        order = list(programs)
        order = order[number % len(order):] + order[:number % len(order)]  # none always runs behind the same other
        for name in order:
            lines = figures(output_of(programs[name], {**env, "NUNA_DEVICES": str(devices)} if name == "devices" else env))
            if number >= 0:
                samples[name].append(lines)
    return samples


def row_of(name, threads, samples, who="peer", form=None, own="ours"):
    ours = [lines[name]["ms"] for lines in samples[own]]
    again = [lines[name]["ms"] for lines in samples["again"]]
    forms = [form] if form else PEERS.get(name, [name]) if who.startswith("peer") else [name]
    peer = [min(lines[form]["ms"] for form in forms) for lines in samples[who]]
    lower, middle, upper = quartiles([b / a for a, b in zip(ours, peer)])
    self_lower, _, self_upper = quartiles([b / a for a, b in zip([lines[name]["ms"] for lines in samples["ours"]], again)])
    both_fused = own == "ours fused"
    aim = 0.0 if who == "peer fused" and not both_fused else AIMS.get(name, 1.0) if who.startswith("peer") else 3.0
    allowance = max(ALLOWANCE, (self_upper - self_lower) * aim)
    a, b = samples[own][0][name]["sum"], samples[who][0][forms[0]]["sum"]
    agree = abs(a - b) <= 1e-5 * max(abs(a), abs(b), 1e-30)
    beside = f" / {form}" if form else " fused" if both_fused else "" if who == "peer" else f" / {' '.join(reversed(who.split()))}"
    return {"name": f"cuda {name}{beside}", "threads": threads, "unit": "ms",
            "ours": statistics.median(ours), "peer": statistics.median(peer), "ratio": middle, "lower_quartile": lower,
            "upper_quartile": upper, "aim": aim, "met": agree and middle >= aim and lower >= aim - allowance,
            "self_lower": self_lower, "self_upper": self_upper, "agree": agree}


def launch_row(name, threads, samples):
    lower, middle, upper = quartiles([1000 * lines[name]["ms"] for lines in samples["ours"]])
    return {"name": f"cuda {name}", "threads": threads, "unit": "us", "ours": middle, "lower_quartile": lower,
            "upper_quartile": upper, "aim": MOST_LAUNCH_MICROSECONDS, "met": middle <= MOST_LAUNCH_MICROSECONDS,
            "agree": True}


def speedup_rows(names, samples):
    """Two cores against one: of ours only, pair by pair."""
    rows = []
    for name in (name for name in names if name not in LAUNCHES):
        pairs = zip(samples[1]["ours"], samples[2]["ours"])
        lower, middle, upper = quartiles([one[name]["ms"] / two[name]["ms"] for one, two in pairs])
        rows.append({"name": f"cuda {name}, 2 cores / 1", "threads": 2, "unit": "times", "ratio": middle,
                     "lower_quartile": lower, "upper_quartile": upper, "aim": TWO_CORES_AIM,
                     "met": middle >= TWO_CORES_AIM, "agree": True})
    return rows


def devices_rows(names, samples, devices):
    """Devices of one thread against one: of ours only, pair by pair."""
    rows = []
    for name in (name for name in names if name not in LAUNCHES):
        pairs = list(zip(samples["ours"], samples["devices"]))
        lower, middle, upper = quartiles([one[name]["ms"] / all_of_them[name]["ms"] for one, all_of_them in pairs])
        aim = DEVICES_AIM * devices
        rows.append({"name": f"cuda {name}, {devices} devices / 1", "threads": 1, "unit": "times", "ratio": middle,
                     "lower_quartile": lower, "upper_quartile": upper, "aim": aim, "met": middle >= aim,
                     "agree": all(one[name]["sum"] == all_of_them[name]["sum"] for one, all_of_them in pairs)})
    return rows


def table(rows):
    print(f"{'row':34} {'threads':>7} {'ours':>10} {'peer':>10} {'':5} {'ratio':>6} {'quartiles':>13} {'aim':>5}  met")
    for row in rows:
        number = [f"{row[key]:10.3f}" if key in row else " " * 10 for key in ("ours", "peer")]
        ratio = f"{row['ratio']:6.2f}" if "ratio" in row else " " * 6
        spread = f"{row['lower_quartile']:.2f} - {row['upper_quartile']:.2f}"
        verdict = "WRONG RESULT" if not row["agree"] else "" if row["aim"] == 0 else "yes" if row["met"] else "no"
        aim = f"{row['aim']:5.2f}" if row["aim"] else " " * 5
        print(f"{row['name']:34} {row['threads']:7} {number[0]} {number[1]} {row['unit']:5} {ratio} {spread:>13} "
              f"{aim}  {verdict}")


def page(rows, pairs):
    """docs/nunacc-speed.md."""
    cpu = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "unknown")
    commit = subprocess.run(["git", "-C", str(HERE), "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True).stdout.strip()
    clang = subprocess.run([CLANG, "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    lines = ["# Speed of compiled CUDA programs", "",
             f"Made by `tests/perf/cuda/run.py --write`; do not edit. CUDA kernels compiled by nunacc beside the same computation as loops for the CPU",
             f"({' '.join([CLANG, *FLAGS, APART])}): peer / ours, above 1 we are faster; median and quartiles of {pairs} interleaved pairs of processes.",
             "Where the peer has two forms the faster one of a pair counts: for hotspot, whose tiles compute a halo twice, that is a pass over rows,",
             "which computes each cell once; hotspot_tiles are the kernel's tiles as loops. Both round a * b + c twice, so that all machines compute the same",
             "bits; in the rows \"fused\" both round it once (`-fmad=true`). \"/ fused peer\" has the defaults of both, ours without, clang's with: that is the price",
             "of the same bits, and has no aim. Launches have no peer, but a limit, in microseconds.", "",
             f"- date: {datetime.date.today()}", f"- machine: {cpu}, {os.cpu_count()} cores", f"- compiler: {clang}", f"- commit: {commit}", "",
             "| row | threads | ours | peer | unit | ratio | quartiles | aim | met |", "|---|---|---|---|---|---|---|---|---|"]
    for row in rows:
        number = {key: f"{row[key]:.4g}" if key in row else "" for key in ("ours", "peer", "ratio")}
        verdict = "wrong result" if not row["agree"] else "" if row["aim"] == 0 else "yes" if row["met"] else "**no**"
        aim = f"{row['aim']:.2f}" if row["aim"] else ""
        lines.append(f"| {row['name']} | {row['threads']} | {number['ours']} | {number['peer']} | {row['unit']} | {number['ratio']} | "
                     f"{row['lower_quartile']:.2f} - {row['upper_quartile']:.2f} | {aim} | {verdict} |")
    return "\n".join(lines) + "\n"


def main(argv):
    os.environ.setdefault("NUNACC_PTX", "off")  # it would only cost time
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nunacc", default="nunacc", type=shlex.split)
    parser.add_argument("--pairs", type=int, default=LEAST_PAIRS)
    parser.add_argument("--threads", default="1,2", type=lambda text: [int(word) for word in text.split(",")])
    parser.add_argument("--devices", type=int, default=0, metavar="N")
    parser.add_argument("--json", action="store_true", help="one JSON object a line instead of the table")
    parser.add_argument("--write", metavar="FILE", type=pathlib.Path, help="a page of the rows, too")
    parser.add_argument("--also", action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join([*AIMS, *LAUNCHES]))
    options = parser.parse_args(argv)
    names = options.names or [*AIMS, *LAUNCHES]
    unknown = [name for name in names if name not in [*AIMS, *LAUNCHES]]
    if unknown:
        parser.error(f"no kernel {', '.join(unknown)}")
    if options.pairs < LEAST_PAIRS:
        parser.error(f"--pairs must be at least {LEAST_PAIRS}")
    also = {name: shlex.split(command) for name, _, command in (text.partition("=") for text in options.also)}
    folder = pathlib.Path(tempfile.mkdtemp(prefix="nuna-perf-"))
    try:
        build(options.nunacc, folder)
        samples = {threads: sampled(folder, also, names, threads, options.pairs, options.devices if threads == 1 else 0)
                   for threads in options.threads}
    except Failed as error:
        print(f"run.py: {error}", file=sys.stderr)
        return 2
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    rows = []
    for threads in options.threads:
        for name in names:
            if name in LAUNCHES:
                rows.append(launch_row(name, threads, samples[threads]))
                continue
            rows.append(row_of(name, threads, samples[threads]))
            if name in ADDS_PRODUCTS:
                rows.append(row_of(name, threads, samples[threads], "peer fused", own="ours fused"))
                rows.append(row_of(name, threads, samples[threads], "peer fused"))
            if name in SAME_ORDER:
                rows.append(row_of(name, threads, samples[threads], form=SAME_ORDER[name]))
            rows += [row_of(name, threads, samples[threads], other) for other in also if name in samples[threads][other][0]]
    if {1, 2} <= set(options.threads):
        rows += speedup_rows(names, samples)
    if options.devices and 1 in samples:
        rows += devices_rows(names, samples[1], options.devices)
    if options.write:
        options.write.write_text(page(rows, options.pairs))
    if options.json:
        for row in rows:
            print(json.dumps(row))
    else:
        table(rows)
    return 0 if all(row["agree"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
