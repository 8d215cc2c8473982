"""One random kernel as CUDA text, with the launches that run it."""

import random

from expressions import Expressions, stored
from functions import make_functions
from program import TYPE_NAMES, Place, Program, SharedArray
from statements import Statements, first_values

PLACES = 256  # of an array of the block: the most threads that a block has
SMALL_SHAPES = [(1, 1, 1), (7, 1, 1), (31, 1, 1), (33, 1, 1), (45, 1, 1), (100, 1, 1), (5, 3, 1), (16, 5, 1), (3, 3, 3), (33, 3, 1),
                (2, 5, 7), (65, 2, 1), (12, 9, 1), (8, 4, 3)]
USUAL_SHAPES = [(32, 1, 1), (64, 1, 1), (128, 1, 1), (96, 1, 1), (16, 4, 1), (32, 3, 1), (16, 8, 1), (8, 8, 1), (64, 2, 1), (32, 2, 2)]
GRIDS = [(1, 1, 1), (2, 1, 1), (3, 1, 1), (2, 2, 1), (1, 2, 2), (5, 1, 1), (7, 1, 1), (4, 3, 1), (2, 3, 3)]


class Kernel:
    def __init__(self, seed):
        self.seed = seed
        self.rng = random.Random(seed)
        self.p = Program(seed, self.rng)
        self.p.functions = make_functions(self.p)
        self.template = self.rng.random() < 0.5
        self.shapes = [(self.rng.choice(SMALL_SHAPES), self.rng.choice(GRIDS)), (self.rng.choice(USUAL_SHAPES), self.rng.choice(GRIDS))]
        self.declarations = []
        self._choose_arrays()
        self.beginning = self._beginning()
        statements = Statements(self.p)
        self.body = first_values(statements, Place(), self.rng.randint(4, 7))
        # Every type has a variable that threads do not share.
        for type_ in "ufl":
            self._plain_value(statements, type_)
        left = self.rng.randint(4, 11)
        while left > 0:
            left -= self._top_level(statements, left)

    def _top_level(self, statements, most):
        """A statement in the kernel's own scope, where what it declares lasts; says how much it took."""
        share = self.p.budget = min(most, self.rng.randint(2, 9))
        node = statements.one(Place())
        self.body += [node] if node is not None else []
        return share - self.p.budget + 1

    def _plain_value(self, statements, type_):
        while not [v for v in self.p.visible(type_) if not v.uniform]:
            self.body += first_values(statements, Place(), 1)

    def _choose_arrays(self):
        """Static and dynamic memory of the block, and memory of the device that a block uses like that."""
        types = self.rng.sample(["u", "f", "l", "c", "u"], self.rng.randint(1, 3)) + ["u"]
        for i, type_ in enumerate(types):
            name = f"s{i}"
            self.p.arrays.append(SharedArray(name, type_))
            self.declarations.append(f"__shared__ {TYPE_NAMES[type_]} {name}[{PLACES}];")
        if self.rng.random() < 0.5:
            self.declarations += [f"DYNAMIC_SHARED(dynamic{self.seed});", f"unsigned* const y0 = (unsigned*)dynamic{self.seed};",
                                  f"float* const y1 = (float*)(y0 + {PLACES});"]
            self.p.arrays += [SharedArray("y0", "u"), SharedArray("y1", "f")]
        if self.rng.random() < 0.4:
            self.declarations.append(f"unsigned* const gx = scratch + block * {PLACES};")
            self.p.arrays.append(SharedArray("gx", "u"))
        self.declarations += ["__shared__ unsigned s_acc[40];", f"__shared__ unsigned pp[{2 * PLACES}];"]

    def _beginning(self):
        early = self.rng.random()
        lines = ["unsigned mk = 0xffffffffu;"]
        if early < 0.3:
            lines += ["const unsigned limit = T > 5u ? T - 3u : T;"]
            if early < 0.15:
                lines += ["mk = __ballot_sync(mk, lin < limit);"]
            lines += ["if (lin >= limit) return;"]
        else:
            lines += ["const unsigned limit = T;"]
        simple = Expressions(self.p)
        arrays, self.p.arrays = self.p.arrays, []
        lines += [f"{a.name}[lin] = {stored(a.type, simple.of('u' if a.type == 'c' else a.type, Place(), 1))};" for a in arrays]
        self.p.arrays = arrays
        return lines + ["for (unsigned q = lin; q < 40u; q += limit) s_acc[q] = q < 32u ? 0u : ~0u;", "__syncthreads();"]

    def _ending(self):
        lines = []
        integers = [v for v in self.p.variables if v.type != "f"]
        for slot, v in enumerate(integers, 2):
            value = v.name if v.type == "u" else f"(unsigned)({v.name} ^ ({v.name} >> 32))"
            lines.append(f"out_u[{slot}u * total + gid] = {value};")
        for slot, v in enumerate([v for v in self.p.variables if v.type == "f"], 1):
            lines.append(f"out_f[{slot}u * total + gid] = {v.name};")
        return lines + ["__syncthreads();", "for (unsigned q = lin; q < 40u; q += T) atomicAdd(&g_acc[80u + q], s_acc[q]);"]

    def numbers(self):
        return [number for node in self.body for number in node.numbers()]

    def text(self, dropped=frozenset()):
        seed, rng = self.seed, random.Random(self.seed + 1)
        restrict = rng.choice(["", " __restrict__"])
        head = "template <int K> " if self.template else ""
        lines = [f"__constant__ unsigned c_table{seed}[16] = {{{', '.join(f'{rng.getrandbits(32)}u' for _ in range(16))}}};",
                 f"__device__ unsigned d_tickets{seed};"]
        lines += [f.text for f in self.p.functions]
        lines += [f"{head}__global__ void kernel{seed}(const Parameters p, const unsigned*{restrict} in_u, const float*{restrict} in_f,",
                  "    unsigned* out_u, float* out_f, unsigned* g_acc, unsigned long long* g_wide, float* g_sum, unsigned* scratch,",
                  "    unsigned n) {"]
        inner = [] if self.template else ["constexpr int K = 5;"]
        inner += ["const unsigned T = blockDim.x * blockDim.y * blockDim.z;",
                  "const unsigned lin = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), lane = lin & 31u;",
                  "const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);",
                  "const unsigned gid = block * T + lin, total = T * gridDim.x * gridDim.y * gridDim.z;"]
        inner += self.declarations + self.beginning
        lines += ["  " + line for line in inner]
        lines += [line for node in self.body for line in node.lines(dropped)]
        return lines + ["  " + line for line in self._ending()] + ["}"] + self._run()

    def _run(self):
        lines = [f"static void run{self.seed}(bool dump) {{"]
        name = f"kernel{self.seed}" + ("<3>" if self.template else "")
        for number, (block, grid) in enumerate(self.shapes):
            lines += [f"  {{ Launch launch({self.seed}, {number}, dim3{grid}, dim3{block}, {PLACES * 8});",
                      f"    LAUNCH({name}, launch, launch.parameters(), launch.in_u, launch.in_f, launch.out_u, launch.out_f, launch.g_acc,",
                      "           launch.g_wide, launch.g_sum, launch.scratch, launch.inputs);",
                      "    launch.finish(dump); }"]
        return lines + ["}"]
