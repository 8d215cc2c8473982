#include <atomic>

#include "nuna/instance.hpp"

namespace nuna {
inline namespace v0 {
namespace detail {

namespace {
std::atomic<bool> noted{false};
}  // namespace

void note_cuda_kernels() noexcept { noted.store(true, std::memory_order_relaxed); }
bool has_cuda_kernels() noexcept { return noted.load(std::memory_order_relaxed); }

}  // namespace detail
}  // namespace v0
}  // namespace nuna
