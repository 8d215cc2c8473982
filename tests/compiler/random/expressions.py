"""Random expressions whose value no compiler may change: unsigned integers, and floats that are rounded exactly."""

from program import TYPE_NAMES


class Expressions:
    def __init__(self, program):
        self.p = program
        self.rng = program.rng
        self.nested = 0  # indices within indices

    def of(self, type_, place, depth=2, uniform=False):
        make = {"u": self.integer, "f": self.real, "l": self.wide}[type_]
        return make(place, depth, uniform)

    # --- integers ---

    def integer(self, place, depth=2, uniform=False):
        if depth <= 0 or self.p.maybe(0.2):
            return self.integer_leaf(place, uniform)
        a = self.integer(place, depth - 1, uniform)
        b = self.integer(place, depth - 1, uniform)
        kind = self.rng.randrange(18)
        if kind < 7:
            return f"({a} {self.rng.choice(['+', '-', '*', '^', '&', '|', '+'])} {b})"
        if kind == 7:
            return f"({a} {self.rng.choice(['<<', '>>'])} ({b} & 31u))"
        if kind == 8:
            return f"(unsigned)((int){a} >> ({b} & 31u))"
        if kind == 9:
            return f"{self.rng.choice(['min', 'max'])}({a}, {b})"
        if kind == 10:
            return f"(unsigned){self.rng.choice(['min', 'max'])}((int){a}, (int){b})"
        if kind == 11:
            return f"({self.condition(place, depth - 1, uniform)} ? {a} : {b})"
        if kind == 12:
            return f"({a} {self.rng.choice(['/', '%'])} ({b} | 1u))"
        if kind == 13:
            return f"(unsigned)({self.rng.choice(['unsigned char', 'short', 'signed char', 'unsigned short'])}){a}"
        if kind == 14:
            return f"{self.rng.choice(['(unsigned)__popc', '(unsigned)__clz', '__brev'])}({a})" if self.p.maybe(0.5) else f"__umulhi({a}, {b})"
        if kind == 15:
            return f"(unsigned)(int)tame({self.real(place, depth - 1, uniform)})"
        if kind == 16:
            return f"(unsigned)({self.wide(place, depth - 1, uniform)} >> {self.rng.randrange(40)})"
        return self.call(place, depth, uniform) or f"(~{a} + {b})"

    def call(self, place, depth, uniform):
        """A function of two integers, if there is one of which the result is as uniform as the arguments."""
        fit = [f for f in self.p.functions if f.arguments == "uu" and (f.pure or not uniform)]
        if not fit:
            return ""
        a = self.integer(place, depth - 1, uniform)
        b = self.integer(place, depth - 1, uniform)
        return f"{self.rng.choice(fit).spelling(self.rng)}({a}, {b})"

    def integer_leaf(self, place, uniform):
        if self.nested >= 2:
            return self.simple_leaf(uniform)
        self.nested += 1
        leaf = self.any_leaf(place, uniform)
        self.nested -= 1
        return leaf

    def simple_leaf(self, uniform):
        found = self.p.visible("u", uniform)
        return self.rng.choice([v.name for v in found] + ["p.a", "blockDim.x"] + ([] if uniform else ["lin", "gid", "threadIdx.x"]))

    def any_leaf(self, place, uniform):
        choices = ["literal", "variable", "variable", "constant", "parameter", "special"]
        if place.readable:
            choices += ["shared"] * 3
        if not uniform:
            choices += ["thread", "own", "input", "local"]
            if place.warp_readable:
                choices += ["warp"] * 3
        kind = self.rng.choice(choices)
        if kind == "variable":
            found = self.p.visible("u", uniform)
            if found:
                return self.rng.choice(found).name
        if kind == "constant":
            return f"c_table{self.p.seed}[{self.index(place, uniform)} % 16u]"
        if kind == "parameter":
            return self.rng.choice(["p.a", "p.t[2]", f"p.t[{self.index(place, uniform)} & 3u]", "(unsigned)p.c", "(unsigned)K"])
        if kind == "special":
            return self.rng.choice(["blockIdx.x", "blockIdx.y", "blockDim.x", "gridDim.x", "blockIdx.z", "blockDim.y", "T"])
        if kind == "thread":
            if self.p.maybe(0.2):
                return self.clamped()
            return self.rng.choice(["threadIdx.x", "threadIdx.y", "threadIdx.z", "lin", "lane", "gid"])
        if kind == "input":
            return f"in_u[{self.rng.choice(['gid', self.index(place, uniform)])} % n]"
        if kind in ("shared", "warp", "own"):
            found = self.shared(kind, place, uniform, "ulc")
            if found:
                return found
        if kind == "local":
            found = [a for a in self.p.local_arrays if a[1] in "ul"]
            if found:
                name, _, count = self.rng.choice(found)
                return f"(unsigned){name}[{self.index(place, uniform)} % {count}u]"
        return f"{self.rng.choice([0, 1, 2, 3, 5, 7, 31, 32, 255, self.rng.getrandbits(32), self.rng.getrandbits(16)])}u"

    def index(self, place, uniform):
        """An integer for use as an index: short."""
        return self.integer(place, self.rng.choice([0, 0, 1]), uniform)

    def shared(self, kind, place, uniform, types):
        """An element of an array of the block that may be read here."""
        if kind == "own":
            found = [a for a in self.p.arrays if a.type in types]
        else:
            found = [a for a in self.p.arrays
                     if a.type in types and a.name in (place.readable if kind == "shared" else place.warp_readable)]
        if not found:
            return ""
        array = self.rng.choice(found)
        if kind == "own":
            where = "lin"
        elif kind == "warp":
            where = f"min(lin - lane + ({self.integer(place, 1)} & 31u), limit - 1u)"
        else:
            where = f"({self.integer(place, 1, uniform)}) % limit"
            if not uniform and self.p.maybe(0.4):
                where = self.rng.choice(["limit - 1u - lin", "(lin + 1u) % limit", "(lin * 5u + 1u) % limit"])
        cast = "(unsigned)" if array.type in "lc" and types != "f" else ""
        return f"{cast}{array.name}[{where}]"

    # --- 64 bits ---

    def wide(self, place, depth=1, uniform=False):
        found = self.p.visible("l", uniform)
        a = self.rng.choice(found).name if found and self.p.maybe(0.6) else f"(unsigned long long){self.integer(place, depth - 1, uniform)}"
        if depth <= 0:
            return a
        b = self.wide(place, depth - 1, uniform)
        operator = self.rng.choice(["+", "*", "^", "-", "|", "<<", ">>"])
        return f"({a} {operator} ({b} & 63u))" if operator in ("<<", ">>") else f"({a} {operator} {b})"

    # --- floats ---

    def real(self, place, depth=2, uniform=False):
        if depth <= 0 or self.p.maybe(0.2):
            return self.real_leaf(place, uniform)
        a = self.real(place, depth - 1, uniform)
        b = self.real(place, depth - 1, uniform)
        kind = self.rng.randrange(10)
        if kind < 5:
            return f"({a} {self.rng.choice(['+', '-', '*', '*', '+'])} {b})"
        if kind == 5:
            return f"({self.condition(place, depth - 1, uniform)} ? {a} : {b})"
        if kind == 6:
            return f"({a} / ({b} * {b} + 0.5f))"
        if kind == 7:
            return f"sqrtf(fabsf({a}))"
        if kind == 8:
            return f"(float)((double){a} * (double){b})"
        return f"(float)(int)({self.integer(place, depth - 1, uniform)} & 4095u)"

    def real_leaf(self, place, uniform):
        choices = ["literal", "variable", "variable", "parameter"]
        if place.readable:
            choices += ["shared"] * 2
        if not uniform:
            choices += ["own", "input", "local"]
            if place.warp_readable:
                choices += ["warp"] * 2
        kind = self.rng.choice(choices)
        if kind == "variable":
            found = self.p.visible("f", uniform)
            if found:
                return self.rng.choice(found).name
        if kind == "parameter":
            return "p.b"
        if kind == "input":
            return f"in_f[{self.index(place, uniform)} % n]"
        if kind in ("shared", "warp", "own"):
            found = self.shared(kind, place, uniform, "f")
            if found:
                return found
        if kind == "local":
            found = [a for a in self.p.local_arrays if a[1] == "f"]
            if found:
                name, _, count = self.rng.choice(found)
                return f"{name}[{self.index(place, uniform)} % {count}u]"
        return f"{self.rng.choice(['0.0', '1.0', '-2.5', '0.1', '3.25', '1e-3', '100.0'])}f"

    # --- conditions ---

    def condition(self, place, depth=1, uniform=False):
        if depth > 0 and self.p.maybe(0.2):
            operator = self.rng.choice(["&&", "||"])
            return f"({self.condition(place, depth - 1, uniform)} {operator} {self.condition(place, depth - 1, uniform)})"
        operator = self.rng.choice(["<", ">", "<=", ">=", "==", "!="])
        kind = self.rng.randrange(6)
        if kind == 5 and not uniform:
            return self.bound()
        if kind == 0:
            return f"({self.real(place, depth, uniform)} {operator} {self.real(place, depth, uniform)})"
        if kind == 1:
            return f"((int){self.integer(place, depth, uniform)} {operator} (int){self.integer(place, depth, uniform)})"
        if kind == 2:
            return f"(({self.integer(place, depth, uniform)} & {self.rng.choice([1, 3, 7])}u) {self.rng.choice(['==', '!='])} 1u)"
        if kind == 3 and not uniform:
            return self.rng.choice([f"(lin < {self.rng.randrange(40)}u)", f"(lane < {self.rng.randrange(33)}u)", "(lin & 1u)",
                                    f"(threadIdx.x % 3u == {self.rng.randrange(3)}u)"])
        return f"({self.integer(place, depth, uniform)} {operator} {self.integer(place, depth, uniform)})"

    # --- a thread's place in the grid ---

    def grid_place(self, type_):
        """An integer that is affine in the thread's indices, in few bits or nearly wrapping."""
        axis = self.rng.choice("xxyz")
        place = f"({type_})(blockIdx.{axis} * blockDim.{axis} + threadIdx.{axis})"
        shift = self.rng.choice([0, 0, 1, 2, 7, self.rng.choice([40, 0x7FFFFFF0, 0xFFFFFFF0])])
        form = self.rng.randrange(5)
        if form == 0:
            return f"({place} * {self.rng.choice([2, 3, 16])}u + {shift}u)" if type_ == "unsigned" else f"({place} * 2 - {shift & 63})"
        if form == 1:
            return f"({type_})(gridDim.{axis} * blockDim.{axis} - 1u - blockIdx.{axis} * blockDim.{axis} - threadIdx.{axis})"
        if form == 2:
            return f"({type_})({place} + (blockIdx.y * 3u) + threadIdx.y)"
        if type_ == "unsigned":
            return f"({place} {self.rng.choice('+-')} {shift}u)"
        return f"({place} {self.rng.choice('+-')} {shift & 63})"

    def grid_size(self, type_):
        axis = self.rng.choice("xxy")
        size = f"({type_})(gridDim.{axis} * blockDim.{axis})"
        return self.rng.choice([size, f"({size} - {self.rng.choice([1, 2, 9])})", f"({size} / 2)", f"({type_})p.a", f"({type_})p.c",
                                f"({type_}){self.rng.choice([0, 1, 2, 33, 64, 100, 200])}"])

    def bound(self):
        """Whether a thread lies inside a part of the grid."""
        type_ = self.rng.choice(["int", "int", "unsigned", "long long"])
        operator = self.rng.choice(["<", "<", ">=", ">", "<=", "==", "!="])
        return f"({self.grid_place(type_)} {operator} {self.grid_size(type_)})"

    def clamped(self):
        """A thread's place, held inside a part of the grid."""
        type_ = self.rng.choice(["int", "unsigned"])
        return f"(unsigned){self.rng.choice(['min', 'max'])}({self.grid_place(type_)}, {self.grid_size(type_)})"


def zero(type_):
    return {"u": "0u", "f": "0.0f", "l": "0ull", "c": "0"}[type_]


def stored(type_, expression):
    """The value as memory keeps it: no NaN and nothing huge, of which not all bits are defined."""
    if type_ == "f":
        return f"tame({expression})"
    return f"({TYPE_NAMES[type_]})({expression})"
