#include "access/affine.hpp"

#include <algorithm>
#include <limits>

namespace nuna::access {

void Affine::add(const Affine& other, Wide times) {
  for (std::size_t v = 0; v < factors.size(); ++v) {
    if (other.factors[v] != 0) factors[v] = narrow(factors[v] + narrow(times) * other.factors[v]);
  }
  constant = narrow(constant + narrow(times) * other.constant);
}

Affine put_numbers_in(const Polynomial& polynomial, std::span<const std::int64_t> numbers) {
  Affine result;
  for (const Term& term : polynomial) {
    Wide product = narrow(term.factor);
    for (const std::uint16_t parameter : term.parameters) {
      if (parameter >= numbers.size()) throw TooLarge{};
      product = narrow(product * narrow(numbers[parameter]));
    }
    if (term.variable >= kMaxVariables) throw TooLarge{};
    Index& place = term.variable == kNoVariable ? result.constant : result[term.variable];
    place = narrow(place + product);
  }
  return result;
}

namespace {

Wide derived(Parameter::Operation operation, Wide left, Wide right) {
  using Operation = Parameter::Operation;
  switch (operation) {
    case Operation::shifted:
      if (right < 0 || right > 60) throw TooLarge{};
      return left * (Wide{1} << right);
    case Operation::quotient:
      if (right <= 0) throw TooLarge{};
      return floor_div(left, right);
    case Operation::least:
      return std::min(left, right);
    case Operation::most:
      return std::max(left, right);
    case Operation::lowest_bit:
      return left & -left;
    case Operation::is_power_of_two:
      return left > 0 && (left & (left - 1)) == 0 ? 1 : 0;
  }
  throw TooLarge{};
}

}  // namespace

std::int64_t derive(const Parameter& parameter, std::span<const std::int64_t> numbers) noexcept {
  try {
    const Wide left = put_numbers_in(parameter.left, numbers).constant;
    const Wide right = put_numbers_in(parameter.right, numbers).constant;
    return narrow(derived(parameter.operation, left, right));
  } catch (const TooLarge&) {
    return std::numeric_limits<std::int64_t>::max();
  }
}

}  // namespace nuna::access
