#pragma once
// How a performance figure is taken: interleaved pairs of ours and a peer, in one process, on the same work.
//
// A row is a ratio, above 1 where ours is better, whatever the unit: peer / ours for times, ours / peer for
// rates. compare() calls the three samples round by round (ours, peer, ours again; the order turns with the
// round, so that none always runs behind the same other), after one round of warm-up. The row is met when the
// median ratio reaches its aim and the lower quartile is within the allowance of it: 0.05, or the spread of
// ours against ours if that is larger (as a share of the aim). Rounds are at least 15.
//
// A sample is a function that does its work once and returns the figure, in the row's unit. It must do real
// work whose result is used (keep()), last a millisecond or more, and be the same work for ours and the peer.
//
//   int main(int argc, char** argv) {
//     perf::Report report(argc, argv);  // --json, --pairs N
//     report.row({"copy 64 MiB", "GB/s", perf::Better::more, 1.0}, [&] { return ...; }, [&] { return ...; });
//   }
//
// Threads: one. Failure: a bad argument prints the usage and exits with 2.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace nuna::perf {

enum class Better { less, more };

/// The aim of a row that is there to know, and of which no verdict is told.
inline constexpr double kNoAim = 0;

/// What a row is about: its name, the unit of its samples, which direction is better, and the ratio it aims
/// at.
struct Row {
  std::string name;
  std::string unit;
  Better better = Better::less;
  double aim = 1.0;
};

/// A sample of the row, in its unit.
using Sample = std::function<double()>;

struct Quartiles {
  double lower = 0;
  double median = 0;
  double upper = 0;
};

/// By linear interpolation between the sorted values.
inline Quartiles quartiles(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    const double position = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return values[below] + (position - static_cast<double>(below)) * (values[above] - values[below]);
  };
  return {at(0.25), at(0.5), at(0.75)};
}

/// One measured row.
struct Figure {
  Row row;
  double ours = 0;       ///< median, in the row's unit
  double peer = 0;       ///< median, in the row's unit
  Quartiles ratio;       ///< of the pairs
  Quartiles self;        ///< of ours against ours
  double allowance = 0;  ///< that the lower quartile may lack
  bool met = false;
};

inline double ratio_of(Better better, double ours, double peer) {
  return better == Better::less ? peer / ours : ours / peer;
}

/// Runs `pairs` rounds of the three samples and sums them up. `again` is the same work as `ours`, in state of
/// its own where it has any.
inline Figure compare(const Row& row, const Sample& ours, const Sample& peer, const Sample& again,
                      int pairs) {
  const Sample* const samples[3] = {&ours, &peer, &again};
  std::vector<double> taken[3];
  std::vector<double> ratios;
  std::vector<double> own;
  for (const Sample* sample : samples) (*sample)();
  for (int round = 0; round < pairs; ++round) {
    for (int turn = 0; turn < 3; ++turn) {
      const auto which = static_cast<std::size_t>((round + turn) % 3);
      taken[which].push_back((*samples[which])());
    }
    ratios.push_back(ratio_of(row.better, taken[0].back(), taken[1].back()));
    own.push_back(ratio_of(row.better, taken[0].back(), taken[2].back()));
  }
  Figure figure{
      row,  quartiles(taken[0]).median, quartiles(taken[1]).median, quartiles(ratios), quartiles(own), 0,
      false};
  figure.allowance = std::max(0.05, (figure.self.upper - figure.self.lower) * row.aim);
  figure.met = figure.ratio.median >= row.aim && figure.ratio.lower >= row.aim - figure.allowance;
  return figure;
}

inline std::string json_line(const Figure& f) {
  std::string name;
  for (const char c : f.row.name) {
    if (c == '"' || c == '\\') name += '\\';
    name += c;
  }
  char text[512];
  std::snprintf(
      text, sizeof text,
      "\", \"ours\": %.6g, \"peer\": %.6g, \"unit\": \"%s\", \"ratio\": %.4g, \"lower_quartile\": %.4g, "
      "\"upper_quartile\": %.4g, \"aim\": %.4g, \"met\": %s, \"self_lower_quartile\": %.4g, "
      "\"self_upper_quartile\": %.4g}",
      f.ours, f.peer, f.row.unit.c_str(), f.ratio.median, f.ratio.lower, f.ratio.upper, f.row.aim,
      f.met ? "true" : "false", f.self.lower, f.self.upper);
  return "{\"name\": \"" + name + text;
}

inline std::string table_head() {
  char text[256];
  std::snprintf(text, sizeof text, "%-52s %10s %10s %-8s %7s %17s %7s %17s", "name", "ours", "peer", "unit",
                "ratio", "quartiles", "aim", "ours/ours");
  return text;
}

inline std::string table_line(const Figure& f) {
  char text[512];
  std::snprintf(text, sizeof text, "%-52s %10.4g %10.4g %-8s %7.3f [%7.3f,%7.3f] %7.3f [%7.3f,%7.3f]  %s",
                f.row.name.c_str(), f.ours, f.peer, f.row.unit.c_str(), f.ratio.median, f.ratio.lower,
                f.ratio.upper, f.row.aim, f.self.lower, f.self.upper,
                f.row.aim == kNoAim ? "-"
                : f.met             ? "met"
                                    : "NOT MET");
  return text;
}

/// Seconds that `work` takes.
template <class Work>
double seconds_of(Work&& work) {
  const auto start = std::chrono::steady_clock::now();
  std::forward<Work>(work)();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Makes the compiler believe that `value` is used.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

/// Measures rows and prints each as soon as it is known: a table, or with --json one object a line.
class Report {
 public:
  Report(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      const std::string argument = argv[i];
      if (argument == "--json") {
        json_ = true;
      } else if (argument == "--pairs" && i + 1 < argc && std::atoi(argv[i + 1]) >= kFewestPairs) {
        pairs_ = std::atoi(argv[++i]);
      } else {
        std::fprintf(stderr, "usage: %s [--json] [--pairs N], N at least %d\n", argv[0], kFewestPairs);
        std::exit(2);
      }
    }
    if (!json_) std::printf("%s\n", table_head().c_str());
  }

  /// `again` is by default `ours` itself: right for samples without state of their own.
  Figure row(const Row& row, const Sample& ours, const Sample& peer, const Sample& again = {}) const {
    return print(compare(row, ours, peer, again ? again : ours, pairs_));
  }
  /// A figure that was counted, not timed: it is the same every time, or nearly, and far from its aim.
  Figure counted(const Row& row, double ours, double peer) const {
    const double ratio = ratio_of(row.better, ours, peer);
    return print({row, ours, peer, {ratio, ratio, ratio}, {1, 1, 1}, 0, ratio >= row.aim});
  }

 private:
  Figure print(Figure figure) const {
    std::printf("%s\n", json_ ? json_line(figure).c_str() : table_line(figure).c_str());
    std::fflush(stdout);
    return figure;
  }

  static constexpr int kFewestPairs = 15;
  bool json_ = false;
  int pairs_ = 21;
};

}  // namespace nuna::perf
