#include "plan/plan_print.hpp"

#include "base/units.hpp"

namespace nuna::plan {
namespace {

std::string place_text(base::PlaceId p) {
  return p == base::kHostPlace ? "host" : "place " + std::to_string(p.value);
}

std::string boxes_text(const auto& items, auto box_of) {
  constexpr std::size_t kShown = 4;
  std::string text;
  for (std::size_t i = 0; i < items.size() && i < kShown; ++i) {
    text += (i == 0 ? "" : ", ") + base::to_string(box_of(items[i]));
  }
  if (items.size() > kShown) text += " and " + std::to_string(items.size() - kShown) + " more";
  return text;
}

Index bytes_of(const auto& placed) {
  Index sum = 0;
  for (const PlacedBox& p : placed) sum += p.box.bytes();
  return sum;
}

void append(std::string& text, base::RankId rank, const Message& m, const char* verb, const char* direction) {
  text += "rank " + std::to_string(rank.value) + ": " + verb + " " + base::rounded_bytes(m.bytes()) +
          " of argument " + std::to_string(m.argument) + " " + direction + " rank " +
          std::to_string(m.peer.value) + ": " +
          boxes_text(m.items, [](const Message::Item& i) { return i.box; }) + "\n";
}

// Arguments that a kernel uses in the memory of another device.
std::string elsewhere_text(const Instruction& run) {
  std::string text;
  int told = -1;
  for (const auto* boxes : {&run.reads, &run.writes}) {
    for (const PlacedBox& b : *boxes) {
      if (b.place == run.place || b.argument == told) continue;
      told = b.argument;
      text += ", argument " + std::to_string(b.argument) + " in " + place_text(b.place);
    }
  }
  return text;
}

std::string step_text(const Instruction& step) {
  const auto box = [](const PlacedBox& p) { return p.box; };
  switch (step.kind) {
    case Kind::send:
      return "send " + base::rounded_bytes(bytes_of(step.reads)) + " to rank " +
             std::to_string(step.peer.value) + ": " + boxes_text(step.reads, box);
    case Kind::receive:
      return "receive " + base::rounded_bytes(bytes_of(step.writes)) + " from rank " +
             std::to_string(step.peer.value) + ": " + boxes_text(step.writes, box);
    case Kind::copy:
      return "copy " + base::rounded_bytes(bytes_of(step.writes)) + " of argument " +
             std::to_string(step.reads[0].argument) + " from " + place_text(step.reads[0].place) + " to " +
             place_text(step.writes[0].place) + ": " + base::to_string(step.writes[0].box);
    case Kind::run:
      return "run on device " + std::to_string(step.slot) + ": threads " + to_string(step.threads) +
             elsewhere_text(step);
    case Kind::fill:
      return (step.value == kPoison ? "poison " : "fill ") + base::to_string(step.writes[0].box) +
             " of argument " + std::to_string(step.writes[0].argument) + " in " +
             place_text(step.writes[0].place);
  }
  return {};
}

}  // namespace

std::string to_text(const RankPlan& plan, base::RankId rank) {
  std::string text;
  for (const Message& m : plan.sends) append(text, rank, m, "send", "to");
  for (const Message& m : plan.receives) append(text, rank, m, "receive", "from");
  for (const PartRun& r : plan.runs) {
    text += "rank " + std::to_string(rank.value) + ": run part " + std::to_string(r.part) + " on device " +
            std::to_string(r.slot) + ": threads " + to_string(r.threads) + "\n";
  }
  return text;
}

std::string to_text(const PlacePlan& plan, base::RankId rank) {
  std::string text;
  for (const Instruction& step : plan.instructions) {
    text += "rank " + std::to_string(rank.value) + ":   " + step_text(step) + "\n";
  }
  return text;
}

}  // namespace nuna::plan
