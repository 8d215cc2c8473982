#pragma once
// Rows: polynomials as isl takes them. Products of parameters get names of their own, blockIdx * blockDim is a variable, and a
// byte's place is split into the indices of an array whose rows are as long as a parameter (delinearisation). Pure.

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "access/kernel_model.hpp"

namespace nuna::compiler {

/// Block offsets stand beside the variables of models; the number of threads of the grid along an axis beside the parameters.
inline constexpr int kBlockOffset = 1000000;          ///< + axis
inline constexpr std::uint16_t kGridThreads = 60000;  ///< + axis

/// The same value, with offsets and grid threads.
access::Polynomial with_offsets(const access::Polynomial& polynomial);

/// An index of an array, slowest first; `size` is the length of the rows that it counts in, as a product of parameters.
struct Index {
  access::Polynomial value;
  std::vector<std::uint16_t> size;  ///< none of the first index
};
/// Nothing where strides are no nested products of parameters, or variables are multiplied.
std::optional<std::vector<Index>> indices_of(const access::Polynomial& element);

/// Writes through one pointer as indices of one array.
struct Writes {
  std::vector<const access::Access*> accesses;
  std::vector<std::vector<Index>> indices;  ///< of each access
  bool is_widened = false;                  ///< an element is more than what a store touches
  std::string why_not;                      ///< no such array; then the launch decides
};

Writes array_of(std::vector<const access::Access*> accesses);

/// Text of a polynomial for isl, and the names that it used.
class IslText {
 public:
  explicit IslText(std::string mark) : mark_(std::move(mark)) {}
  /// Nothing if it is not affine.
  std::optional<std::string> operator()(const access::Polynomial& polynomial);
  std::string variable(int index);
  std::string parameter(const std::vector<std::uint16_t>& product);

  const std::set<int>& variables() const { return variables_; }
  const std::set<std::vector<std::uint16_t>>& parameters() const { return parameters_; }

 private:
  std::string mark_;  ///< behind the names of variables: those of two accesses differ
  std::set<int> variables_;
  std::set<std::vector<std::uint16_t>> parameters_;
};

}  // namespace nuna::compiler
