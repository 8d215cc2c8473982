#include "common/report.hpp"

#include <cstdint>

namespace apps {

std::string Report::to_line() const {
  nlohmann::ordered_json line;
  line["app"] = app;
  line["ranks"] = ranks;
  line["devices"] = devices;
  line["seconds"] = seconds;
  line["transfer_share"] = transfer_share;
  line["bytes_by_route"] = bytes_by_route;
  line["verified"] = nullptr;
  if (verified) line["verified"] = *verified;
  line["dry_run"] = dry_run;
  for (const auto& entry : more.items()) line[entry.key()] = entry.value();
  return line.dump();
}

void add_counters(Report& report, nuna::Context& context) {
  context.wait();  // what is still on its way is counted when it arrives
  const nlohmann::json stats = nlohmann::json::parse(context.stats());
  report.ranks = context.ranks();
  report.devices = context.devices();
  report.dry_run = context.dry_run();
  report.transfer_share = context.max(stats.value("transfer_share", 0.0));
  report.bytes_by_route = nlohmann::json::object();
  const nlohmann::json routes = stats.value("bytes_by_route", nlohmann::json::object());
  // Every rank knows the same routes, so these are the same calls on each.
  for (const auto& [route, bytes] : routes.items()) {
    report.bytes_by_route[route] = static_cast<std::int64_t>(context.sum(bytes.get<double>()));
  }
}

}  // namespace apps
