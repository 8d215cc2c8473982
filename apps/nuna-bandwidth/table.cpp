#include "nuna-bandwidth/table.hpp"

#include <algorithm>
#include <cstdio>

#include "base/units.hpp"
#include "common/memories.hpp"

namespace nuna_bandwidth {
namespace {

using nuna::topology::Machine;
using nuna::topology::MemoryId;

constexpr double kGiga = 1e9;
constexpr int kWidth = 10;

Json to_json(const MemoryId& memory, const Machine& machine) {
  return {
      {"rank", memory.rank.value}, {"place", memory.place.value}, {"name", apps::name_of(machine, memory)}};
}

MemoryId memory_of(const Json& json) {
  return {{json.at("rank").get<std::int32_t>()}, {json.at("place").get<std::int32_t>()}};
}

Json to_json(const Quartiles& q) { return {{"lower", q.lower}, {"median", q.median}, {"upper", q.upper}}; }

Quartiles quartiles_of(const Json& json) {
  return {json.at("lower").get<double>(), json.at("median").get<double>(), json.at("upper").get<double>()};
}

// Text at the right end of a column.
std::string right(const std::string& text, std::size_t width) {
  return text.size() >= width ? " " + text : std::string(width - text.size(), ' ') + text;
}

std::string number(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::size_t width_of(Scheme scheme) {
  return std::max<std::size_t>(kWidth, std::string_view(to_string(scheme)).size() + 2);
}

bool is_measured(const Row& row) { return !row.cells.empty() && row.cells.front().samples > 0; }

std::string head(const std::vector<Scheme>& schemes, bool measured) {
  std::string line = right("size", kWidth);
  for (const Scheme scheme : schemes) line += right(to_string(scheme), width_of(scheme));
  line += right("nuna/best", 11);
  if (measured) line += right("quartiles", 12) + right("pairs", 7);
  return line + "  nuna takes\n";
}

std::string line_of(const Row& row, const std::vector<Scheme>& schemes) {
  std::string line = right(nuna::base::rounded_bytes(row.bytes), kWidth);
  for (const Scheme scheme : schemes) {
    const Cell* cell = row.find(scheme);
    const std::string text =
        cell == nullptr ? "-" : number(bytes_per_second(row, cell->seconds.median) / kGiga, 2);
    line += right(text, width_of(scheme));
  }
  line += right(row.best ? number(row.ratio.median, 2) : "-", 11);
  if (is_measured(row)) {
    const Cell* best = row.best ? row.find(*row.best) : nullptr;
    line += right(best == nullptr ? "-" : number(row.ratio.lower, 2) + "-" + number(row.ratio.upper, 2), 12);
    line += right(best == nullptr ? "-" : std::to_string(best->samples), 7);
  }
  return line + "  " + row.choice + "\n";
}

std::vector<Scheme> schemes_in(const std::vector<Row>& rows, std::size_t begin, std::size_t end) {
  std::vector<Scheme> schemes;
  for (const Scheme scheme : kSchemes) {
    const bool there = std::any_of(rows.begin() + std::ptrdiff_t(begin), rows.begin() + std::ptrdiff_t(end),
                                   [&](const Row& row) { return row.find(scheme) != nullptr; });
    if (there) schemes.push_back(scheme);
  }
  return schemes;
}

}  // namespace

const Cell* Row::find(Scheme scheme) const {
  const auto found =
      std::find_if(cells.begin(), cells.end(), [&](const Cell& cell) { return cell.scheme == scheme; });
  return found == cells.end() ? nullptr : &*found;
}

double bytes_per_second(const Row& row, double seconds) {
  const double bytes = static_cast<double>(row.bytes) * (row.experiment.two_way ? 2.0 : 1.0);
  return seconds > 0.0 ? bytes / seconds : 0.0;
}

std::optional<Scheme> best_of(const std::vector<Cell>& cells) {
  const Cell* best = nullptr;
  for (const Cell& cell : cells) {
    if (by_hand(cell.scheme) && (best == nullptr || cell.seconds.median < best->seconds.median)) best = &cell;
  }
  if (best == nullptr) return std::nullopt;
  return best->scheme;
}

Json to_json(const Row& row, const Machine& machine) {
  Json json{{"from", to_json(row.experiment.ends.from, machine)},
            {"to", to_json(row.experiment.ends.to, machine)},
            {"two_way", row.experiment.two_way},
            {"bytes", row.bytes},
            {"schemes", Json::object()}};
  for (const Cell& cell : row.cells) {
    json["schemes"][to_string(cell.scheme)] = {
        {"bytes_per_second", static_cast<std::int64_t>(bytes_per_second(row, cell.seconds.median))},
        {"seconds", to_json(cell.seconds)},
        {"samples", cell.samples}};
  }
  json["best"] = row.best ? Json(to_string(*row.best)) : Json(nullptr);
  json["nuna_to_best"] = to_json(row.ratio);
  json["nuna_takes"] = row.choice;
  return json;
}

Row row_of(const Json& json) {
  Row row;
  row.experiment = {{memory_of(json.at("from")), memory_of(json.at("to"))}, json.at("two_way").get<bool>()};
  row.bytes = json.at("bytes").get<nuna::Index>();
  for (const auto& [name, cell] : json.at("schemes").items()) {
    if (const auto scheme = scheme_of(name))
      row.cells.push_back({*scheme, quartiles_of(cell.at("seconds")), cell.at("samples").get<int>()});
  }
  if (!json.at("best").is_null()) row.best = scheme_of(json.at("best").get<std::string>());
  row.ratio = quartiles_of(json.at("nuna_to_best"));
  row.choice = json.at("nuna_takes").get<std::string>();
  return row;
}

std::string to_text(const std::vector<Row>& rows, const Machine& machine) {
  std::string text;
  for (std::size_t begin = 0; begin < rows.size();) {
    const Experiment& experiment = rows[begin].experiment;
    std::size_t end = begin;
    while (end < rows.size() && rows[end].experiment == experiment) ++end;
    const std::vector<Scheme> schemes = schemes_in(rows, begin, end);
    text += apps::name_of(machine, experiment.ends.from) + (experiment.two_way ? " <-> " : " -> ") +
            apps::name_of(machine, experiment.ends.to) + (experiment.two_way ? ", two ways" : ", one way") +
            ", GB/s" + (is_measured(rows[begin]) ? "" : ", predicted") + "\n" +
            head(schemes, is_measured(rows[begin]));
    for (; begin < end; ++begin) text += line_of(rows[begin], schemes);
    text += "\n";
  }
  return text;
}

}  // namespace nuna_bandwidth
