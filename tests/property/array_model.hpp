#pragma once
// The plain array model: what buffers are, if there were one memory and one processor.
//
// A buffer is a dense array of bytes and, for each byte, whether anybody wrote it; bytes that nobody wrote have no value.
// The kernel is the same function here and on the devices: it folds what each thread may read into a number and writes
// numbers made of it, so that one wrong byte anywhere spreads.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "nuna/context.hpp"
#include "nuna/instance.hpp"
#include "property/generate.hpp"

namespace nuna::property {

using Bytes = std::vector<unsigned char>;

struct Array {
  base::Shape shape;
  Bytes bytes;
  Bytes written;  ///< per byte, 0 or 1

  explicit Array(const base::Shape& of)
      : shape(of),
        bytes(static_cast<std::size_t>(of.bytes())),
        written(static_cast<std::size_t>(of.bytes())) {}
  void put(Index at, unsigned char value) {
    bytes[static_cast<std::size_t>(at)] = value;
    written[static_cast<std::size_t>(at)] = 1;
  }
  bool has(Index at) const { return written[static_cast<std::size_t>(at)] != 0; }
  unsigned char at(Index byte) const { return bytes[static_cast<std::size_t>(byte)]; }
};

/// The kernel of all launches; a closure that devices share.
class HashKernel {
 public:
  struct Argument {
    UseSpec use;
    base::Shape shape;
    Bytes written;  ///< before the launch: what has no value is not read
  };
  HashKernel(const LaunchSpec& launch, const std::vector<Array>& arrays, std::uint64_t salt);

  /// For the CPU by thread; for GPUs by part, on the host, which reaches their memory byte by byte.
  static detail::KernelCode code(DeviceKind kind);
  /// A detail::RunFunction.
  static void run(const void* closure, const Box& threads, const detail::InstanceView* views);
  /// The launch on the model.
  void apply(const Box& domain, std::vector<Array>& arrays) const;

 private:
  static void run_part(const void* closure, const Box& threads, const detail::InstanceView* views,
                       const detail::PartPlace& place);
  void perform(const Box& threads, const detail::InstanceView* views, std::vector<Array>* model) const;
  std::uint64_t digest(const Box& thread, const detail::InstanceView* views) const;
  void write(const Box& thread, std::uint64_t digest, std::size_t argument, const detail::InstanceView& view,
             Array* model) const;

  std::vector<Argument> arguments_;
  std::uint64_t salt_;
};

}  // namespace nuna::property
