#pragma once
/* Loads and stores with hints to a GPU's caches, which are plain ones here, and questions about address spaces: there is one. */

#include <stddef.h>

#include "nuna/device/intrinsics.h"

#define NUNA_LOAD(name)                  \
  template <class T>                     \
  NUNA_DEVICE T name(const T* address) { \
    return *address;                     \
  }
#define NUNA_STORE(name)                       \
  template <class T>                           \
  NUNA_DEVICE void name(T* address, T value) { \
    *address = value;                          \
  }
NUNA_LOAD(__ldg)
NUNA_LOAD(__ldca)
NUNA_LOAD(__ldcg)
NUNA_LOAD(__ldcs)
NUNA_LOAD(__ldlu)
NUNA_STORE(__stwb)
NUNA_STORE(__stcg)
NUNA_STORE(__stcs)
NUNA_STORE(__stwt)
#undef NUNA_LOAD
#undef NUNA_STORE
/* Read anew each time: programs wait with it for what others write. */
template <class T>
NUNA_DEVICE T __ldcv(const T* address) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  return *address;
}

/* Every pointer counts as one to global memory. */
NUNA_DEVICE unsigned __isGlobal(const void*) { return 1; }
NUNA_DEVICE unsigned __isShared(const void*) { return 0; }
NUNA_DEVICE unsigned __isConstant(const void*) { return 0; }
NUNA_DEVICE unsigned __isLocal(const void*) { return 0; }
NUNA_DEVICE unsigned __isGridConstant(const void*) { return 0; }

#define NUNA_SPACE(space)                                                                       \
  NUNA_DEVICE size_t __cvta_generic_to_##space(const void* pointer) { return (size_t)pointer; } \
  NUNA_DEVICE void* __cvta_##space##_to_generic(size_t address) { return (void*)address; }
NUNA_SPACE(global)
NUNA_SPACE(shared)
NUNA_SPACE(constant)
NUNA_SPACE(local)
#undef NUNA_SPACE
