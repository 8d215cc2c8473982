"""Random device functions that statements call."""

import dataclasses

from expressions import Expressions
from program import Place, Variable


@dataclasses.dataclass(frozen=True)
class Function:
    name: str
    arguments: str  # "uu": two integers to one; "pu": into a thread's own array; "block", "warp": collectives
    text: str
    pure: bool = True  # depends on nothing but the arguments
    template: str = ""  # choices of template arguments, separated by ";"

    def spelling(self, rng):
        return f"{self.name}<{rng.choice(self.template.split(';'))}>" if self.template else self.name


def _simple(program, text):
    """Expressions within functions see two parameters only."""
    kept = program.variables, program.arrays, program.local_arrays, program.functions
    program.variables, program.arrays, program.local_arrays, program.functions = [Variable(n, "u", True) for n in text], [], [], []
    expression = _PureExpressions(program).integer(Place(), 2, True)
    program.variables, program.arrays, program.local_arrays, program.functions = kept
    return expression


class _PureExpressions(Expressions):
    def integer_leaf(self, place, uniform):
        return self.rng.choice([v.name for v in self.p.variables] + [f"{self.rng.getrandbits(12)}u"])

    def real_leaf(self, place, uniform):
        return self.rng.choice(["0.5f", "3.0f", "-1.25f"])


def make_functions(program):
    """Some functions of each kind, whose names end in the seed."""
    rng, seed = program.rng, program.seed
    inline = rng.choice(["", "__noinline__ ", "__forceinline__ "])
    made = []

    def add(name, arguments, text, **more):
        made.append(Function(f"{name}{seed}", arguments, text.replace("@", str(seed)), **more))

    add("mix", "uu", f"__device__ {inline}unsigned mix@(unsigned a, unsigned b) {{ return {_simple(program, 'ab')}; }}")
    add("opaque", "uu", "__device__ __noinline__ unsigned opaque@(unsigned a, unsigned b) {\n"
        f"  for (unsigned i = 0; i < (b & 3u); ++i) a = {_simple(program, 'abi')};\n  return a ^ b;\n}}")
    ending = rng.choice(["", "  if (a & 3u) return state@((a & 3u) - 1u, b * 5u + threadIdx.x);\n"])
    add("state", "uu", f"__device__ __noinline__ unsigned state@(unsigned a, unsigned b) {{\n{ending}"
        "  return a * (threadIdx.x + 1u) + b * blockDim.x + threadIdx.y * 7u + blockIdx.x;\n}", pure=False)
    add("depth", "uu", "__device__ unsigned depth@(unsigned a, unsigned b) {\n"
        f"  if ((a & 7u) == 0u) return b;\n  return depth@(a & 7u ? (a & 7u) - 1u : 0u, {_simple(program, 'ab')}) + a;\n}}")
    add("power", "uu", "template <int N> __device__ unsigned power@(unsigned a, unsigned b) {\n"
        "  unsigned r = 1u;\n  for (int i = 0; i < N; ++i) r = r * a + (i & 1 ? b : ~b);\n  return r;\n}", template="1;3;4;9")
    add("typed", "uu", "template <typename N> __device__ unsigned typed@(N a, N b) {\n"
        "  N r = a;\n  r = (N)(r * (N)3 + b);\n  r = (N)(r ^ (N)(r >> 3));\n  return (unsigned)r;\n}",
        template="unsigned;unsigned short;unsigned long long;unsigned char")
    add("chosen", "uu", "__device__ unsigned chosen@(unsigned a, unsigned b) {\n"
        "  unsigned (*f)(unsigned, unsigned) = (a & 1u) ? mix@ : opaque@;\n  return f(b, a);\n}")
    add("bump", "pu", "__device__ __noinline__ void bump@(unsigned* a, unsigned count, unsigned by) {\n"
        "  for (unsigned i = 0; i < count; ++i) a[i] = a[i] * 3u + by + i;\n}")
    hint = rng.choice(["", "", "__noinline__ "])
    add("block_sum", "block", f"__device__ {hint}unsigned block_sum@(unsigned v, unsigned* s, unsigned lin, unsigned limit) {{\n"
        "  s[lin] = v;\n  __syncthreads();\n  unsigned r = 0u;\n  for (unsigned i = 0; i < limit; ++i) r = r * 3u + s[i];\n"
        "  __syncthreads();\n  return r;\n}")
    hint = rng.choice(["", "", "__noinline__ "])
    add("warp_sum", "warp", f"template <int W> __device__ {hint}unsigned warp_sum@(unsigned mask, unsigned v) {{\n"
        "  for (int d = W / 2; d > 0; d /= 2) v += __shfl_xor_sync(mask, v, d, W);\n  return v;\n}", template="2;8;16;32")
    return made
