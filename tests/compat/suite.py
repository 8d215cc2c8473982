"""A suite of programs that others wrote: what run.py builds, runs and judges.

A suite is described by a TOML file, which names files and arguments and holds no code; README.md lists the keys.
"""

import dataclasses
import pathlib
import re
import tomllib


class BadSuite(Exception):
    """A description that cannot be used; the text says where and why."""


@dataclasses.dataclass(frozen=True)
class Reference:
    """The same computation for the CPU, which the suite brings along. It runs in the folder `reference` beside
    the working folder."""

    sources: tuple = ()
    compiler: str = "g++"
    flags: tuple = ()
    args: tuple = ()


@dataclasses.dataclass(frozen=True)
class Program:
    suite: str
    name: str
    folder: str = "."  # below the suite's; sources and include folders are relative to it
    sources: tuple = ()
    include: tuple = ()
    defines: tuple = ()
    flags: tuple = ()
    libs: tuple = ()
    args: tuple = ()
    env: dict = dataclasses.field(default_factory=dict)
    stdin: str = ""
    depth: int = 1  # how deep the working folder lies below the scratch: for programs that read ../../data
    prepare: tuple = ()  # commands, run in the working folder before the program
    reference: Reference | None = None
    success: str = ""  # a regular expression that the output must contain
    failure: str = ""  # one that it must not contain
    exit: int | None = 0  # None: any
    check: tuple = ()  # commands, run in the working folder behind the program; the first that fails is the reason
    timeout: float = 60
    jobs: int = 1  # how many cores it wants
    unsupported: str = ""  # why it cannot work here; then it is listed and not tried
    note: str = ""


@dataclasses.dataclass(frozen=True)
class Suite:
    name: str
    title: str
    source: str  # where to get it
    folder: str  # below the corpus
    about: str
    programs: tuple


RENAMED = {"dir": "folder", "pass": "success", "fail": "failure"}
LISTS = {"sources", "include", "defines", "flags", "libs", "args"}
COMMANDS = {"prepare", "check"}
JOINED = {"include", "defines", "flags", "libs"}  # the defaults' come first, the program's behind them


def frozen(value):
    return tuple(frozen(item) for item in value) if isinstance(value, list) else value


def program_of(suite, defaults, table, where):
    values = {}
    fields = {field.name for field in dataclasses.fields(Program)} - {"suite"}
    for source in (defaults, table):
        for key, value in source.items():
            name = RENAMED.get(key, key)
            if name not in fields:
                raise BadSuite(f"{where}: unknown key '{key}'")
            if name in LISTS | COMMANDS and not isinstance(value, list):
                raise BadSuite(f"{where}: '{key}' must be a list")
            if name in COMMANDS and not all(isinstance(command, list) for command in value):
                raise BadSuite(f"{where}: '{key}' must be a list of commands, each a list of words")
            if name in JOINED and name in values:
                value = list(values[name]) + value
            values[name] = value
    if "name" not in table:
        raise BadSuite(f"{where}: no name")
    if "reference" in values:
        try:
            values["reference"] = Reference(**{key: frozen(value) for key, value in values["reference"].items()})
        except TypeError as error:
            raise BadSuite(f"{where}: reference: {error}") from None
    for key in ("success", "failure"):
        try:
            re.compile(values.get(key, ""))
        except (re.error, TypeError) as error:
            raise BadSuite(f"{where}: not a regular expression: {values[key]!r}: {error}") from None
    program = Program(suite=suite, **{key: frozen(value) for key, value in values.items()})
    if not program.sources and not program.unsupported:
        raise BadSuite(f"{where}: neither sources nor a reason why it is not supported")
    return program


def load(path):
    """The suite of a file."""
    path = pathlib.Path(path)
    try:
        table = tomllib.loads(path.read_text())
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise BadSuite(f"{path}: {error}") from None
    name = table.get("suite", path.stem)
    defaults = table.get("defaults", {})
    programs = tuple(program_of(name, defaults, entry, f"{path}: program {number} ({entry.get('name', '?')})")
                     for number, entry in enumerate(table.get("program", []), 1))
    seen = set()
    for program in programs:
        if program.name in seen:
            raise BadSuite(f"{path}: {program.name} is there twice")
        seen.add(program.name)
    return Suite(name=name, title=table.get("title", name), source=table.get("source", ""),
                 folder=table.get("folder", name), about=table.get("about", "").strip(), programs=programs)
