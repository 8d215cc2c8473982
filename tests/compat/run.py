#!/usr/bin/env python3
"""Compiles CUDA programs that others wrote, runs them on the CPU, and says which pass.

  tests/compat/run.py --nunacc build/release/bin/nunacc --corpus DIR [--suites DIR] [--suite NAME]... [--only REGEX]
                      [--jobs N] [--timeout FACTOR] [--report FILE.json] [--write docs/compatibility.md]

The corpus holds one folder a suite (see docs/compatibility.md for where to get them); the suites' descriptions are
DIR/*.toml, by default those of the folder `suites` of the corpus. README.md beside this file explains their keys.

Exit status: 0 all that was tried passes, 1 something does not, 2 the call or a description is wrong.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import shlex
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import outcome as outcomes_of  # noqa: E402
import page  # noqa: E402
import suite as suites_of  # noqa: E402


def arguments(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nunacc", default="nunacc", help="the compiler, with options if need be (default: %(default)s)")
    parser.add_argument("--corpus", required=True, type=pathlib.Path, help="the folder that holds the suites' folders")
    parser.add_argument("--suites", type=pathlib.Path, help="the folder of the descriptions (default: CORPUS/suites)")
    parser.add_argument("--suite", action="append", default=[], help="only this one (may be repeated)")
    parser.add_argument("--only", default="", help="only programs whose suite/name contains this regular expression")
    parser.add_argument("--jobs", type=int, default=1, help="programs at once (default: %(default)s)")
    parser.add_argument("--timeout", dest="patience", type=float, default=1, help="multiplies the programs' own time limits")
    parser.add_argument("--extra", type=shlex.split, default=[], help="options added to every compilation")
    parser.add_argument("--compile-only", action="store_true", help="compile each source with -c, link and run nothing")
    parser.add_argument("--all", action="store_true", help="also try what is said to be not supported")
    parser.add_argument("--list", action="store_true", help="print the programs' names and end")
    parser.add_argument("--keep", type=pathlib.Path, help="build in this folder and leave everything there")
    parser.add_argument("--report", type=pathlib.Path, help="write the outcomes as JSON")
    parser.add_argument("--write", type=pathlib.Path, help="renew this page")
    options = parser.parse_args(argv)
    if options.jobs < 1 or options.patience <= 0:
        parser.error("--jobs and --timeout must be above zero")
    try:
        options.chosen = re.compile(options.only)
    except re.error as error:
        parser.error(f"--only: {error}")
    options.nunacc = shlex.split(options.nunacc)
    if not options.list and shutil.which(options.nunacc[0]) is None:
        parser.error(f"--nunacc: no program {options.nunacc[0]}")
    options.nunacc[0] = shutil.which(options.nunacc[0]) or options.nunacc[0]
    options.nunacc[0] = str(pathlib.Path(options.nunacc[0]).absolute())  # commands run in other folders
    options.corpus = options.corpus.resolve()
    options.suites = options.suites or options.corpus / "suites"
    if options.write and (options.only or options.compile_only):
        parser.error("--write needs whole suites: no --only, no --compile-only")
    return options


def suites(options):
    files = sorted(options.suites.glob("*.toml"))
    if options.suite:
        files = [file for file in files if file.stem in options.suite]
        absent = set(options.suite) - {file.stem for file in files}
        if absent:
            raise suites_of.BadSuite(f"no suite {', '.join(sorted(absent))} in {options.suites}")
    if not files:
        raise suites_of.BadSuite(f"no descriptions in {options.suites}")
    return [suites_of.load(file) for file in files]


def tried(options, chosen, scratch):
    """The outcomes, in the order of the descriptions."""
    results = {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        waiting = {}
        for suite, program in chosen:
            place = scratch / suite.name / program.name
            future = pool.submit(outcomes_of.attempt, program, options.corpus / suite.folder, place, options)
            waiting[future] = (suite.name, program.name)
        for future in concurrent.futures.as_completed(waiting):
            outcome = results[waiting[future]] = future.result()
            times = f"{outcome.build_seconds:5.1f} s {outcome.run_seconds:5.1f} s"
            print(f"{outcome.suite + '/' + outcome.name:34} {times}  {outcome.status}"
                  + (f": {outcome.why}" if outcome.why else ""), flush=True)
    return [results[suite.name, program.name] for suite, program in chosen]


def main(argv):
    os.environ.setdefault("NUNACC_PTX", "off")  # it would only cost time
    options = arguments(argv)
    try:
        known = suites(options)
    except suites_of.BadSuite as error:
        print(f"run.py: {error}", file=sys.stderr)
        return 2
    chosen = [(suite, program) for suite in known for program in suite.programs
              if options.chosen.search(f"{suite.name}/{program.name}")]
    if not chosen:
        print("run.py: no program has such a name", file=sys.stderr)
        return 2
    if options.list:
        for suite, program in chosen:
            print(f"{suite.name}/{program.name}" + (f": {program.unsupported}" if program.unsupported else ""))
        return 0
    scratch = options.keep.resolve() if options.keep else pathlib.Path(tempfile.mkdtemp(prefix="nuna-compat-"))
    try:
        outcomes = tried(options, chosen, scratch)
    finally:
        if not options.keep:
            shutil.rmtree(scratch, ignore_errors=True)
    for suite in known:
        own = [outcome for outcome in outcomes if outcome.suite == suite.name]
        if own:
            print(f"{suite.name}: {sum(outcome.good for outcome in own)} of {len(own)}")
    if options.report:
        options.report.write_text(json.dumps([dataclasses.asdict(outcome) for outcome in outcomes], indent=1) + "\n")
    if options.write:
        old = options.write.read_text() if options.write.exists() else ""
        options.write.write_text(page.renewed(old, known, outcomes))
    wrong = [outcome for outcome in outcomes if not outcome.good and outcome.status != outcomes_of.UNSUPPORTED]
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
