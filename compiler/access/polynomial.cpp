#include "access/polynomial.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

namespace nuna::compiler {

namespace {

using access::Polynomial;
using access::Term;

constexpr std::size_t kMostTerms = 48;
constexpr std::size_t kMostParameters = 8;  ///< of one term
constexpr long double kInfinite = std::numeric_limits<long double>::infinity();

using Monomial = std::pair<int, std::vector<std::uint16_t>>;

class Sum {
 public:
  void add(const Term& term, std::int64_t times) {
    std::int64_t factor = 0;
    auto& all = terms_[{term.variable, term.parameters}];
    fits_ &= !__builtin_mul_overflow(term.factor, times, &factor) &&
             !__builtin_add_overflow(all, factor, &all) && term.parameters.size() <= kMostParameters;
  }
  void refuse() { fits_ = false; }

  Maybe polynomial() const {
    Polynomial made;
    for (const auto& [monomial, factor] : terms_) {
      if (factor != 0) made.push_back({factor, monomial.second, monomial.first});
    }
    return fits_ && made.size() <= kMostTerms ? Maybe(std::move(made)) : std::nullopt;
  }

 private:
  std::map<Monomial, std::int64_t> terms_;
  bool fits_ = true;
};

long double times(long double a, long double b) { return a == 0 || b == 0 ? 0 : a * b; }

Range product_of(const Range& a, const Range& b) {
  const auto [low, high] =
      std::minmax({times(a.low, b.low), times(a.low, b.high), times(a.high, b.low), times(a.high, b.high)});
  return {low, high};
}

}  // namespace

Polynomial constant(std::int64_t value) {
  return value == 0 ? Polynomial{} : Polynomial{{value, {}, access::kNoVariable}};
}

Polynomial parameter(std::uint16_t index) { return {{1, {index}, access::kNoVariable}}; }

Polynomial variable(int index) { return {{1, {}, index}}; }

Maybe sum(const Maybe& a, const Maybe& b, std::int64_t factor) {
  if (!a || !b) return std::nullopt;
  Sum all;
  for (const Term& term : *a) all.add(term, 1);
  for (const Term& term : *b) all.add(term, factor);
  return all.polynomial();
}

Maybe product(const Maybe& a, const Maybe& b) {
  if (!a || !b) return std::nullopt;
  Sum all;
  for (const Term& x : *a) {
    for (const Term& y : *b) {
      if (x.variable != access::kNoVariable && y.variable != access::kNoVariable) return std::nullopt;
      Term term{x.factor, x.parameters, std::max(x.variable, y.variable)};
      for (const auto index : y.parameters) term.parameters.push_back(index);
      std::sort(term.parameters.begin(), term.parameters.end());
      all.add(term, y.factor);
    }
  }
  return all.polynomial();
}

std::optional<std::int64_t> constant_of(const Polynomial& polynomial) {
  if (polynomial.empty()) return 0;
  const Term& first = polynomial.front();
  if (polynomial.size() > 1 || !first.parameters.empty() || first.variable != access::kNoVariable)
    return std::nullopt;
  return first.factor;
}

Polynomial coefficient_of(const Polynomial& polynomial, int index) {
  Polynomial found;
  for (const Term& term : polynomial) {
    if (term.variable == index) found.push_back({term.factor, term.parameters, access::kNoVariable});
  }
  return found;
}

bool has_variables(const Polynomial& polynomial) {
  return std::any_of(polynomial.begin(), polynomial.end(),
                     [](const Term& term) { return term.variable != access::kNoVariable; });
}

bool Range::inside(int bits, bool is_signed) const {
  const long double span = std::ldexp(1.0L, is_signed ? bits - 1 : bits);
  return low >= (is_signed ? -span : 0) && high <= span - 1;
}

namespace {

Range range_of_derived(const access::Parameter& parameter, const std::vector<access::Parameter>& parameters) {
  using Operation = access::Parameter::Operation;
  const auto left = range_of(parameter.left, parameters, {});
  const auto right = range_of(parameter.right, parameters, {});
  switch (parameter.operation) {
    case Operation::shifted:
      return product_of(left, {1, std::ldexp(1.0L, 60)});
    case Operation::quotient:
      if (const auto number = constant_of(parameter.right); number && *number > 0) {
        const auto by = static_cast<long double>(*number);
        return {std::floor(left.low / by), std::floor(left.high / by)};
      }
      return {std::min(left.low, 0.0L), std::max(left.high, 0.0L)};
    case Operation::least:
      return {std::min(left.low, right.low), std::min(left.high, right.high)};
    case Operation::most:
      return {std::max(left.low, right.low), std::max(left.high, right.high)};
    case Operation::lowest_bit:
      return {0, std::ldexp(1.0L, 60)};
    case Operation::is_power_of_two:
      return {0, 1};
  }
  return {-kInfinite, kInfinite};
}

}  // namespace

Range range_of(const access::Parameter& parameter, const std::vector<access::Parameter>& parameters) {
  using Kind = access::Parameter::Kind;
  if (parameter.kind == Kind::derived) return range_of_derived(parameter, parameters);
  if (parameter.kind == Kind::block_size) return {1, 1024};
  if (parameter.kind == Kind::grid_size) return {1, 2147483647};
  const int bits = static_cast<int>(parameter.bytes * 8);
  const long double span = std::ldexp(1.0L, parameter.is_signed ? bits - 1 : bits);
  return {parameter.is_signed ? -span : 0, span - 1};
}

Range range_of(const Polynomial& polynomial, const std::vector<access::Parameter>& parameters,
               const std::vector<Range>& extra) {
  Range all;
  for (const Term& term : polynomial) {
    Range one{static_cast<long double>(term.factor), static_cast<long double>(term.factor)};
    for (const auto index : term.parameters) one = product_of(one, range_of(parameters[index], parameters));
    if (term.variable >= access::kExtra) {
      const auto index = static_cast<std::size_t>(term.variable - access::kExtra);
      one = product_of(one, index < extra.size() ? extra[index] : Range{-kInfinite, kInfinite});
    } else if (term.variable >= access::kThreadIndex) {
      one = product_of(one, {0, 1023});
    } else if (term.variable >= access::kBlockIndex) {
      one = product_of(one, {0, 2147483646});
    }
    all.low += one.low;
    all.high += one.high;
  }
  return all;
}

}  // namespace nuna::compiler
