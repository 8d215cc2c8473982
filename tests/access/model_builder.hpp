#pragma once
// Models of kernels in tests, written as the kernel's arithmetic is.

#include <algorithm>
#include <initializer_list>
#include <utility>
#include <vector>

#include "access/kernel_model.hpp"
#include "access/polyhedral.hpp"

namespace nuna::access::test {

/// A polynomial; products of two variables are not.
struct Sum {
  Polynomial terms;
  Sum(std::int64_t constant) {  // NOLINT(google-explicit-constructor)
    if (constant != 0) terms.push_back({constant, {}, kNoVariable});
  }
  explicit Sum(Polynomial polynomial) : terms(std::move(polynomial)) {}
};
inline Sum operator+(Sum a, const Sum& b) {
  a.terms.insert(a.terms.end(), b.terms.begin(), b.terms.end());
  return a;
}
inline Sum operator*(const Sum& a, const Sum& b) {
  Sum product(Polynomial{});
  for (const Term& s : a.terms) {
    for (const Term& t : b.terms) {
      Term& term = product.terms.emplace_back(s);
      term.factor *= t.factor;
      term.parameters.insert(term.parameters.end(), t.parameters.begin(), t.parameters.end());
      std::sort(term.parameters.begin(), term.parameters.end());
      term.variable = std::max(s.variable, t.variable);
    }
  }
  return product;
}
inline Sum operator-(const Sum& a, const Sum& b) { return a + Sum(-1) * b; }

inline Sum parameter(int index) {
  return Sum(Polynomial{{1, {static_cast<std::uint16_t>(index)}, kNoVariable}});
}
inline Sum variable(int index) { return Sum(Polynomial{{1, {}, index}}); }
inline Sum block(int axis) { return variable(kBlockIndex + axis); }
inline Sum thread(int axis) { return variable(kThreadIndex + axis); }
inline Sum extra(int index) { return variable(kExtra + index); }
inline Sum block_size(int axis) { return parameter(kBlockSize + axis); }
inline Sum grid_size(int axis) { return parameter(kGridSize + axis); }
inline Sum scalar(int index) { return parameter(kScalars + index); }
/// blockIdx * blockDim + threadIdx.
inline Sum global(int axis) { return block_size(axis) * block(axis) + thread(axis); }

inline Constraint operator<(const Sum& a, const Sum& b) { return {(b - a - 1).terms, false}; }
inline Constraint operator<=(const Sum& a, const Sum& b) { return {(b - a).terms, false}; }
inline Constraint operator>=(const Sum& a, const Sum& b) { return {(a - b).terms, false}; }
inline Constraint operator==(const Sum& a, const Sum& b) { return {(a - b).terms, true}; }

using Domain = std::vector<Constraint>;

/// A kernel of `pointers` pointers; each access gets the next line.
class Kernel {
 public:
  explicit Kernel(std::uint32_t pointers = 3) {
    for (int axis = 0; axis < 6; ++axis) {
      auto& p = model_.parameters.emplace_back();
      p.kind = axis < 3 ? Parameter::Kind::block_size : Parameter::Kind::grid_size;
      p.axis = axis % 3;
    }
    for (std::uint32_t i = 0; i < pointers; ++i) model_.pointers.push_back({i, 0, ""});
  }

  /// `at` counts elements of `bytes`.
  Kernel& reads(std::uint32_t pointer, const Sum& at, Domain domain = {}, std::uint32_t bytes = 4) {
    return touches(Access::Kind::read, pointer, at * Sum(bytes), std::move(domain), bytes);
  }
  Kernel& writes(std::uint32_t pointer, const Sum& at, Domain domain = {}, std::uint32_t bytes = 4) {
    return touches(Access::Kind::write, pointer, at * Sum(bytes), std::move(domain), bytes);
  }
  Kernel& touches(Access::Kind kind, std::uint32_t pointer, std::optional<Sum> first_byte, Domain domain = {},
                  std::uint32_t bytes = 4) {
    Access& access = model_.accesses.emplace_back();
    access.kind = kind;
    access.pointer = pointer;
    access.bytes = bytes;
    if (first_byte) access.first_byte = first_byte->terms;
    access.extra = extra_;
    access.domain = std::move(domain);
    access.at = next_line();
    return *this;
  }
  /// Of the last access.
  Kernel& maybe() {
    model_.accesses.back().exact = false;
    return *this;
  }
  /// Of what follows.
  Kernel& with_extra(int count) {
    extra_ = count;
    return *this;
  }
  Kernel& assumes(const Sum& value, Domain domain = {}, int bits = 32, bool is_signed = true) {
    model_.assumptions.push_back({value.terms, bits, is_signed, extra_, std::move(domain), next_line()});
    return *this;
  }
  Kernel& refused(const char* reason) {
    model_.refusals.push_back({reason, next_line()});
    return *this;
  }

  /// With as many scalars as the launch has.
  LaunchAccess at(const LaunchNumbers& numbers) const {
    KernelModel model = model_;
    model.parameters.resize(kScalars + numbers.scalars.size());
    return {model, numbers};
  }
  const KernelModel& model() const { return model_; }

 private:
  SourceLine next_line() { return {"kernel.cu", ++lines_}; }

  KernelModel model_;
  int extra_ = 0;
  std::uint32_t lines_ = 0;
};

/// All of the grid but these blocks of one axis.
inline BlockBox blocks(const LaunchNumbers& numbers, int axis, Interval these) {
  BlockBox box{Interval{0, numbers.grid[0]}, Interval{0, numbers.grid[1]}, Interval{0, numbers.grid[2]}};
  box[static_cast<std::size_t>(axis)] = these;
  return box;
}
inline BlockBox all(const LaunchNumbers& numbers) { return blocks(numbers, 0, {0, numbers.grid[0]}); }

}  // namespace nuna::access::test
