#pragma once
// Launches over several devices: the program's one device is all of them.
//
// A kernel comes with a model of what its blocks touch (access/kernel_model.hpp). At the first launch of a signature the model is
// evaluated with the launch's numbers (split_plan.hpp); launches with other scalars that only move what they touch have the same
// signature (access/launch_form.hpp). If no two parts write the same bytes, the launch becomes one of Nuna's, whose arguments are the buffers behind the kernel's pointers with what each part reads and writes of them. Nuna moves what is missing
// (paper 004, sections 6 and 8, over a tracker that knows sharers). Each part runs with the pointers of its device's memory.
//
// A launch that cannot be shared runs on the first device, with what it touches; where that cannot be told (pointers in memory, calls without
// a body, memory of the program), on the host over its views of the same memory, after what is under way. One line says why.
//
// On GPUs (NUNA_DEVICE=cuda) parts run the kernel's PTX (gpu_kernels.hpp), and the host its CPU code, where they do not understand it, too.
//
// Of several ranks each runs the same program. There host work is rank 0's, and what it has written goes to others when they need it;
// kernels that also write what Nuna does not move, variables and the program's own memory, run on every rank. Where ranks hold
// different bytes in what they give the device (padding, addresses, what depends on time), rank 0's are the program's (agreement.hpp).

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "access/launch_form.hpp"
#include "agreed_launches.hpp"
#include "agreement.hpp"
#include "copy.hpp"
#include "gpu_kernels.hpp"
#include "grid_launch.hpp"
#include "lane.hpp"
#include "memory.hpp"
#include "nuna/context.hpp"
#include "nuna/event.hpp"
#include "pointer_patch.hpp"
#include "split_plan.hpp"

namespace nuna::cudart {

/// Of what ranks agree on; kernels have their addresses.
inline constexpr std::uint64_t kFillSubject = 1;

class KernelAction;
struct Function;
struct SharedKernel;

/// Used by the lane's leader only.
class Spread final : public Ahead {
 public:
  /// `on_gpus`: the devices are GPUs. `timed`: counts cpu_ns.
  Spread(Context& context, Memory& memory, bool on_gpus, bool timed)
      : context_(context),
        memory_(memory),
        agreement_(context),
        launches_(context),
        devices_(context.devices() * context.ranks()),
        timed_(timed) {
    if (on_gpus) gpus_.emplace();
  }

  int devices() const { return devices_; }  ///< of all ranks
  bool on_gpus() const { return gpus_.has_value(); }
  /// Whether this process is one of several ranks.
  bool replicated() const { return context_.ranks() > 1; }

  /// The launch as rank 0 asks for it, with this rank's pointers.
  std::shared_ptr<const KernelAction> agreed(const KernelAction& action) { return launches_.agreed(action); }
  /// Why the model of a kernel's blocks does not allow a launch to be shared out; nothing also where there is no model.
  std::optional<std::string> why_whole(const KernelAction& action);
  /// Starts the launch on all devices, and returns true; or waits until the host may run it, and returns false: then a turn follows.
  bool launch(const KernelAction& action);
  /// CPU time of all launches on this thread: plans, what Nuna keeps account of, and handing out the parts; 0 if it is not counted.
  std::uint64_t cpu_ns() const { return cpu_ns_; }
  /// Whether this rank runs the kernel on the host.
  bool begin_turn(const KernelAction& action);
  /// The same for what the library does on the host where these pointers lead: the first rank does it.
  bool begin_turn(const std::vector<const void*>& pointers);
  void end_turn();

  /// Starts a launch of the caller's making. Throws Error.
  void start(const GridLaunch& launch);
  /// Starts a large copy or fill of the devices' memory on all devices, and returns true; or the host does it.
  bool start(const Copy& copy);
  bool start(const Fill& fill);
  /// Gives devices that have copies of the target new ones, from the host or of one value, and returns true when they have them; or the
  /// host does it. What launches have read since it was written lies where they will look for it.
  bool update(const Copy& copy);
  bool update(const Fill& fill);
  /// Of several ranks, with device memory on one side at least.
  void copy(const Copy& copy);
  void fill(const Fill& fill);

  /// Of several ranks: what has failed on one is then the error of all. They must not act on it before, or they would part.
  void agree_on_errors();
  /// What a shared launch has failed with on this rank.
  void note_error(cudaError_t error) noexcept;

  /// Rank 0's value.
  double agreed(double value);
  bool is_first() const { return context_.rank() == 0; }
  /// Every rank's bytes, by rank.
  std::vector<std::vector<std::byte>> gathered(const std::vector<std::byte>& own);
  /// What the first rank has to say that has something.
  std::optional<std::string> first_said(const std::optional<std::string>& own);

