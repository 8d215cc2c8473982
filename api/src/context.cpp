#include "nuna/context.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "base/check.hpp"
#include "base/failure.hpp"
#include "base/log.hpp"
#include "cluster/in_process.hpp"
#include "cluster/local.hpp"
#ifdef NUNA_WITH_MPI
#include "cluster/mpi/mpi_communicator.hpp"
#include "cluster/mpi/session.hpp"
#endif
#include "context_state.hpp"
#include "trace_session.hpp"

namespace nuna {
inline namespace v0 {

using detail::CallSite;
using detail::ContextState;
using detail::Inside;

namespace {

// `--devices N` and `--devices=N`, as programs' own command lines have it.
int devices_argument(int argc, char** argv) {
  constexpr const char* kName = "--devices";
  const std::size_t length = std::strlen(kName);
  for (int i = 1; i < argc && argv != nullptr; ++i) {
    if (argv[i] == nullptr || std::strncmp(argv[i], kName, length) != 0) continue;
    const char* value = argv[i][length] == '=' ? argv[i] + length + 1 : nullptr;
    if (argv[i][length] == '\0') value = i + 1 < argc ? argv[i + 1] : "";
    if (value == nullptr) continue;
    char* end = nullptr;
    const long n = std::strtol(value, &end, 10);
    if (end == value || *end != '\0' || n < 1) {
      throw Error(ErrorCode::bad_setting,
                  std::string("--devices is \"") + value + "\": expected a whole number from 1");
    }
    return static_cast<int>(std::min<long>(n, 1 << 20));
  }
  return 0;
}

std::shared_ptr<ContextState> make_state(const detail::RankConfig& config,
                                         std::unique_ptr<cluster::Communicator> c) {
  return std::make_shared<ContextState>(std::make_shared<detail::RankRuntime>(config, std::move(c)));
}

double fold(Context& context, double value, bool largest, const char* what, CallSite site) {
  ContextState& state = context.state();
  const Inside inside(state, what, site);
  const auto envelope = state.program().count_call(what, to_string(site), largest ? 1 : 0);
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  double folded = largest ? -std::numeric_limits<double>::infinity() : 0;
  for (const auto& each : state.program().communicator().allgather(envelope, bytes)) {
    double v = 0;
    std::memcpy(&v, each.data(), std::min(each.size(), sizeof v));
    if (!largest) {
      folded += v;
    } else if (v > folded || std::isnan(v)) {  // once NaN, always NaN
      folded = v;
    }
  }
  return folded;
}

}  // namespace

Context::Context(std::shared_ptr<ContextState> state) : state_(std::move(state)) {}
Context::Context(Context&&) noexcept = default;

Context& Context::operator=(Context&& other) noexcept {
  if (this == &other) return *this;
  Context ended(std::move(*this));
  state_ = std::move(other.state_);
  return *this;
}

Context::~Context() {
  if (state_ == nullptr) return;
  if (!state_->program().buffers().empty()) {
    const auto& left = state_->program().buffers();
    base::stop("a Context was destroyed before " + std::to_string(left.size()) +
               " of its buffers, such as the one created at " + left.front().site +
               ": destroy the buffers first");
  }
  for (const auto& failure : state_->program().executor().drain()) {
    base::log(base::LogLevel::error, "context", state_->runtime().rank(),
              "a failure that no wait() asked for: " + base::text_of(failure));
    break;
  }
#ifdef NUNA_WITH_MPI
  cluster::mpi::forget(state_->finalizing);
#endif
  state_->ended.store(true);
  state_->runtime().leave();  // Events may keep the rest alive for long
}

Context Context::world(int argc, char** argv, Options options) {
  if (const int devices = devices_argument(argc, argv); devices != 0) options.devices = devices;
#ifdef NUNA_WITH_MPI
  if (cluster::mpi::launched() || cluster::mpi::usable()) {
    return on(MPI_COMM_WORLD, options);
  }
#endif
  return self(options);
}

Context Context::self(Options options) {
  return Context(make_state(detail::configure(options, 1, 1), cluster::make_local()));
}

Context Context::over_mpi(const void* communicator, std::size_t bytes, const Options& options) {
#ifdef NUNA_WITH_MPI
  MPI_Comm comm = MPI_COMM_NULL;
  if (bytes != sizeof(MPI_Comm)) {
    throw Error(ErrorCode::invalid_argument,
                "Context::on takes an MPI_Comm of the MPI that Nuna was built with");
  }
  std::memcpy(static_cast<void*>(&comm), communicator, bytes);
  if (!cluster::mpi::usable()) cluster::mpi::require();
  cluster::mpi::warn_about_strange_launcher();
  if (comm == MPI_COMM_NULL)
    throw Error(ErrorCode::invalid_argument,
                "Context::on(MPI_COMM_NULL): this process is no rank of that communicator");
  int process = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &process);
  api::name_trace_of_rank(process);
  int between_groups = 0;
  MPI_Comm_test_inter(comm, &between_groups);
  if (between_groups != 0)
    throw Error(ErrorCode::invalid_argument,
                "Context::on takes no inter-communicator: merge it first (MPI_Intercomm_merge)");
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  if (ranks == 1) return self(options);  // whatever threads MPI allows
  cluster::mpi::require();
  auto connected = cluster::mpi::make_mpi(
      comm, {.stall = detail::configure(options, 1, 1).stall, .farewell = api::wants_to_merge_traces()});
  if (auto farewell = connected->take_farewell()) api::merge_traces_at_the_end(std::move(farewell));
  detail::RankConfig config = detail::configure(options, 1, connected->core_sharers());
  config.context_id = connected->id();
  detail::warn_about_cores(config);
  auto state = make_state(config, std::move(connected));
  state->finalizing =
      cluster::mpi::before_finalize([&state = *state] { state.program().executor().drain(); });
  return Context(std::move(state));
#else
  static_cast<void>(communicator);
  static_cast<void>(bytes);
  static_cast<void>(options);
  throw Error(ErrorCode::unsupported, "Nuna was built without MPI: configure it with -DNUNA_MPI=ON");
#endif
}

void Context::in_process(int ranks, const Options& options, const std::function<void(Context&)>& body) {
  constexpr int kMost = 1024;
  if (ranks < 1 || ranks > kMost) {
    throw Error(ErrorCode::invalid_argument, "an in-process cluster of " + std::to_string(ranks) +
                                                 " ranks: expected 1 to " + std::to_string(kMost));
  }
  if (!body) {
    throw Error(ErrorCode::invalid_argument,
                "an in-process cluster needs a body: a function for each rank to run");
  }
  const detail::RankConfig config = detail::configure(options, ranks, ranks);
  cluster::run_ranks(
      ranks,
      [&](base::RankId, std::unique_ptr<cluster::Communicator> communicator) {
        if (ranks == 1) communicator = cluster::make_local();
        Context context(make_state(config, std::move(communicator)));
        body(context);
      },
      config.stall);
}

ContextState& Context::state() const {
  if (state_ == nullptr)
    throw Error(ErrorCode::invalid_argument, "the Context was moved from: use the one it went to");
  return *state_;
}

int Context::rank() const { return state().runtime().rank().value; }
int Context::ranks() const { return state().runtime().ranks(); }
int Context::devices() const { return state().runtime().config().devices; }
bool Context::dry_run() const { return state().runtime().config().dry_run; }

void Context::wait(const char* file, int line) {
  const Inside inside(state(), "wait", {file, line});
  state().program().wait();
  state().views().rethrow_kept();
}

void Context::fence_buffer(const detail::BufferHandle& buffer, CallSite site) {
  const Inside inside(state(), "fence", site);
  execute::Buffer& target = detail::buffer_of(state(), buffer, inside);
  state().views().rethrow_kept(target);
  state().program().fence(target);
}

double Context::sum(double value, const char* file, int line) {
  return fold(*this, value, false, "sum", {file, line});
}
double Context::max(double value, const char* file, int line) {
  return fold(*this, value, true, "max", {file, line});
}

std::string Context::describe_memory(std::optional<int> of_device, int device) const {
  const detail::RankRuntime& runtime = state().runtime();
  const int devices = runtime.config().devices;
  const int all = devices * runtime.ranks();
  const int other = of_device.value_or(device);
  for (const int d : {device, other}) {
    if (d >= 0 && d < all) continue;
    throw Error(ErrorCode::invalid_argument, "describe: there is no device " + std::to_string(d) +
                                                 ": the Context has " + std::to_string(all) +
                                                 ", counted from 0");
  }
  const std::string who = "device " + std::to_string(device);
  const std::string whose = "device " + std::to_string(other);
  if (device == other) return who + " uses its own memory";
  const int rank = device / devices;
  if (other / devices != rank)
    return who + " uses a copy: " + whose + " belongs to rank " + std::to_string(other / devices);
  if (runtime.config().cuda && rank != runtime.rank().value)
    return who + " and " + whose + " belong to rank " + std::to_string(rank) + ", which knows";
  const execute::Places& places = runtime.places();
  const auto slot = [&](int d) { return static_cast<std::size_t>(d % devices); };
  if (places.reached_by_slot[slot(device)].contains(places.place_of_slot[slot(other)]))
    return who + " uses the memory of " + whose + " in place";
  return who + " uses a copy: its GPU has no peer access to that of " + whose;
}

std::string Context::stats() const {
  const detail::RankRuntime& runtime = state().runtime();
  const trace::StatsSnapshot s = state().runtime().stats().snapshot();
  const double busy = static_cast<double>(runtime.age().count()) * runtime.config().devices;
  std::string json = "{\"transfer_share\":" +
                     std::to_string(static_cast<double>(s.spent_ns(trace::Phase::transfer)) / busy) +
                     ",\"bytes_by_route\":{";
  for (int r = 0; r < trace::kRoutes; ++r) {
    const auto route = static_cast<trace::Route>(r);
    std::string name = trace::to_string(route);
    std::replace(name.begin(), name.end(), ' ', '_');
    json += std::string(r == 0 ? "" : ",") + "\"" + name + "\":" + std::to_string(s.moved(route).bytes);
  }
  return json + "}," + trace::to_json(s).substr(1);
}

namespace detail {

namespace {

std::string where(const LaunchRequest& request) {
  return "launch '" + std::string(request.name->text) + "' at " + to_string(request.name->site);
}

void check_blocks(const LaunchRequest& request) {
  if (request.kernel_block == nullptr || *request.kernel_block == *request.block) return;
  throw Error(ErrorCode::invalid_argument,
              where(request) + ": the kernel is one by blocks of " + nuna::to_string(*request.kernel_block) +
                  " threads (its type Block), but the launch asks for blocks of " +
                  nuna::to_string(*request.block) + ": give both the same");
}

void check_axes(const LaunchRequest& request) {
  const int dims = request.domain->box().dims;
  if (request.kernel_block == nullptr || request.kernel_block->dims == dims) return;
  throw Error(ErrorCode::invalid_argument,
              where(request) + ": the kernel is one by blocks of " + nuna::to_string(*request.kernel_block) +
                  " threads, but the domain has " + std::to_string(dims) + " axes: give both as many");
}

}  // namespace

Event launch(ContextState& context, const LaunchRequest& request) {
  const Inside inside(context, "launch", request.name->site, kWithRoom);
  check_blocks(request);
  check_axes(request);
  execute::Launch launch{.name = request.name->text,
                         .site = context.text_of(request.name->site),
                         .arguments = {.shape = {.domain = *request.domain, .block = *request.block}},
                         .code = request.code,
                         .closure = request.closure,
                         .brief = request.brief};
  if (request.device) launch.arguments.shape.run_on(*request.device);
  for (std::size_t a = 0; a < request.argument_count; ++a) {
    const LaunchArgument& argument = request.arguments[a];
    BufferState& state = *argument.buffer->state();
    if (&state.context() != &context) {
      throw Error(ErrorCode::invalid_argument, "launch '" + std::string(launch.name) + "' at " +
                                                   std::string(launch.site) + ": buffer argument " +
                                                   std::to_string(a) + " belongs to another Context");
    }
    launch.arguments.add(state.buffer(inside), *argument.map, argument.reads, argument.writes, argument.may,
                         argument.device);
  }
  return launch_internal(context, launch);
}

std::vector<std::vector<std::byte>> gather(ContextState& context, const void* bytes, std::size_t count,
                                           CallSite site) {
  const Inside inside(context, "gather", site);
  const auto envelope = context.program().count_call("gather", to_string(site), 0);
  return context.program().communicator().allgather(envelope, {static_cast<const std::byte*>(bytes), count});
}

}  // namespace detail

}  // namespace v0
}  // namespace nuna
