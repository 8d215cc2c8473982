#include "device/stream_copy.hpp"

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace nuna::device {

#if defined(__x86_64__)
namespace {

constexpr std::size_t kLine = 64;

__attribute__((target("avx512f"))) void stream_lines_512(std::byte* to, const std::byte* from,
                                                         std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += kLine)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + i), _mm512_loadu_si512(from + i));
}

__attribute__((target("avx"))) void stream_lines_256(std::byte* to, const std::byte* from,
                                                     std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += kLine) {
    const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i));
    const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i + kLine / 2));
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i), a);
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i + kLine / 2), b);
  }
}

void stream_lines_128(std::byte* to, const std::byte* from, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += sizeof(__m128i)) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
  }
}

using StreamLines = void (*)(std::byte*, const std::byte*, std::size_t);
StreamLines widest() {
  if (__builtin_cpu_supports("avx512f")) return &stream_lines_512;
  if (__builtin_cpu_supports("avx")) return &stream_lines_256;
  return &stream_lines_128;
}

}  // namespace

void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  static const StreamLines stream_lines = widest();
  const std::size_t head = (kLine - reinterpret_cast<std::uintptr_t>(to) % kLine) % kLine;
  if (bytes < head + kLine) {
    std::memcpy(to, from, bytes);
    return;
  }
  std::memcpy(to, from, head);
  const std::size_t lines = (bytes - head) / kLine * kLine;
  stream_lines(to + head, from + head, lines);
  _mm_sfence();
  std::memcpy(to + head + lines, from + head + lines, bytes - head - lines);
}
#else
void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
#endif

}  // namespace nuna::device
