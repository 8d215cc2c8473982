#pragma once
// What the device allows, as CUDA tells of devices of compute capability 8.0 and 9.0.

#include <array>
#include <cstddef>
#include <cstdint>

namespace nuna::cudart::limits {

constexpr std::array<std::uint32_t, 3> kGrid{2147483647u, 65535u, 65535u};
constexpr std::array<std::uint32_t, 3> kBlock{1024u, 1024u, 64u};
constexpr std::uint32_t kThreadsPerBlock = 1024;
constexpr std::uint32_t kThreadsPerMultiprocessor = 2048;
constexpr std::uint32_t kBlocksPerMultiprocessor = 32;
constexpr std::size_t kSharedBytes = std::size_t{48} << 10;       // of a block, without asking
constexpr std::size_t kMostSharedBytes = std::size_t{227} << 10;  // with cudaFuncSetAttribute
constexpr std::size_t kMultiprocessorShared = std::size_t{228} << 10;
constexpr std::size_t kConstantBytes = std::size_t{64} << 10;
constexpr std::size_t kMostPitchBytes = 2147483647;
constexpr std::size_t kPitchAlignment = 512;  // of cudaMallocPitch
constexpr std::size_t kTextureAlignment = 512;
constexpr int kMajor = 8;
constexpr int kMinor = 0;

}  // namespace nuna::cudart::limits
