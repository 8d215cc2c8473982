"""Random statements in which threads work together: exchanges through memory, shuffles, votes, atomic counts."""

from expressions import stored
from program import Node


class Collectives:
    def __init__(self, program, statements):
        self.p = program
        self.rng = program.rng
        self.statements = statements

    @property
    def expressions(self):
        return self.statements.expressions

    # --- atomics: nobody sees an order ---

    def count(self, place):
        cell = f"({self.expressions.index(place, False)} % 8u)"
        value = self.expressions.integer(place, 1)
        kind = self.rng.randrange(8)
        if kind == 0:
            return Node(self.p, f"atomicAdd(&g_wide[{cell}], {self.expressions.wide(place)});")
        if kind == 1:
            return Node(self.p, f"atomicAdd(&g_sum[{cell}], (float)({value} & 15u));")
        if kind == 2:  # who gets which ticket differs, but not how often each is given
            ticket = self.p.fresh("t")
            return Node(self.p, [f"const unsigned {ticket} = atomicAdd(&d_tickets{self.p.seed}, 1u);",
                                 f"atomicAdd(&g_acc[64u + {ticket} % 16u], {ticket} % 3u + 1u);"])
        if kind == 3:
            old = self.p.fresh("o")
            return Node(self.p, [f"{{ unsigned {old}, by = {value}, *cell = &g_acc[48u + {cell}];",
                                 f"  do {old} = *(volatile unsigned*)cell; while (atomicCAS(cell, {old}, {old} + by) != {old}); }}"])
        operation, first = self.rng.choice([("Add", 0), ("Xor", 8), ("Max", 16), ("Or", 24), ("Min", 32), ("Add", 0), ("Sub", 0)])
        shared = "s_acc" not in place.readable and self.p.maybe(0.5)
        where = "s_acc" if shared else "g_acc"
        condition = f"if ({self.expressions.condition(place)}) " if self.p.maybe(0.3) else ""
        return Node(self.p, f"{condition}atomic{operation}(&{where}[{first}u + {cell}], {value});")

    def read_counts(self, place):
        """Between barriers the counts of the block stand still."""
        if "s_acc" in place.readable:
            return None
        uniform = self.p.maybe(0.5)
        found = [v for v in self.statements.assignable(place, "u") if uniform or not v.uniform]
        target = self.rng.choice(found)
        read = Node(self.p, f"{target.name} += s_acc[{self.expressions.index(place, target.uniform)} % 40u];")
        inner = place.inside(readable=place.readable | {"s_acc"})
        return Node(self.p, "{ __syncthreads();", [read] + self.statements.several(inner, 3), "__syncthreads(); }")

    # --- the block ---

    def barrier(self, place):
        """One of the barriers, and what it says put into a variable."""
        found = self.statements.assignable(place, "u")
        if not found or self.p.maybe(0.7):
            return "__syncthreads();"
        name = self.rng.choice(["count", "or", "and"])
        made_one = "" if name == "count" else " != 0"
        return f"{self.rng.choice(found).name} = (unsigned)(__syncthreads_{name}({self.expressions.condition(place)}){made_one});"

    def vote(self, place):
        return Node(self.p, self.barrier(place))

    def writable(self, place, types="uflc"):
        taken = place.readable | place.warp_readable
        return [a for a in self.p.arrays if a.type in types and a.name not in taken]

    def put(self, array, place):
        value = self.expressions.of("u" if array.type == "c" else array.type, place)
        return f"{array.name}[lin] = {stored(array.type, value)};"

    def block_exchange(self, place):
        fit = self.writable(place)
        if not fit:
            return None
        array = self.rng.choice(fit)
        put = self.put(array, place)
        if self.p.maybe(0.2):
            put = f"if ({self.expressions.condition(place)}) {put}"
        first = self.barrier(place)
        inner = place.inside(readable=place.readable | {array.name})
        children = self.statements.several(inner, 4)
        return Node(self.p, ["{ " + put, first], children, self.barrier(place) + " }")

    def reduce(self, place):
        fit = self.writable(place, "ul")
        if not fit:
            return None
        array = self.rng.choice(fit).name
        step = self.p.fresh("r")
        operator = self.rng.choice(["+=", "^="])
        head = [self.put(self._named(array), place), "__syncthreads();",
                f"for (unsigned {step} = 128u; {step} > 0u; {step} >>= 1) {{",
                f"  if (lin < {step} && lin + {step} < limit) {array}[lin] {operator} {array}[lin + {step}];",
                "  __syncthreads();", "}"]
        found = self.statements.assignable(place, "u")
        if found:
            head += [f"{self.rng.choice(found).name} += (unsigned){array}[0];", "__syncthreads();"]
        return Node(self.p, head)

    def _named(self, name):
        return next(a for a in self.p.arrays if a.name == name)

    def call(self, place):
        fit = self.writable(place, "u")
        functions = [f for f in self.p.functions if f.arguments == "block"]
        if not fit or not functions:
            return None
        target = self.statements.target(place, "u")
        return Node(self.p, f"{target.name} ^= {functions[0].name}({self.expressions.integer(place)}, "
                            f"{self.rng.choice(fit).name}, lin, limit);")

    def ping_pong(self, place):
        """Two halves in turn, one barrier an iteration."""
        turn = self.p.fresh("i")
        target = self.statements.target(place, "u", divergent=True)
        count = f"(int)({self.expressions.integer(place, 1, True)} % 4u)"
        where = self.rng.choice(["(lin + 1u) % limit", "limit - 1u - lin", f"{self.expressions.integer(place, 1)} % limit"])
        return Node(self.p, [f"for (int {turn} = {count}; {turn} >= 0; --{turn}) {{",
                             f"  pp[({turn} & 1) * 256 + lin] = {self.expressions.integer(place)};", "  __syncthreads();",
                             f"  {target.name} += pp[({turn} & 1) * 256 + ({where})];", "}", "__syncthreads();"])

    # --- the warp ---

    def warp_value(self, place):
        target = self.statements.target(place, "ufl", divergent=True)
        mask, name = place.mask, target.name
        width = self.rng.choice([32, 32, 16, 8, 4, 2])
        if target.type != "u" or self.p.maybe(0.5):
            value = stored(target.type, self.expressions.of(target.type, place))
            kind = self.rng.choice(["__shfl_sync", "__shfl_xor_sync", "__shfl_up_sync", "__shfl_down_sync"])
            by = str(self.rng.randrange(32)) if self.p.maybe(0.6) else f"({self.expressions.index(place, False)} & 31u)"
            if kind == "__shfl_xor_sync":
                by = str(self.rng.choice([1, 2, 3, 4, 8, 16, 31]))
            return Node(self.p, f"{name} = {kind}({mask}, {value}, {by}, {width});")
        kind = self.rng.randrange(6)
        if kind == 0:
            return Node(self.p, f"{name} = __ballot_sync({mask}, {self.expressions.condition(place)});")
        if kind == 1:
            vote = self.rng.choice(["__any_sync", "__all_sync"])
            return Node(self.p, f"{name} += {vote}({mask}, {self.expressions.condition(place)}) != 0;")
        if kind == 2:
            operation, value = self.rng.choice(["add", "min", "max", "xor", "or"]), self.expressions.integer(place)
            return Node(self.p, f"{name} = __reduce_{operation}_sync({mask}, {value});")
        if kind == 3:
            return Node(self.p, f"{name} ^= __match_any_sync({mask}, {self.expressions.integer(place)} & 3u);")
        if kind == 4 and place.whole_warp:
            step = self.p.fresh("d")
            return Node(self.p, f"for (int {step} = 16; {step} > 0; {step} >>= 1) "
                                f"{name} += __shfl_down_sync({mask}, {name}, {step});")
        functions = [f for f in self.p.functions if f.arguments == "warp"]
        return Node(self.p, f"{name} = {functions[0].spelling(self.rng)}({mask}, {self.expressions.integer(place)});")

    def meet_in_arms(self, place):
        """Lanes part, and those of all arms take part in the same exchanges, each with a value of its own."""
        alone = place.inside(converged=False, mask="", whole_warp=False, loop=None)
        target = self.statements.target(place, "ufl", divergent=True)
        rounds = [self._exchange_of(target, place.mask) for _ in range(self.rng.randint(1, 3))]
        arms = []
        for _ in range(self.rng.randint(2, 3)):
            arm = []
            for exchange in rounds:
                if self.p.maybe(0.4):
                    arm += self.statements.several(alone, 2)
                arm.append(Node(self.p, exchange(alone), needed=True))
            arms.append(arm)
        lines = [f"if ({self.expressions.condition(place)}) {{"]
        nodes = [Node(self.p, lines, arms[0], needed=True)]
        for arm in arms[1:-1]:
            nodes.append(Node(self.p, f"}} else if ({self.expressions.condition(place)}) {{", arm, needed=True))
        nodes.append(Node(self.p, "} else {", arms[-1], "}", needed=True))
        return Node(self.p, "{", nodes, "}")

    def _exchange_of(self, target, mask):
        """The same kind of exchange in every arm: of its text for a place."""
        shuffle, by = self.rng.choice(["__shfl_sync", "__shfl_xor_sync", "__shfl_up_sync", "__shfl_down_sync"]), self.rng.randrange(1, 32)
        if target.type != "u" or self.p.maybe(0.6):
            return lambda place: (f"{target.name} = {shuffle}({mask}, "
                                  f"{stored(target.type, self.expressions.of(target.type, place))}, {by});")
        return self.rng.choice([
            lambda place: f"{target.name} = __ballot_sync({mask}, {self.expressions.condition(place)});",
            lambda place: f"{target.name} += __any_sync({mask}, {self.expressions.condition(place)}) != 0;",
            lambda place: f"{target.name} ^= __reduce_add_sync({mask}, {self.expressions.integer(place)});",
            lambda place: f"{target.name} ^= __match_any_sync({mask}, {self.expressions.integer(place)} & 3u);"])

    def warp_exchange(self, place):
        fit = self.writable(place)
        if not fit or not place.whole_warp:
            return None
        array = self.rng.choice(fit)
        put = self.put(array, place)
        inner = place.inside(warp_readable=place.warp_readable | {array.name})
        children = self.statements.several(inner, 3)
        return Node(self.p, ["{ " + put, f"__syncwarp({place.mask});"], children, f"__syncwarp({place.mask}); }}")
