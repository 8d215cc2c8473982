"""A program as a tree of statements, and what is known at a place in it."""

import dataclasses

TYPE_NAMES = {"u": "unsigned", "f": "float", "l": "unsigned long long", "c": "unsigned char"}


class Node:
    """A statement: lines around other statements. Any of them can be left out whole, and what is left is still race-free."""

    def __init__(self, program, head, children=(), tail=(), needed=False):
        self.number = program.next_number()
        self.head = [head] if isinstance(head, str) else list(head)
        self.children = list(children)
        self.tail = [tail] if isinstance(tail, str) else list(tail)
        self.needed = needed

    def lines(self, dropped, indent=1):
        if self.number in dropped and not self.needed:
            return []
        space = "  " * indent
        inner = [line for child in self.children for line in child.lines(dropped, indent + 1)]
        return [space + line for line in self.head] + inner + [space + line for line in self.tail]

    def numbers(self):
        own = [] if self.needed else [self.number]
        return own + [number for child in self.children for number in child.numbers()]


@dataclasses.dataclass(frozen=True)
class Variable:
    name: str
    type: str
    uniform: bool = False  # the same for all threads that are here
    fixed: bool = False  # never assigned, as loop counters and masks


@dataclasses.dataclass(frozen=True)
class SharedArray:
    """Memory of a block with one place a thread: between barriers a thread touches its own, or all read any."""

    name: str
    type: str


@dataclasses.dataclass(frozen=True)
class Loop:
    """What leaving an iteration early must observe."""

    kind: str  # "uniform", "plain": no collectives within, "masked": lanes that leave say so
    readable: frozenset = frozenset()
    count: str = ""  # of a masked loop: the variable that says how many iterations a lane makes


@dataclasses.dataclass(frozen=True)
class Place:
    converged: bool = True  # all threads of the block that have not ended are here
    mask: str = "mk"  # the lanes of this warp that are here; empty: unknown
    whole_warp: bool = True  # these are all that have not ended
    readable: frozenset = frozenset()  # arrays of which any element may be read, and none written
    warp_readable: frozenset = frozenset()  # the same within a warp
    loop: Loop | None = None
    depth: int = 0

    def inside(self, **changes):
        return dataclasses.replace(self, depth=self.depth + 1, **changes)


class Program:
    """What all parts of one random kernel share."""

    def __init__(self, seed, rng):
        self.seed = seed
        self.rng = rng
        self.variables = []
        self.arrays = []
        self.local_arrays = []  # (name, type, elements)
        self.functions = []  # see functions.py
        self.budget = 0  # statements that may still be made
        self._numbers = 0
        self._names = 0

    def next_number(self):
        self._numbers += 1
        return self._numbers

    def fresh(self, prefix):
        self._names += 1
        return f"{prefix}{self._names}"

    def maybe(self, probability):
        return self.rng.random() < probability

    def visible(self, type_, uniform=False):
        return [v for v in self.variables if v.type == type_ and (v.uniform or not uniform)]
