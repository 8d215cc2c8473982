#pragma once
// Arithmetic on polynomials of kernel models. Pure. Nothing (std::nullopt) stands for what no polynomial of that kind is: a product of
// two variables, a factor beyond 64 bits, more terms than are worth it; it goes through every operation.

#include <cstdint>
#include <optional>
#include <vector>

#include "access/kernel_model.hpp"

namespace nuna::compiler {

using Maybe = std::optional<access::Polynomial>;

access::Polynomial constant(std::int64_t value);
access::Polynomial parameter(std::uint16_t index);
access::Polynomial variable(int index);

/// a + factor * b. Terms of sums and products are in one fixed order, so that equal polynomials compare equal.
Maybe sum(const Maybe& a, const Maybe& b, std::int64_t factor = 1);
Maybe product(const Maybe& a, const Maybe& b);

std::optional<std::int64_t> constant_of(const access::Polynomial& polynomial);

/// What stands before `index`, as a polynomial of parameters.
access::Polynomial coefficient_of(const access::Polynomial& polynomial, int index);
bool has_variables(const access::Polynomial& polynomial);

/// An interval; ends may be infinite.
struct Range {
  long double low = 0;
  long double high = 0;
  bool inside(int bits, bool is_signed) const;
};

/// The values that a launch can give: at most 1024 threads along an axis, 2^31 - 1 blocks, scalars as their types have it;
/// extra variables as `extra` says.
Range range_of(const access::Polynomial& polynomial, const std::vector<access::Parameter>& parameters,
               const std::vector<Range>& extra);
Range range_of(const access::Parameter& parameter, const std::vector<access::Parameter>& parameters);

}  // namespace nuna::compiler
