#include "profile.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "call.hpp"
#include "kernel.hpp"
#include "model_arguments.hpp"
#include "part_watch.hpp"
#include "sets_message.hpp"

namespace nuna::cudart {
namespace {

/// Signatures are forgotten all at once where a program makes ever new ones.
constexpr std::size_t kMostSignatures = 1024;
constexpr std::size_t kPointerBytes = sizeof(void*);

bool is_on(const char* name) {
  const char* const text = std::getenv(name);
  const std::string_view word = text != nullptr ? text : "";
  return word == "1" || word == "on" || word == "yes" || word == "true";
}

/// A tile is a part, which one thread runs.
class RecordingJob final : public Job {
 public:
  RecordingJob(const KernelAction& action, RecordedSets& sets)
      : Job(static_cast<std::uint64_t>(sets.parts())), action_(action), sets_(sets) {}

  void work() override {
    for (std::uint64_t tile = take(); tile < tiles(); tile = take()) {
      const int part = static_cast<int>(tile);
      PartRecorder recorder(*action_.function().image, sets_.part(part));
      GridBox blocks{{0, 0, 0}, action_.shape().grid};
      const auto axis = static_cast<std::size_t>(sets_.axis());
      blocks.first[axis] = static_cast<std::uint32_t>(sets_.blocks(part).begin);
      blocks.last[axis] = static_cast<std::uint32_t>(sets_.blocks(part).end);
      const cudaError_t error = action_.run_watched(blocks, recorder);
      if (error == cudaSuccess) continue;
      set_sticky_error(error);
      stop();
    }
  }

