"""What became of one program: built, run and judged in a scratch folder of its own."""

import dataclasses
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

CHECKS = pathlib.Path(__file__).resolve().parent / "checks"
MOST_OUTPUT = 4 << 20
BUILD_TIMEOUT_SECONDS = 600

PASS = "pass"
COMPILE = "compile error"
LINK = "missing function"
WRONG = "wrong result"
CRASH = "crash"
TIMEOUT = "timeout"
UNSUPPORTED = "not supported"
ABSENT = "sources absent"
UNJUDGED = "input or reference failed"
BUILT = "compiles"


@dataclasses.dataclass
class Outcome:
    suite: str
    name: str
    status: str
    why: str = ""
    build_seconds: float = 0
    run_seconds: float = 0
    command: str = ""
    output: str = ""  # its end

    @property
    def good(self):
        return self.status in (PASS, BUILT)


@dataclasses.dataclass
class Ran:
    code: int | None  # None: it ran out of time
    text: str
    seconds: float


def run(command, cwd, timeout, env=None, stdin=""):
    """Runs a command and everything it starts; none of it outlives the time."""
    began = time.monotonic()
    try:
        process = subprocess.Popen([str(word) for word in command], cwd=cwd, env=env, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    except OSError as error:
        return Ran(127, f"{command[0]}: {error.strerror}", 0)
    try:
        out, _ = process.communicate(stdin.encode(), timeout=timeout)
        code = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, _ = process.communicate()
        code = None
    return Ran(code, out[-MOST_OUTPUT:].decode(errors="replace"), time.monotonic() - began)


def first_error(text):
    """The line of a compiler's output that says what is wrong: (kind, line)."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for pattern, kind in ((r"undefined (reference to|symbol)", LINK), (r"\b(fatal )?error\b|^nunacc:", COMPILE)):
        for line in lines:
            if re.search(pattern, line):
                if kind == LINK:
                    line = re.sub(r"^.*?(undefined )", r"\1", line)
                return kind, re.sub(r"(?<![\w.])/\S*/", "", line)
    return COMPILE, lines[-1] if lines else "no message"


def first_line_with(pattern, text):
    for line in text.splitlines():
        if re.search(pattern, line):
            return line.strip()
    return ""


class Attempt:
    def __init__(self, program, suite_folder, scratch, options):
        self.program = program
        self.folder = suite_folder / program.folder
        self.scratch = scratch
        self.work = scratch.joinpath(*["d"] * (program.depth - 1), "work")
        self.reference = self.work.parent / "reference"
        self.options = options
        self.names = {"dir": str(self.folder), "suite": str(suite_folder), "corpus": str(options.corpus),
                      "checks": str(CHECKS), "python": sys.executable, "scratch": str(scratch)}
        self.outcome = Outcome(program.suite, program.name, PASS)

    def filled(self, words):
        return [re.sub(r"\{(\w+)\}", lambda match: self.names.get(match[1], match[0]), word) for word in words]

    def ended(self, status, why="", text=""):
        self.outcome.status = status
        self.outcome.why = " ".join(why.split())[:300]
        self.outcome.output = text[-4000:]
        return self.outcome

    def judge(self):
        program = self.program
        if program.unsupported and not self.options.all:
            return self.ended(UNSUPPORTED, program.unsupported)
        absent = [source for source in self.filled(program.sources) if not (self.folder / source).exists()]
        if absent or not self.folder.is_dir():
            return self.ended(ABSENT, f"no {absent[0] if absent else program.folder} in the suite's folder")
        self.work.mkdir(parents=True)
        return self.build() or self.prepare() or self.execute()

    def build(self):
        """None when the program is built."""
        program = self.program
        words = [*self.options.nunacc, *program.flags, *self.options.extra]
        words += [f"-I{path}" for path in program.include] + [f"-D{name}" for name in program.defines]
        target = self.work / "nuna-program"
        if self.options.compile_only:
            # Each by itself, as the names of the objects are.
            commands = [[*words, "-c", source, "-o", str(target) + ".o"] for source in program.sources]
        else:
            commands = [[*words, *program.sources, *program.libs, "-o", str(target)]]
        for command in commands:
            command = self.filled(command)
            self.outcome.command = " ".join(command)
            ran = run(command, self.folder, BUILD_TIMEOUT_SECONDS)
            self.outcome.build_seconds += ran.seconds
            if ran.code is None:
                return self.ended(COMPILE, f"the compiler ran longer than {BUILD_TIMEOUT_SECONDS} s", ran.text)
            if ran.code != 0:
                return self.ended(*first_error(ran.text), ran.text)
        return self.ended(BUILT) if self.options.compile_only else None

    def prepare(self):
        """None when the input and the reference's results are there."""
        for entry in self.folder.iterdir():
            (self.work / entry.name).symlink_to(entry)
        reference = self.program.reference
        commands = [(self.filled(command), self.work) for command in self.program.prepare]
        if reference:
            place = self.reference
            place.mkdir()
            target = str(place / "program")
            commands.append((self.filled([reference.compiler, *reference.flags, *reference.sources, "-o", target]),
                             self.folder))
            commands.append(([target, *self.filled(reference.args)], place))
        for command, place in commands:
            ran = run(command, place, BUILD_TIMEOUT_SECONDS)
            if command[0] == str(self.reference / "program"):
                (place / "stdout.txt").write_text(ran.text)
            if ran.code != 0:
                name = pathlib.Path(command[0]).name
                return self.ended(UNJUDGED, f"{name}: exit {ran.code}: {first_error(ran.text)[1]}", ran.text)
        return None

    def execute(self):
        program = self.program
        seconds = program.timeout * self.options.patience
        env = {**os.environ, **program.env}
        ran = run([self.work / "nuna-program", *self.filled(program.args)], self.work, seconds, env, program.stdin)
        self.outcome.run_seconds = ran.seconds
        (self.work / "stdout.txt").write_text(ran.text)
        if ran.code is None:
            return self.ended(TIMEOUT, f"ran longer than {seconds:g} s", ran.text)
        missing = first_line_with(r"cudaErrorNotSupported|operation not supported|is not supported by Nuna", ran.text)
        if ran.code < 0:
            name = signal.Signals(-ran.code).name
            # A deliberate abort says why in its last line.
            last = next((line for line in reversed(ran.text.splitlines()) if line.strip()), "")
            return self.ended(CRASH, f"{name}: {last}" if last else name, ran.text)
        if program.exit is not None and ran.code != program.exit:
            return self.ended(LINK if missing else WRONG, missing or self.blame(f"exit {ran.code}", ran.text), ran.text)
        if program.failure and (line := first_line_with(program.failure, ran.text)):
            return self.ended(LINK if missing else WRONG, missing or line, ran.text)
        if program.success and not re.search(program.success, ran.text, re.MULTILINE):
            return self.ended(LINK if missing else WRONG, missing or self.blame("its PASS is not there", ran.text), ran.text)
        for command in program.check:
            checked = run(self.filled(command), self.work, BUILD_TIMEOUT_SECONDS)
            if checked.code != 0:
                lines = checked.text.strip().splitlines() or [f"exit {checked.code}"]
                return self.ended(WRONG, lines[-1], ran.text + checked.text)
        return self.ended(PASS, "", ran.text)

    @staticmethod
    def blame(what, text):
        line = first_line_with(r"(?i)error|fail|mismatch|wrong|invalid", text)
        return f"{what}: {line}" if line else what


def attempt(program, suite_folder, scratch, options):
    shutil.rmtree(scratch, ignore_errors=True)
    try:
        return Attempt(program, suite_folder, scratch, options).judge()
    finally:
        if not options.keep:
            shutil.rmtree(scratch, ignore_errors=True)
