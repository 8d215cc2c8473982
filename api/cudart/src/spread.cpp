#include "spread.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "audit.hpp"
#include "call.hpp"
#include "grid_launch.hpp"
#include "kernel.hpp"
#include "model_arguments.hpp"
#include "ranks.hpp"
#include "shared_kernel.hpp"

namespace nuna::cudart {
namespace {

/// Plans and bindings are forgotten all at once where a program makes ever new ones.
constexpr std::size_t kMostPlans = 1024;
constexpr std::size_t kMostBindings = 4096;

/// Copies and fills of at least so many bytes are the devices'.
constexpr std::size_t kSharedBytes = std::size_t{64} << 10;

/// Whether others see more of a kernel than what it does to the devices' memory.
bool shows_order(const access::KernelModel& model) {
  return model.prints ||
         std::any_of(model.accesses.begin(), model.accesses.end(), [&](const access::Access& access) {
           return access.kind != access::Access::Kind::read &&
                  !model.pointers[access.pointer].variable.empty();
         });
}

bool overlap(const std::byte* a, const std::byte* b, std::size_t bytes) {
  const auto first = std::minmax(reinterpret_cast<std::uintptr_t>(a), reinterpret_cast<std::uintptr_t>(b));
  return first.second - first.first < bytes;
}

access::BlockBox blocks_of(const Part& part) { return {part.blocks[2], part.blocks[1], part.blocks[0]}; }

void append(const access::Footprint& footprint, Index offset, Interval allocation, Interval buffer,
            std::vector<Interval>& runs) {
  if (footprint.anywhere) {
    runs.push_back(allocation);
    return;
  }
  for (const access::Rows& rows : footprint.rows) {
    for (Index row = 0; row < rows.count; ++row) {
      const Index begin = offset + rows.begin + row * rows.stride;
      const Interval run = buffer.intersect({begin, begin + rows.bytes});
      if (!run.empty()) runs.push_back(run);
    }
  }
}

/// Disjoint, in order, as few as possible.
void join(std::vector<Interval>& runs, std::vector<Box>& boxes) {
  std::sort(runs.begin(), runs.end(), [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  for (std::size_t i = 0; i < runs.size();) {
    Interval whole = runs[i];
    for (++i; i < runs.size() && runs[i].begin <= whole.end; ++i)
      whole.end = std::max(whole.end, runs[i].end);
    boxes.push_back(box_of(whole));
  }
}

}  // namespace

void Spread::settle() {
  for (; !events_.empty(); events_.pop_front()) settle([this] { events_.front().wait(); });
  if (!replicated() && std::exchange(views_closed_, false)) settle([this] { memory_.open_views(); });
}

/// What a launch of a device has failed with may be told where its bytes are asked for.
void Spread::settle(const std::function<void()>& wait) {
  try {
    wait();
  } catch (const Error& error) {
    std::fprintf(stderr, "nuna: %s\n", error.what());
    note_error(cudaErrorLaunchFailure);
  }
}

void Spread::note_error(cudaError_t error) noexcept {
  if (!replicated()) return set_sticky_error(error);
  cudaError_t none = cudaSuccess;
  noted_.compare_exchange_strong(none, error);
}

void Spread::follow(nuna::Event event) {
  events_.push_back(std::move(event));
  views_closed_ = true;
}

/// Views of managed memory that it closes may turn out to differ between ranks.
void Spread::start_call(const std::function<nuna::Event()>& call) {
  for (;;) {
    try {
      return follow(call());
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unequal_fill) throw;
      agreement_.tell();
    }
  }
}

void Spread::start(const GridLaunch& launch) {
  start_call([&] { return cudart::start(context_, launch); });
}

bool Spread::start(const Copy& copy) {
  const std::size_t bytes = copy.rows.bytes();
  if (bytes < kSharedBytes || copy.rows.rows * copy.rows.planes != 1) return false;
  const auto to = memory_.backing(copy.to.first);
  const auto from = memory_.backing(copy.from.first);
  if (!to || !from || overlap(copy.to.first, copy.from.first, bytes)) return false;
  const auto box_in = [bytes](const Memory::Backing& backing, const std::byte* first) {
    const auto begin = static_cast<Index>(reinterpret_cast<std::uintptr_t>(first) - backing.first);
    return box_of({begin, begin + static_cast<Index>(bytes)});
  };
  start_call([&] {
    return context_.copy_box(*to->buffer, box_in(*to, copy.to.first), *from->buffer,
                             box_in(*from, copy.from.first));
  });
  return true;
}

bool Spread::start(const Fill& fill) {
  const std::size_t bytes = fill.rows.bytes();
  if (bytes < kSharedBytes || fill.rows.rows * fill.rows.planes != 1 || fill.element_bytes != 1) return false;
  const auto to = memory_.backing(fill.to.first);
  if (!to) return false;
  const auto begin = static_cast<Index>(reinterpret_cast<std::uintptr_t>(fill.to.first) - to->first);
  auto value = static_cast<std::byte>(fill.value & 0xff);
  if (replicated()) agreement_.settle_once(kFillSubject, {&value, 1});
  start_call(
      [&] { return context_.fill(*to->buffer, box_of({begin, begin + static_cast<Index>(bytes)}), value); });
  return true;
}

void Spread::tell(const KernelAction& action, const char* where, const std::string& why) {
  if (told_.emplace(&action.function(), why).second)
    std::fprintf(stderr, "nuna: %s runs on %s, not on %d devices: %s\n", action.function().name.c_str(),
                 where, devices_, why.c_str());
}

void Spread::run_on_host(const KernelAction& action, const std::string& why) {
  settle();
  tell(action, "the host", why);
}

std::optional<std::string> Spread::why_whole(const KernelAction& action) {
  const access::KernelModel* const model = action.function().model.get();
  if (model == nullptr) return std::nullopt;
  return plans_of(action, *model).plans->plan->reason();
}

bool Spread::launch(const KernelAction& action) {
  if (!timed_) return launch_untimed(action);
  const KernelsHere kernels;
  const std::uint64_t before = thread_cpu_ns();
  const bool started = launch_untimed(action);
  const std::uint64_t all = thread_cpu_ns() - before;
  const std::uint64_t others = kernels.cpu_ns + (1 + kernels.count) * cost_of_thread_cpu_ns();
  if (all > others) cpu_ns_ += all - others;
  return started;
}

bool Spread::launch_untimed(const KernelAction& action) {
  const access::KernelModel* const model = action.function().model.get();
  if (model == nullptr) {
    run_on_host(action, "the compiler has left no model of what it touches");
    return false;
  }
  if (action.shape().cooperative) {
    run_on_host(action, "its blocks wait for each other");
    return false;
  }
  if (gpus_) {
    if (const std::string why = why_not_on_gpus(action); !why.empty()) {
      run_on_host(action, why);
      return false;
    }
  }
  if (replicated() && model->prints) {
    run_on_host(action, "it prints, and only the first rank is heard");
    return false;
  }
  Recent& recent = plans_of(action, *model);
  if (const auto& why = recent.plans->plan->reason()) {
    if (!model->refusals.empty() || (replicated() && writes_elsewhere(action))) {
      run_on_host(action, *why);
      return false;
    }
    if (devices_ > 1) tell(action, "one", *why);
  }
  return start(action, *model, recent);
}

std::string Spread::why_not_on_gpus(const KernelAction& action) {
  if (Audit::of(action.function()) != nullptr) return "it is audited";
  return gpus_->of(action.function()).refusal;
}

Spread::Recent& Spread::plans_of(const KernelAction& action, const access::KernelModel& model) {
  access::LaunchNumbers numbers =
      numbers_of(action.shape().grid, action.shape().block, action.arguments(), model);
  const Grid& grid = action.shape().grid;
  const Grid& block = action.shape().block;
  const std::array<std::uint32_t, 6> sizes{grid[0], grid[1], grid[2], block[0], block[1], block[2]};
  Recent& recent = recent_.try_emplace(&action.function(), model).first->second;
  if (recent.plans == nullptr || recent.sizes != sizes || recent.scalars != numbers.scalars) {
    recent.sizes = sizes;
    find_plans(model, numbers, recent, action.function());
    recent.scalars = std::move(numbers.scalars);
    recent.binding = nullptr;
  }
  return recent;
}

void Spread::find_plans(const access::KernelModel& model, const access::LaunchNumbers& numbers,
                        Recent& recent, const Function& function) {
  recent.plans = nullptr;
  access::LaunchForm::Form form = recent.form.of(numbers);
  Signature signature{&function, recent.sizes, std::move(form.deciding)};
  auto found = plans_.find(signature);
  if (found == plans_.end()) {
    if (plans_.size() >= kMostPlans) forget_plans();
    auto made = std::make_unique<Plans>(
        Plans{std::make_shared<SplitPlan>(model, numbers, devices_), form.begins, shows_order(model), {}});
    found = plans_.emplace(std::move(signature), std::move(made)).first;
  }
  recent.plans = found->second.get();
  recent.moved = std::move(form.begins);
  for (std::size_t p = 0; p < recent.moved.size(); ++p) recent.moved[p] -= recent.plans->begins[p];
}

void Spread::forget_plans() {
  forget_bindings();
  for (auto& [function, recent] : recent_) recent.plans = nullptr;
  plans_.clear();
}

void Spread::forget_bindings() {
  settle();
  for (auto& [function, recent] : recent_) recent.binding = nullptr;
  for (auto& [signature, plans] : plans_) plans->bindings.clear();
  bindings_ = 0;
}

/// False where a pointer leads to memory that Nuna does not move.
bool Spread::find_binding(const KernelAction& action, const access::KernelModel& model, Recent& recent) {
  const std::uint64_t changes = memory_.changes();
  bool is_as_before = recent.binding != nullptr && recent.memory_changes == changes;
  recent.pointers.resize(model.pointers.size());
  for (std::size_t p = 0; p < model.pointers.size(); ++p) {
    if (!model.pointers[p].variable.empty()) continue;
    const std::uintptr_t pointer = pointer_of(action.arguments(), model.pointers[p]);
    is_as_before = std::exchange(recent.pointers[p], pointer) == pointer && is_as_before;
  }
  if (is_as_before) return true;
  recent.memory_changes = changes;
  recent.binding = binding_of(model, recent);
  if (recent.binding == nullptr) return false;
  auto patches = std::make_shared<std::vector<PointerPatch>>();
  for (std::size_t t = 0; t < recent.binding->targets.size(); ++t) {
    const Target& target = recent.binding->targets[t];
    const access::Pointer& pointer = model.pointers[target.pointer];
    patches->push_back({pointer.argument, pointer.offset, recent.binding->views[t],
                        target.offset - recent.moved[target.pointer], target.pointer, target.allocation});
  }
  recent.patches = std::move(patches);
  return true;
}

Spread::Binding* Spread::binding_of(const access::KernelModel& model, const Recent& recent) {
  Plans& plans = *recent.plans;
  std::vector<Target> targets;
  std::vector<std::uint64_t> key;
  for (std::uint32_t p = 0; p < model.pointers.size(); ++p) {
    if (!model.pointers[p].variable.empty()) continue;
    if (!plans.plan->reads(p) && !plans.plan->writes(p)) continue;
    const std::uintptr_t address = recent.pointers[p];
    const auto allocation = memory_.find(reinterpret_cast<const void*>(address));
    const auto backing = memory_.backing(reinterpret_cast<const void*>(address));
    if (!allocation || !backing) return nullptr;
    const auto begin = static_cast<Index>(allocation->first - backing->first);
    targets.push_back({p,
                       *backing,
                       static_cast<Index>(address - backing->first) + recent.moved[p],
                       {begin, begin + static_cast<Index>(allocation->bytes)}});
    for (const Index word : {static_cast<Index>(backing->number), targets.back().offset, begin,
                             static_cast<Index>(allocation->bytes)})
      key.push_back(static_cast<std::uint64_t>(word));
  }
  if (bindings_ >= kMostBindings) forget_bindings();
  auto& binding = plans.bindings[key];
  if (binding == nullptr) {
    binding = bind(std::move(targets), plans.plan);
    ++bindings_;
  }
  return binding.get();
}

/// One argument a buffer for what is read of it, one for what is written, one for what may be.
std::unique_ptr<Spread::Binding> Spread::bind(std::vector<Target> targets,
                                              const std::shared_ptr<SplitPlan>& plan) const {
  auto binding = std::make_unique<Binding>();
  binding->targets = std::move(targets);
  enum class Use { read, write, may_write };
  std::map<std::pair<std::uint64_t, Use>, std::vector<std::size_t>> uses;
  for (std::size_t t = 0; t < binding->targets.size(); ++t) {
    const Target& target = binding->targets[t];
    if (plan->reads(target.pointer)) uses[{target.backing.number, Use::read}].push_back(t);
    if (!plan->writes(target.pointer)) continue;
    uses[{target.backing.number, plan->writes_all(target.pointer) ? Use::write : Use::may_write}].push_back(
        t);
  }
  for (const auto& [use, members] : uses) {
    const bool reads = use.second == Use::read;
    std::vector<Target> here;
    for (const std::size_t t : members) here.push_back(binding->targets[t]);
    AccessMap map(
        [plan, here, reads](const Part& part, std::vector<Box>& boxes) {
          std::vector<Interval> runs;
          for (const Target& target : here) {
            const access::BlockBox blocks = blocks_of(part);
            const auto& footprint =
                reads ? plan->read(target.pointer, blocks) : plan->written(target.pointer, blocks);
            append(footprint, target.offset, target.allocation, {0, static_cast<Index>(target.backing.bytes)},
                   runs);
          }
          join(runs, boxes);
        },
        new_identity());
    binding->arguments.push_back(
        {members.front(), std::move(map), reads, !reads, use.second == Use::may_write});
  }
  for (const Target& target : binding->targets) {
    const auto same = [&](const Argument& argument) {
      return binding->targets[argument.target].backing.number == target.backing.number;
    };
    const auto found = std::find_if(binding->arguments.begin(), binding->arguments.end(), same);
    binding->views.push_back(static_cast<std::size_t>(found - binding->arguments.begin()));
  }
  return binding;
}

bool Spread::start(const KernelAction& action, const access::KernelModel& model, Recent& recent) {
  if (!find_binding(action, model, recent)) {
    run_on_host(action, "it was given a pointer to memory that is not the device's");
    return false;
  }
  const Plans& plans = *recent.plans;
  Binding* const binding = recent.binding;
  auto kernel = std::make_shared<SharedKernel>();
  if (gpus_) kernel->gpu = &gpus_->of(action.function());
  kernel->spread = this;
  kernel->action = action.shared_from_this();
  kernel->patches = recent.patches;
  GridLaunch launch;
  for (const Argument& argument : binding->arguments) {
    detail::LaunchArgument made;
    made.buffer = &binding->targets[argument.target].backing.buffer->handle();
    made.map = &argument.map;
    made.reads = argument.reads;
    made.writes = argument.writes;
    made.may = argument.may;
    launch.arguments.push_back(made);
  }
  launch.name = action.function().name.c_str();
  launch.grid = action.shape().grid;
  if (!plans.plan->reason()) launch.axis = plans.plan->axis();
  launch.run = &SharedKernel::run;
  if (gpus_) launch.cuda = &SharedKernel::kOnGpu;
  launch.closure = std::move(kernel);
  launch.brief = action.is_known_short();
  try {
    if (plans.in_order) settle();
    start(launch);
    if (plans.in_order) settle();
    return true;
  } catch (const Error& error) {
    run_on_host(action, error.what());
    return false;
  }
}

}  // namespace nuna::cudart