  bool running() const override { return !events_.empty(); }
  void settle() override;
  void approach(const Action& next, bool runs,
                const std::function<std::vector<ActionRef>()>& following) noexcept override;

 private:
  friend SharedKernel;
  struct Signature {
    const Function* function = nullptr;
    std::array<std::uint32_t, 6> sizes{};  ///< of grid and blocks
    std::vector<std::int64_t> deciding;    ///< numbers (access::LaunchForm)
    friend bool operator<(const Signature& a, const Signature& b) {
      return std::tie(a.function, a.sizes, a.deciding) < std::tie(b.function, b.sizes, b.deciding);
    }
  };
  /// A pointer of the kernel, with the buffer that it points into.
  struct Target {
    std::uint32_t pointer = 0;  ///< in the model
    Memory::Backing backing;
    Index offset = 0;     ///< from where the plan counts its bytes, in the buffer
    Interval allocation;  ///< around what it points to, in the buffer
  };
  struct Argument {
    std::size_t target = 0;  ///< one that is in the buffer
    AccessMap map;
    bool reads = false;
    bool writes = false;
    bool may = false;
  };
  /// A signature with its pointers: what Nuna is asked.
  struct Binding {
    std::vector<Target> targets;
    std::vector<Argument> arguments;
    std::vector<std::size_t> views;  ///< for each target, an argument in its buffer
  };
  struct Plans {
    std::shared_ptr<SplitPlan> plan;  ///< which Nuna's copies of the maps below share
    std::vector<Index> begins;        ///< of the launch that it was made for
    bool in_order = false;  ///< prints, or writes variables: what Nuna orders launches by does not show it
    std::map<std::vector<std::uint64_t>, std::unique_ptr<Binding>> bindings;
  };

  bool launch_untimed(const KernelAction& action);
  std::string why_not_on_gpus(const KernelAction& action);
  /// Of a function: what its last launch was like, and so the next one may be.
  struct Recent {
    explicit Recent(const access::KernelModel& model) : form(model) {}
    access::LaunchForm form;
    std::array<std::uint32_t, 6> sizes{};
    std::vector<std::int64_t> scalars;
    Plans* plans = nullptr;  ///< of its signature; null: forgotten
    std::vector<Index>
        moved;  ///< by how many bytes it touches other ones than the plan says, through each pointer
    std::vector<std::uintptr_t> pointers;
    std::uint64_t memory_changes = 0;
    Binding* binding = nullptr;  ///< null: forgotten, or there is none
    std::shared_ptr<const std::vector<PointerPatch>> patches;
  };
  Recent& plans_of(const KernelAction& action, const access::KernelModel& model);
  void find_plans(const access::KernelModel& model, const access::LaunchNumbers& numbers, Recent& recent,
                  const Function& function);
  void forget_plans();
  void forget_bindings();
  bool find_binding(const KernelAction& action, const access::KernelModel& model, Recent& recent);
  Binding* binding_of(const access::KernelModel& model, const Recent& recent);
  std::unique_ptr<Binding> bind(std::vector<Target> targets, const std::shared_ptr<SplitPlan>& plan) const;
  bool start(const KernelAction& action, const access::KernelModel& model, Recent& recent);
  void follow(nuna::Event event);
  void settle(const std::function<void()>& wait);
  void run_on_host(const KernelAction& action, const std::string& why);
  void tell(const KernelAction& action, const char* where, const std::string& why);
  bool writes_elsewhere(const KernelAction& action) const;
  void close_views();
  bool update(const Place& to, const Rows& rows, const Place* from, std::byte value);
  void copy_bytes(const Copy& copy);
  void copy_on_host(const Copy& copy);
  void copy_agreed(const Copy& copy);
  void start_call(const std::function<nuna::Event()>& call);
  static std::optional<std::vector<const void*>> pointers_of(const KernelAction& action);

  Context& context_;
  Memory& memory_;
  Agreement agreement_;
  AgreedLaunches launches_;
  const int devices_;
  const bool timed_;
  std::optional<GpuKernels> gpus_;
  std::uint64_t cpu_ns_ = 0;
  std::unordered_map<const Function*, Recent> recent_;
  std::map<Signature, std::unique_ptr<Plans>> plans_;
  std::size_t bindings_ = 0;  // of all plans
  std::deque<nuna::Event> events_;
  std::set<std::pair<const Function*, std::string>> told_;
  bool views_closed_ = false;
  std::atomic<cudaError_t> noted_{cudaSuccess};  // of several ranks: not agreed on yet
};

}  // namespace nuna::cudart
