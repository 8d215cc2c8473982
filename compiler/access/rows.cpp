#include "access/rows.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "access/polynomial.hpp"

namespace nuna::compiler {

using access::Polynomial;
using access::Term;

namespace {

using Product = std::vector<std::uint16_t>;

bool take(Product& from, std::uint16_t one) {
  const auto found = std::find(from.begin(), from.end(), one);
  if (found == from.end()) return false;
  from.erase(found);
  return true;
}

bool includes(const Product& whole, const Product& part) {
  return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

Product without(const Product& whole, const Product& part) {
  Product rest;
  std::set_difference(whole.begin(), whole.end(), part.begin(), part.end(), std::back_inserter(rest));
  return rest;
}

bool contains(const Product& all, std::uint16_t one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

/// Products of parameters before variables, the longest first; each contains the next.
std::optional<std::vector<Product>> strides_of(const Polynomial& element) {
  std::set<Product> found{{}};
  for (const auto& term : element) {
    if (term.variable != access::kNoVariable) found.insert(term.parameters);
  }
  std::vector<Product> strides(found.begin(), found.end());
  std::sort(strides.begin(), strides.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  for (std::size_t i = 0; i + 1 < strides.size(); ++i) {
    if (strides[i].size() == strides[i + 1].size() || !includes(strides[i], strides[i + 1]))
      return std::nullopt;
  }
  return strides;
}

/// The size of elements, such that each write lies inside one.
std::int64_t element_bytes(const std::vector<const access::Access*>& writes) {
  std::int64_t size = 0;
  std::int64_t most = 1;
  for (const auto* write : writes) {
    most = std::max<std::int64_t>(most, write->bytes);
    for (const auto& term : *write->first_byte) {
      const bool is_number = term.parameters.empty() && term.variable == access::kNoVariable;
      if (!is_number) size = std::gcd(size, term.factor);
    }
  }
  return size == 0 ? most : size;
}

}  // namespace

Polynomial with_offsets(const Polynomial& polynomial) {
  Polynomial all;
  for (Term term : polynomial) {
    for (std::uint16_t axis = 0; axis < 3; ++axis) {
      const auto size = static_cast<std::uint16_t>(access::kBlockSize + axis);
      const auto grid = static_cast<std::uint16_t>(access::kGridSize + axis);
      if (term.variable == access::kBlockIndex + axis && take(term.parameters, size))
        term.variable = kBlockOffset + axis;
      while (contains(term.parameters, size) && contains(term.parameters, grid)) {
        take(term.parameters, size);
        take(term.parameters, grid);
        term.parameters.push_back(static_cast<std::uint16_t>(kGridThreads + axis));
      }
    }
    std::sort(term.parameters.begin(), term.parameters.end());
    all.push_back(std::move(term));
  }
  return all;
}

std::optional<std::vector<Index>> indices_of(const Polynomial& element) {
  const auto strides = strides_of(element);
  if (!strides) return std::nullopt;
  std::vector<Index> indices(strides->size());
  for (const auto& term : element) {
    for (std::size_t i = 0; i < strides->size(); ++i) {
      const auto& stride = (*strides)[i];
      const bool here = term.variable == access::kNoVariable ? includes(term.parameters, stride)
                                                             : term.parameters == stride;
      if (!here) continue;
      indices[i].value.push_back({term.factor, without(term.parameters, stride), term.variable});
      break;
    }
  }
  for (std::size_t i = 1; i < strides->size(); ++i)
    indices[i].size = without((*strides)[i - 1], (*strides)[i]);
  return indices;
}

Writes array_of(std::vector<const access::Access*> accesses) {
  Writes made;
  made.accesses = std::move(accesses);
  const auto bytes = element_bytes(made.accesses);
  for (const auto* write : made.accesses) {
    Polynomial element;
    std::int64_t number = 0;
    for (auto term : *write->first_byte) {
      if (term.parameters.empty() && term.variable == access::kNoVariable) {
        number = term.factor;
        continue;
      }
      term.factor /= bytes;
      element.push_back(term);
    }
    const auto place = ((number % bytes) + bytes) % bytes;
    if (place + write->bytes > bytes) made.why_not = "stores do not lie side by side";
    made.is_widened |= write->bytes != bytes;
    const auto whole = sum(element, constant((number - place) / bytes));
    auto indices = indices_of(with_offsets(*whole));
    if (!indices) {
      made.why_not = "its index has several strides that only a launch knows";
      break;
    }
    made.indices.push_back(std::move(*indices));
  }
  for (const auto& indices : made.indices) {
    const auto& first = made.indices.front();
    const bool same = indices.size() == first.size() &&
                      std::equal(indices.begin(), indices.end(), first.begin(),
                                 [](const Index& a, const Index& b) { return a.size == b.size; });
    if (!same) made.why_not = "stores have rows of different lengths";
  }
  return made;
}

std::string IslText::variable(int index) {
  variables_.insert(index);
  return "v" + std::to_string(index) + mark_;
}

std::string IslText::parameter(const Product& product) {
  parameters_.insert(product);
  std::string name;
  for (const auto index : product) name += "p" + std::to_string(index);
  return name;
}

std::optional<std::string> IslText::operator()(const Polynomial& polynomial) {
  std::string text = "0";
  for (const auto& term : polynomial) {
    if (term.variable != access::kNoVariable && !term.parameters.empty()) return std::nullopt;
    text += term.factor < 0 ? " - " : " + ";
    text += std::to_string(term.factor < 0 ? -term.factor : term.factor);
    if (term.variable != access::kNoVariable) text += "*" + variable(term.variable);
    if (!term.parameters.empty()) text += "*" + parameter(term.parameters);
  }
  return text;
}

}  // namespace nuna::compiler
