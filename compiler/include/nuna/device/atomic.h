#pragma once
/* CUDA's atomic functions, relaxed as CUDA's are, on exactly CUDA's types: programs overload these names for others of their own.
 * The scopes (_block, _system) do not differ on a CPU. */

#include "nuna/device/intrinsics.h"

/* A function in all three scopes. */
#define NUNA_ATOMIC_2(name, type, body)                                                            \
  NUNA_DEVICE type name(type* address, type value){body} NUNA_DEVICE type name##_block(            \
      type* address, type value){body} NUNA_DEVICE type name##_system(type* address, type value) { \
    body                                                                                           \
  }

#define NUNA_ATOMIC_FETCH(name, type, builtin) \
  NUNA_ATOMIC_2(name, type, return builtin(address, value, __ATOMIC_RELAXED);)
#define NUNA_ATOMIC_INTEGERS(name, builtin) \
  NUNA_ATOMIC_FETCH(name, int, builtin)     \
  NUNA_ATOMIC_FETCH(name, unsigned, builtin) NUNA_ATOMIC_FETCH(name, unsigned long long, builtin)

NUNA_ATOMIC_INTEGERS(atomicAdd, __atomic_fetch_add)
NUNA_ATOMIC_FETCH(atomicAdd, float, __atomic_fetch_add)
NUNA_ATOMIC_FETCH(atomicAdd, double, __atomic_fetch_add)
NUNA_ATOMIC_FETCH(atomicSub, int, __atomic_fetch_sub)
NUNA_ATOMIC_FETCH(atomicSub, unsigned, __atomic_fetch_sub)
NUNA_ATOMIC_INTEGERS(atomicMin, __atomic_fetch_min)
NUNA_ATOMIC_FETCH(atomicMin, long long, __atomic_fetch_min)
NUNA_ATOMIC_INTEGERS(atomicMax, __atomic_fetch_max)
NUNA_ATOMIC_FETCH(atomicMax, long long, __atomic_fetch_max)
NUNA_ATOMIC_INTEGERS(atomicAnd, __atomic_fetch_and)
NUNA_ATOMIC_INTEGERS(atomicOr, __atomic_fetch_or)
NUNA_ATOMIC_INTEGERS(atomicXor, __atomic_fetch_xor)
NUNA_ATOMIC_INTEGERS(atomicExch, __atomic_exchange_n)
NUNA_ATOMIC_2(atomicExch, float,
              return __builtin_bit_cast(float, __atomic_exchange_n((unsigned*)address,
                                                                   __builtin_bit_cast(unsigned, value),
                                                                   __ATOMIC_RELAXED));)

/* The value there, replaced by `next` of it. */
#define NUNA_ATOMIC_LOOP(type, next)                                                                     \
  type old = __atomic_load_n(address, __ATOMIC_RELAXED);                                                 \
  while (!__atomic_compare_exchange_n(address, &old, (next), true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)); \
  return old;
NUNA_ATOMIC_2(atomicInc, unsigned, NUNA_ATOMIC_LOOP(unsigned, old >= value ? 0u : old + 1u))
NUNA_ATOMIC_2(atomicDec, unsigned, NUNA_ATOMIC_LOOP(unsigned, old == 0u || old > value ? value : old - 1u))

#define NUNA_ATOMIC_CAS_ONE(name, type)                                                                  \
  NUNA_DEVICE type name(type* address, type expected, type desired) {                                    \
    __atomic_compare_exchange_n(address, &expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED); \
    return expected;                                                                                     \
  }
#define NUNA_ATOMIC_CAS(type)          \
  NUNA_ATOMIC_CAS_ONE(atomicCAS, type) \
  NUNA_ATOMIC_CAS_ONE(atomicCAS_block, type) NUNA_ATOMIC_CAS_ONE(atomicCAS_system, type)
NUNA_ATOMIC_CAS(int)
NUNA_ATOMIC_CAS(unsigned)
NUNA_ATOMIC_CAS(unsigned long long)
NUNA_ATOMIC_CAS(unsigned short)

#undef NUNA_ATOMIC_CAS
#undef NUNA_ATOMIC_CAS_ONE
#undef NUNA_ATOMIC_LOOP
#undef NUNA_ATOMIC_INTEGERS
#undef NUNA_ATOMIC_FETCH
#undef NUNA_ATOMIC_2
