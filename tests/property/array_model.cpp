#include "property/array_model.hpp"

#include <algorithm>

#include "property/card_memory_kernels.hpp"

namespace nuna::property {
namespace {

detail::InstanceView view_of(Array& a) {
  detail::InstanceView v;
  v.origin = reinterpret_cast<char*>(a.bytes.data());
  const Extents& e = a.shape.extents;
  v.stride_bytes = {e[1] * e[2] * a.shape.element_bytes, e[2] * a.shape.element_bytes, a.shape.element_bytes};
  v.extents = e;
  return v;
}

template <class F>
void for_each_touched(const UseSpec& use, const base::Shape& shape, const detail::InstanceView& view,
                      const Box& thread, F f) {
  static thread_local std::vector<Box> boxes;
  boxes.clear();
  use.map.per_thread(thread, boxes);
  for (const Box& b : boxes) {
    for (Index i = b[0].begin; i < b[0].end; ++i) {
      for (Index j = b[1].begin; j < b[1].end; ++j) {
        for (Index k = b[2].begin; k < b[2].end; ++k) {
          f(element_number(shape.extents, i, j, k),
            view.origin + i * view.stride_bytes[0] + j * view.stride_bytes[1] + k * view.stride_bytes[2]);
        }
      }
    }
  }
}

// Bytes of an instance: on the CPU they are there.
thread_local bool on_card = false;

void load(char* to, const char* from, Index bytes) {
  if (on_card) return read_card(to, from, static_cast<std::size_t>(bytes));
  std::copy_n(from, bytes, to);
}
void store(char* to, const char* from, Index bytes) {
  if (on_card) return write_card(to, from, static_cast<std::size_t>(bytes));
  std::copy_n(from, bytes, to);
}

}  // namespace

detail::KernelCode HashKernel::code(DeviceKind kind) {
  detail::KernelCode code;
  if (kind != DeviceKind::cuda) {
    code.run = &run;
    return code;
  }
  code.form = detail::Form::parts;
  code.part = &run_part;
  return code;
}

void HashKernel::run(const void* closure, const Box& threads, const detail::InstanceView* views) {
  static_cast<const HashKernel*>(closure)->perform(threads, views, nullptr);
}

void HashKernel::run_part(const void* closure, const Box& threads, const detail::InstanceView* views,
                          const detail::PartPlace& place) {
  on_card = place.stream != nullptr;
  if (on_card) finish_stream(place.stream);  // what came before is on it
  run(closure, threads, views);
  on_card = false;
}

HashKernel::HashKernel(const LaunchSpec& launch, const std::vector<Array>& arrays, std::uint64_t salt)
    : salt_(salt) {
  for (const UseSpec& use : launch.uses) {
    const Array& a = arrays[static_cast<std::size_t>(use.buffer)];
    arguments_.push_back({use, a.shape, a.written});
  }
}

void HashKernel::apply(const Box& domain, std::vector<Array>& arrays) const {
  std::vector<detail::InstanceView> views;
  for (const Argument& a : arguments_)
    views.push_back(view_of(arrays[static_cast<std::size_t>(a.use.buffer)]));
  perform(domain, views.data(), &arrays);
}

// All reads, then all writes: an argument may read what another one overwrites.
void HashKernel::perform(const Box& threads, const detail::InstanceView* views,
                         std::vector<Array>* model) const {
  std::vector<std::uint64_t> digests;
  for_each_thread(threads, [&](const Box& thread) { digests.push_back(digest(thread, views)); });
  std::size_t next = 0;
  for_each_thread(threads, [&](const Box& thread) {
    const std::uint64_t d = digests[next++];
    for (std::size_t a = 0; a < arguments_.size(); ++a) {
      if (!arguments_[a].use.writes) continue;
      Array* array =
          model == nullptr ? nullptr : &(*model)[static_cast<std::size_t>(arguments_[a].use.buffer)];
      write(thread, d, a, views[a], array);
    }
  });
}

std::uint64_t HashKernel::digest(const Box& thread, const detail::InstanceView* views) const {
  std::uint64_t d = salt_;
  for (std::size_t a = 0; a < arguments_.size(); ++a) {
    const Argument& argument = arguments_[a];
    if (!argument.use.reads) continue;
    const Index size = argument.shape.element_bytes;
    std::vector<char> bytes(static_cast<std::size_t>(size));
    for_each_touched(argument.use, argument.shape, views[a], thread, [&](Index element, const char* address) {
      load(bytes.data(), address, size);
      for (Index b = 0; b < size; ++b) {
        if (argument.written[static_cast<std::size_t>(element * size + b)] == 0) continue;
        d = (d ^ static_cast<unsigned char>(bytes[static_cast<std::size_t>(b)])) * 0x100000001b3U;
        d ^= d >> 31;
      }
    });
  }
  return d;
}

void HashKernel::write(const Box& thread, std::uint64_t digest, std::size_t argument,
                       const detail::InstanceView& view, Array* model) const {
  const Argument& a = arguments_[argument];
  const Index size = a.shape.element_bytes;
  std::vector<char> bytes(static_cast<std::size_t>(size));
  for_each_touched(a.use, a.shape, view, thread, [&](Index element, char* address) {
    const std::uint64_t value = mixed(digest + argument, static_cast<std::uint64_t>(element));
    if (a.use.may && value % 3 == 0) return;
    for (Index b = 0; b < size; ++b) {
      const auto byte = static_cast<unsigned char>(mixed(value + static_cast<std::uint64_t>(b)));
      bytes[static_cast<std::size_t>(b)] = static_cast<char>(byte);
      if (model != nullptr) model->put(element * size + b, byte);
    }
    store(address, bytes.data(), size);
  });
}

}  // namespace nuna::property
