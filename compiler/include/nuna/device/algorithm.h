#pragma once
/* std::swap, std::min and std::max where this C++ standard does not make them constexpr (what is constexpr is on both sides). */

#include <bits/stl_algobase.h>

#if __cplusplus < 202002L
namespace std {
_GLIBCXX_BEGIN_NAMESPACE_VERSION
template <class T>
__device__ inline void swap(T& a, T& b) {
  T t = std::move(a);
  a = std::move(b);
  b = std::move(t);
}
#if __cplusplus < 201402L
template <class T>
__device__ inline const T& min(const T& a, const T& b) {
  return b < a ? b : a;
}
template <class T>
__device__ inline const T& max(const T& a, const T& b) {
  return a < b ? b : a;
}
#endif
_GLIBCXX_END_NAMESPACE_VERSION
}  // namespace std
#endif
