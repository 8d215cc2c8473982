#pragma once
/* nvcc's __nv_atomic_* (CUDA 12.8): atomic accesses with an order and a scope. On a CPU all scopes are one. */

#include "nuna/device/intrinsics.h"
#include "nuna/device/standard.h"

enum {
  __NV_ATOMIC_RELAXED = __ATOMIC_RELAXED,
  __NV_ATOMIC_CONSUME = __ATOMIC_CONSUME,
  __NV_ATOMIC_ACQUIRE = __ATOMIC_ACQUIRE,
  __NV_ATOMIC_RELEASE = __ATOMIC_RELEASE,
  __NV_ATOMIC_ACQ_REL = __ATOMIC_ACQ_REL,
  __NV_ATOMIC_SEQ_CST = __ATOMIC_SEQ_CST
};
enum {
  __NV_THREAD_SCOPE_THREAD,
  __NV_THREAD_SCOPE_BLOCK,
  __NV_THREAD_SCOPE_CLUSTER,
  __NV_THREAD_SCOPE_DEVICE,
  __NV_THREAD_SCOPE_SYSTEM
};

/* The type of a value at a T*, which other arguments are converted to. */
template <class T>
using __nuna_atomic_value = typename std::remove_cv<T>::type;

template <class T>
NUNA_DEVICE void __nv_atomic_load(T* from, __nuna_atomic_value<T>* to, int order, int = 0) {
  __atomic_load(from, to, order);
}
template <class T>
NUNA_DEVICE __nuna_atomic_value<T> __nv_atomic_load_n(T* from, int order, int = 0) {
  return __atomic_load_n(from, order);
}
template <class T>
NUNA_DEVICE void __nv_atomic_store(T* to, __nuna_atomic_value<T>* value, int order, int = 0) {
  __atomic_store(to, value, order);
}
template <class T>
NUNA_DEVICE void __nv_atomic_store_n(T* to, __nuna_atomic_value<T> value, int order, int = 0) {
  __atomic_store_n(to, value, order);
}
template <class T>
NUNA_DEVICE void __nv_atomic_exchange(T* at, __nuna_atomic_value<T>* value, __nuna_atomic_value<T>* old,
                                      int order, int = 0) {
  __atomic_exchange(at, value, old, order);
}
template <class T>
NUNA_DEVICE __nuna_atomic_value<T> __nv_atomic_exchange_n(T* at, __nuna_atomic_value<T> value, int order,
                                                          int = 0) {
  return __atomic_exchange_n(at, value, order);
}
template <class T>
NUNA_DEVICE bool __nv_atomic_compare_exchange(T* at, __nuna_atomic_value<T>* expected,
                                              __nuna_atomic_value<T>* desired, bool weak, int success,
                                              int failure, int = 0) {
  return __atomic_compare_exchange(at, expected, desired, weak, success, failure);
}
template <class T>
NUNA_DEVICE bool __nv_atomic_compare_exchange_n(T* at, __nuna_atomic_value<T>* expected,
                                                __nuna_atomic_value<T> desired, bool weak, int success,
                                                int failure, int = 0) {
  return __atomic_compare_exchange_n(at, expected, desired, weak, success, failure);
}

#define NUNA_ATOMIC_BUILTIN(op)                                                                             \
  template <class T>                                                                                        \
  NUNA_DEVICE __nuna_atomic_value<T> __nv_atomic_fetch_##op(T* at, __nuna_atomic_value<T> value, int order, \
                                                            int = 0) {                                      \
    return __atomic_fetch_##op(at, value, order);                                                           \
  }                                                                                                         \
  template <class T>                                                                                        \
  NUNA_DEVICE void __nv_atomic_##op(T* at, __nuna_atomic_value<T> value, int order, int = 0) {              \
    (void)__atomic_fetch_##op(at, value, order);                                                            \
  }
NUNA_ATOMIC_BUILTIN(add)
NUNA_ATOMIC_BUILTIN(sub)
NUNA_ATOMIC_BUILTIN(min)
NUNA_ATOMIC_BUILTIN(max)
NUNA_ATOMIC_BUILTIN(and)
NUNA_ATOMIC_BUILTIN(or)
NUNA_ATOMIC_BUILTIN(xor)
#undef NUNA_ATOMIC_BUILTIN

NUNA_DEVICE void __nv_atomic_thread_fence(int order, int = 0) { __atomic_thread_fence(order); }
