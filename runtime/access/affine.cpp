#include "access/affine.hpp"

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

}  // namespace nuna::access