 private:
  const KernelAction& action_;
  RecordedSets& sets_;
};

}  // namespace

std::unique_ptr<Profile> Profile::if_on(Spread* spread, Memory& memory) {
  if (!is_on("NUNA_PROFILE")) return nullptr;
  const char* why = nullptr;
  if (spread == nullptr) {
    why = "one device has nothing to share out (NUNA_DEVICES)";
  } else if (spread->on_gpus()) {
    why = "it is for the CPU (NUNA_DEVICE=host)";
  } else if (is_on("NUNA_AUDIT")) {
    why = "NUNA_AUDIT is on";
  } else {
    return std::make_unique<Profile>(*spread, memory);
  }
  std::fprintf(stderr, "nuna: profile: off, because %s\n", why);
  return nullptr;
}

void Profile::tell(const Function& function, const std::string& what) {
  if (told_.emplace(&function, what).second)
    std::fprintf(stderr, "nuna: profile: kernel %s %s\n", function.name.c_str(), what.c_str());
}

/// What recorded sets would not show, or what cannot be undone.
std::optional<std::string> Profile::why_not(const KernelAction& action) const {
  const access::KernelModel& model = *action.function().model;
  for (const access::Refusal& refusal : model.refusals) {
    if (!refusal.of_addresses) return text_of(refusal);
  }
  if (action.shape().cooperative) return "its blocks wait for each other";
  if (model.prints) return "it prints";
  for (const access::Access& access : model.accesses) {
    if (access.kind == access::Access::Kind::atomic) return text_of({"atomic update", access.at});
    if (access.kind == access::Access::Kind::write && !model.pointers[access.pointer].variable.empty())
      return text_of({"writes a variable", access.at});
  }
  return std::nullopt;
}

Profile::Signature Profile::signature_of(const KernelAction& action) const {
  const Function& function = action.function();
  const LaunchShape& shape = action.shape();
  Signature signature;
  signature.function = &function;
  for (std::size_t a = 0; a < 3; ++a) {
    signature.sizes[a] = shape.grid[a];
    signature.sizes[a + 3] = shape.block[a];
  }
  signature.sizes[6] = shape.dynamic_shared_bytes;
  signature.numbers = numbers_of(shape.grid, shape.block, action.arguments(), *function.model).scalars;
  const auto add_pointer = [&](const access::Pointer& pointer) {
    const std::uintptr_t address = pointer_of(action.arguments(), pointer);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the program's own pointer
    if (memory_.backing(reinterpret_cast<const void*>(address)))
      signature.numbers.push_back(static_cast<std::int64_t>(address));
  };
  for (const access::Pointer& pointer : function.model->pointers) {
    if (pointer.variable.empty()) add_pointer(pointer);
  }
  for (std::uint32_t a = 0; a < function.kernel->parameters; ++a) {
    if (function.kernel->parameter_bytes[a] == kPointerBytes) add_pointer({a, 0, ""});
  }
  return signature;
}

Profile::Launches& Profile::launches_of(const KernelAction& action) {
  Signature signature = signature_of(action);
  const auto found = launches_.find(signature);
  if (found != launches_.end()) return found->second;
  if (launches_.size() >= kMostSignatures) launches_.clear();
  Launches made{LaunchHistory(action.shape().grid, spread_.devices()), nullptr};
  return launches_.emplace(std::move(signature), std::move(made)).first->second;
}

bool Profile::launch(const KernelAction& action, Crew& crew) {
  const auto why = spread_.why_whole(action);
  if (!why) return false;
  const Function& function = action.function();
  if (const auto never = why_not(action)) {
    tell(function, "is not split: " + *never);
    return false;
  }
  if ((function.kernel->flags & NUNA_KERNEL_AUDITED) == 0) {
    if (!std::exchange(told_how_, true))
      std::fprintf(stderr,
                   "nuna: profile: kernel %s does not tell what it touches: compile with nunacc --audit\n",
                   function.name.c_str());
    return false;
  }
  Launches& launches = launches_of(action);
  if (launches.history.next() == LaunchHistory::Next::share && share(action, launches)) return true;
  if (launches.history.next() == LaunchHistory::Next::record) {
    tell(function, "is recorded: " + *why);
    record(action, crew, launches);
    return true;
  }
  if (launches.history.reason() != *why) tell(function, "is not split: " + launches.history.reason());
  return false;
}

bool Profile::share(const KernelAction& action, Launches& launches) {
  const Function& function = action.function();
  try {
    if (launches.shared == nullptr)
      launches.shared = std::make_unique<CheckedLaunch>(launches.history.sets());
    const auto deviates = launches.shared->run(action, spread_, memory_);
    if (!deviates) {
      tell(function, "is split by what it touched");
      shared_.insert(&function);
      ++shared_launches_;
      return true;
    }
    ++deviations_;
    std::fprintf(stderr, "nuna: profile: kernel %s %s, which it did not before: undone, and run whole\n",
                 function.name.c_str(), deviates->c_str());
    launches.history.add_deviation();
  } catch (const Error& error) {
    launches.history.give_up(error.what());
  }
  launches.shared.reset();
  return false;
}

void Profile::record(const KernelAction& action, Crew& crew, Launches& launches) {
  spread_.settle();
  recorded_.insert(&action.function());
  auto chunks = std::make_shared<Chunks>();
  for (const Memory::Backing& backing : memory_.backings()) {
    const auto first = static_cast<Index>(backing.first);
    chunks->push_back({backing.number, {first, first + static_cast<Index>(backing.bytes)}});
  }
  auto sets = std::make_shared<RecordedSets>(std::move(chunks), action.shape().grid, launches.history.axis(),
                                             spread_.devices());
  if (spread_.begin_turn(action)) {
    RecordingJob job(action, *sets);
    crew.perform(job, false);
  }
  spread_.end_turn();
  if (sticky_error() != cudaSuccess) return;
  if (spread_.replicated()) {
    if (const auto why = take_from_first(*sets)) return launches.history.give_up(*why);
  }
  launches.history.add(std::move(sets));
}

/// What the first rank has recorded. Why it says nothing here: then on all ranks.
std::optional<std::string> Profile::take_from_first(RecordedSets& sets) {
  auto all = spread_.gathered(spread_.is_first() ? message_of(sets) : std::vector<std::byte>());
  std::optional<std::string> why;
  if (!spread_.is_first()) {
    sets.clear();
    why = add_message(all.front(), sets);
  }
  return spread_.first_said(why);
}

void Profile::report() const {
  std::fprintf(stderr,
               "nuna: profile: %zu kernels recorded, %zu of them split in %llu launches, %llu deviations\n",
               recorded_.size(), shared_.size(), static_cast<unsigned long long>(shared_launches_),
               static_cast<unsigned long long>(deviations_));
}

}  // namespace nuna::cudart
