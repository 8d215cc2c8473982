#include "property/card_memory_kernels.hpp"

#include <stdexcept>

namespace nuna::property {
namespace {

[[maybe_unused]] void require(bool done) {
  if (!done) throw std::runtime_error("a GPU's memory cannot be reached");
}

}  // namespace

#if defined(__CUDACC__)
void read_card(void* to, const void* from, std::size_t bytes) {
  require(cudaMemcpy(to, from, bytes, cudaMemcpyDefault) == cudaSuccess);
}
void write_card(void* to, const void* from, std::size_t bytes) { read_card(to, from, bytes); }
void finish_stream(void* stream) {
  require(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)) == cudaSuccess);
}
#else
void read_card(void*, const void*, std::size_t) { require(false); }
void write_card(void*, const void*, std::size_t) { require(false); }
void finish_stream(void*) { require(false); }
#endif

}  // namespace nuna::property
