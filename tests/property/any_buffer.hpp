#pragma once
// A nuna::Buffer of any element size and number of axes, so that random programs can be written over the public API.

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "nuna/nuna.hpp"
#include "property/array_model.hpp"

namespace nuna::property {

/// Elements and bytes of a buffer, packed row by row.
class AnyBuffer {
 public:
  virtual ~AnyBuffer() = default;

  virtual const detail::BufferHandle& handle() const = 0;
  virtual void fill(Context& context, const Box& box, const unsigned char* value) = 0;
  /// From a buffer of the same element size.
  virtual void copy_from(Context& context, const Box& box, AnyBuffer& from, const Box& from_box) = 0;

  virtual Bytes read(const Box& box) = 0;
  virtual void write(const Box& box, const Bytes& bytes) = 0;
  /// A read-write view: `changes` are packed bytes' new values.
  virtual void change(const Box& box, const std::vector<std::pair<Index, unsigned char>>& changes) = 0;
  virtual Bytes read_at(int rank, const Box& box) = 0;
  virtual Bytes read_local(const Box& box) = 0;
  virtual std::vector<Box> local_boxes() = 0;

  virtual Bytes read_bytes(Interval bytes) = 0;
  virtual void write_bytes(Interval bytes, const Bytes& values) = 0;
  /// `changes` are the buffer's bytes and their new values.
  virtual void change_bytes(Interval bytes, const std::vector<std::pair<Index, unsigned char>>& changes) = 0;
  virtual unsigned char* address() = 0;
  virtual void fence(Context& context) = 0;
};

std::unique_ptr<AnyBuffer> make_buffer(Context& context, const base::Shape& shape);

}  // namespace nuna::property
