#include "nuna-info/collect.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <mutex>

#include "base/settings.hpp"
#include "base/units.hpp"
#include "common/processes.hpp"
#include "context_state.hpp"
#ifdef NUNA_WITH_CUDA
#include "device/cuda/cuda_device.hpp"
#endif
#include "nuna-info/kernel_limits.hpp"
#include "nuna-info/mpi_facts.hpp"
#include "nuna-info/routes.hpp"
#include "nuna/nuna.hpp"
#include "topology/discover.hpp"

namespace nuna_info {
namespace {

using nuna::detail::RankRuntime;
using nuna::topology::Machine;

// What a rank finds, beside what travels.
struct Own {
  RankReport report;
  std::optional<Machine> machine;
  Section host;
  Section limits;
};

Fact fact_of(const char* key, const char* name, std::int64_t value, const std::string& words) {
  return {key, name, value, words, ""};
}

std::string listed(const std::vector<int>& numbers) {
  std::string text;
  for (const int n : numbers) text += (text.empty() ? "" : " ") + std::to_string(n);
  return text;
}

Section describe_host(const nuna::topology::HostResources& host) {
  Section section{"host", "host", {}};
  section.facts.push_back({"name", "name", host.node.name, host.node.name, ""});
  section.facts.push_back(
      fact_of("sockets", "sockets", host.node.sockets, std::to_string(host.node.sockets)));
  section.facts.push_back(fact_of("cores", "cores", host.node.cores, std::to_string(host.node.cores)));
  section.facts.push_back({"allowed_cores", "allowed to this process", host.allowed_cores,
                           "core " + listed(host.allowed_cores), ""});
  section.facts.push_back(
      fact_of("memory_bytes", "memory", host.memory_bytes, nuna::base::rounded_bytes(host.memory_bytes)));
  section.facts.push_back(fact_of("numa_nodes", "NUMA nodes",
                                  static_cast<std::int64_t>(host.numa_nodes.size()),
                                  std::to_string(host.numa_nodes.size())));
  section.facts.push_back(fact_of("page_bytes", "page", ::sysconf(_SC_PAGESIZE),
                                  nuna::base::print_bytes(::sysconf(_SC_PAGESIZE))));
  return section;
}

std::string address(const void* at) {
  char text[32];
  std::snprintf(text, sizeof text, "%p", at);
  return text;
}

Json places_of(RankRuntime& runtime) {
  Json places = Json::array();
  const auto& slots = runtime.slots();
  for (int p = 0; p < runtime.places().count(); ++p) {
    const auto& device = runtime.places().at({p}).properties();
    places.push_back({{"place", p},
                      {"base", address(slots.base({p}))},
                      {"bytes", slots.slot_bytes()},
                      {"queue", device.name},
                      {"memory_bytes", device.memory_bytes},
                      {"mapped_by_neighbours", slots.file({p}) >= 0},
                      {"fixed_address", !slots.table_mode()}});
  }
  return places;
}

Json routes_from_here(RankRuntime& runtime, const std::vector<nuna::Index>& sizes) {
  Json all = Json::array();
  for (Routes routes : routes_of(runtime.machine(), sizes)) {
    if (routes.ends.from.rank != runtime.rank()) continue;
    for (Choice& choice : routes.choices) {
      choice.ways = runtime.ways().all(routes.ends, load_of(routes.ends, choice.bytes));
      if (routes.ends.to.rank == runtime.rank()) continue;
      choice.taken = nuna::route::to_string(runtime.ways().to(routes.ends.to.rank, choice.bytes, false).kind);
    }
    all.push_back(to_json(routes));
  }
  return all;
}

void add_context(Own& own, nuna::Context& context, const Options& options) {
  RankRuntime& runtime = context.state().runtime();
  own.report.rank = context.rank();
  own.machine = runtime.machine();
  own.report.facts["places"] = places_of(runtime);
  if (options.routes) own.report.facts["routes"] = routes_from_here(runtime, options.sizes);
}

// Calls `what`, whose failure is a problem of this rank.
template <class What>
void attempt(Own& own, What what) {
  try {
    what();
  } catch (const std::exception& e) {
    own.report.facts["problems"].push_back(e.what());
  }
}

Needs needs_of(const Own& own) {
  Needs needs;
  needs.staging_bytes = nuna::base::Settings::from_environment().bytes("NUNA_STAGING", needs.staging_bytes);
  if (!own.machine) return needs;
  const auto& ranks = own.machine->ranks;
  const int node = ranks[static_cast<std::size_t>(own.report.rank)].node;
  needs.ranks_on_node = static_cast<int>(
      std::count_if(ranks.begin(), ranks.end(), [&](const auto& rank) { return rank.node == node; }));
  needs.places = std::max(1, static_cast<int>(own.report.facts["places"].size()));
  return needs;
}

// Everything that needs no Context.
void complete(Own& own) {
  own.report.facts["rank"] = own.report.rank;
  attempt(own, [&] { own.host = describe_host(nuna::topology::discover_host()); });
  attempt(own, [&] { own.limits = judge(read_kernel_limits(), needs_of(own)); });
  own.report.facts["host"] = to_json(own.host);
  own.report.facts["limits"] = to_json(own.limits);
}

Own fresh() {
  Own own;
  own.report.facts = Json{{"rank", 0}, {"host", nullptr}, {"limits", nullptr}};
  own.report.facts["places"] = own.report.facts["routes"] = own.report.facts["problems"] = Json::array();
  return own;
}

std::vector<Own> ranks_inside(const Options& options, const nuna::Options& nuna_options) {
  std::vector<Own> ranks(static_cast<std::size_t>(options.ranks), fresh());
  std::mutex mutex;
  attempt(ranks.front(), [&] {
    nuna::Context::in_process(options.ranks, nuna_options, [&](nuna::Context& context) {
      Own own = fresh();
      add_context(own, context, options);
      const std::scoped_lock lock(mutex);
      ranks[static_cast<std::size_t>(context.rank())] = std::move(own);
    });
  });
  return ranks;
}

// A setting that is wrong on one rank must not leave the others waiting for it.
bool settings_are_good(Own& own, const nuna::Options& nuna_options) {
  bool good = true;
  try {
    nuna::detail::configure(nuna_options, 1, 1);
  } catch (const std::exception& e) {
    own.report.facts["problems"].push_back(e.what());
    good = false;
  }
  return apps::Processes::all_agree(good);
}

std::vector<Own> rank_of_this_process(const Options& options, const nuna::Options& nuna_options) {
  std::vector<Own> ranks{fresh()};
  Own& own = ranks.front();
  own.report.rank = apps::Processes::rank();
  if (!settings_are_good(own, nuna_options)) return ranks;
  attempt(own, [&] {
    nuna::Context context = nuna::Context::world(0, nullptr, nuna_options);
    add_context(own, context, options);
  });
  return ranks;
}

void take_problems(Findings& findings, const RankReport& rank, bool several) {
  for (const Json& problem : rank.facts.at("problems")) {
    const std::string text = problem.get<std::string>();
    findings.problems.push_back(several ? "rank " + std::to_string(rank.rank) + ": " + text : text);
  }
}

}  // namespace

Section describe_gpus() {
  Section section{"gpus", "GPUs", {}};
#ifdef NUNA_WITH_CUDA
  const auto& found = nuna::device::find_cards();
  for (std::size_t c = 0; c < found.cards.size(); ++c) {
    const auto& card = found.cards[c];
    const std::string key = "gpu" + std::to_string(c);
    std::string words = card.name + ", " + nuna::base::rounded_bytes(card.memory_bytes) +
                        ", compute capability " + std::to_string(card.major) + "." +
                        std::to_string(card.minor);
    Json value{{"name", card.name},
               {"memory_bytes", card.memory_bytes},
               {"compute_capability", std::to_string(card.major) + "." + std::to_string(card.minor)},
               {"copy_bytes_per_second", card.copy_bytes_per_second},
               {"reaches", Json::array()}};
    for (std::size_t other = 0; other < found.cards.size(); ++other) {
      if (other == c || !card.reaches[other]) continue;
      words += (value["reaches"].empty() ? ", reaches gpu" : " gpu") + std::to_string(other);
      value["reaches"].push_back(other);
    }
    section.facts.push_back({key, key, value, words, ""});
  }
  if (found.cards.empty()) section.facts.push_back({"none", "none", true, found.why_none, ""});
#else
  section.facts.push_back({"none", "none", true, "this Nuna was built without CUDA (NUNA_CUDA)", ""});
#endif
  return section;
}

Section describe_build() {
  Section section{"build", "Nuna", {}};
  section.facts.push_back({"version", "version", NUNA_VERSION, NUNA_VERSION, ""});
  const auto option = [&](const char* key, const char* name, bool on) {
    section.facts.push_back({key, name, on, on ? "yes" : "no", ""});
  };
#ifdef NUNA_WITH_MPI
  option("mpi", "NUNA_MPI", true);
#else
  option("mpi", "NUNA_MPI", false);
#endif
#ifdef NUNA_WITH_UCX
  option("ucx", "NUNA_UCX", true);
#else
  option("ucx", "NUNA_UCX", false);
#endif
#ifdef NUNA_WITH_HDF5
  option("hdf5", "NUNA_HDF5", true);
#else
  option("hdf5", "NUNA_HDF5", false);
#endif
#ifdef NUNA_WITH_CUDA
  option("cuda", "NUNA_CUDA", true);
#else
  option("cuda", "NUNA_CUDA", false);
#endif
#ifdef NUNA_WITH_COMPILER
  option("compiler", "NUNA_COMPILER", true);
#else
  option("compiler", "NUNA_COMPILER", false);
#endif
  return section;
}

Findings collect(const Options& options) {
  nuna::Options nuna_options;
  nuna_options.devices = options.devices;
  std::vector<Own> own =
      options.ranks > 0 ? ranks_inside(options, nuna_options) : rank_of_this_process(options, nuna_options);
  Findings findings;
  findings.mpi = describe(read_mpi_facts());
  for (std::size_t r = 0; r < own.size(); ++r) {
    if (options.ranks > 0) own[r].report.rank = static_cast<int>(r);
    complete(own[r]);
  }
  findings.build = describe_build();
  findings.gpus = describe_gpus();
  findings.machine = own.front().machine;
  findings.host = own.front().host;
  findings.limits = own.front().limits;
  if (options.ranks > 0) {
    for (Own& rank : own) findings.ranks.push_back(std::move(rank.report));
  } else {
    for (const std::string& text : apps::Processes::gather(own.front().report.facts.dump())) {
      const Json facts = Json::parse(text);
      findings.ranks.push_back({facts.at("rank").get<int>(), facts});
    }
    findings.first_rank = apps::Processes::rank() == 0;
  }
  for (const RankReport& rank : findings.ranks) take_problems(findings, rank, findings.ranks.size() > 1);
  return findings;
}

}  // namespace nuna_info
