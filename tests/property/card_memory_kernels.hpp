#pragma once
// How the model's kernel reaches memory of GPUs from the host. Without CUDA, never called.

#include <cstddef>

namespace nuna::property {

void read_card(void* to, const void* from, std::size_t bytes);
void write_card(void* to, const void* from, std::size_t bytes);
void finish_stream(void* stream);

}  // namespace nuna::property
