#include "audit.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "block_audit.hpp"
#include "call.hpp"
#include "device.hpp"
#include "model_arguments.hpp"

namespace nuna::cudart {

/// A pointer that the kernel was given.
struct KernelAudit::Target {
  static constexpr std::uint32_t kNotInModel = ~0u;
  std::uint32_t pointer = kNotInModel;  ///< in the model
  std::string name;                     ///< "argument 2"
  Index address = 0;
  std::optional<Interval> allocation;  ///< around it

  bool is_around(Interval bytes) const {
    return allocation && allocation->begin <= bytes.begin && bytes.begin < allocation->end;
  }
};

/// What a block may do, and what it must.
struct KernelAudit::Claims {
  ByteRanges reads;
  ByteRanges writes;
  std::vector<std::pair<const Target*, ByteRanges>> certain;
};

namespace {

constexpr int kMostTold = 10;
constexpr std::size_t kMostSignatures = 1024;
constexpr std::size_t kPointerBytes = sizeof(void*);

Index address_of(const void* pointer) {
  return static_cast<Index>(reinterpret_cast<std::uintptr_t>(pointer));
}

std::optional<Interval> allocation_around(Index address) {
  Device* const device = Device::if_there();
  if (device == nullptr) return std::nullopt;
  const auto found =
      device->memory().find(reinterpret_cast<const void*>(static_cast<std::uintptr_t>(address)));
  if (!found) return std::nullopt;
  const auto first = static_cast<Index>(found->first);
  return Interval{first, first + static_cast<Index>(found->bytes)};
}

const nuna_variable* variable_of(const nuna_image& image, const std::string& name) {
  const auto* const end = image.variables + image.variable_count;
  const auto* const found =
      std::find_if(image.variables, end, [&](const nuna_variable& each) { return name == each.name; });
  return found == end ? nullptr : found;
}

void append(const access::Footprint& footprint, Index address, const std::optional<Interval>& allocation,
            std::vector<Interval>& to) {
  if (footprint.anywhere) {
    if (allocation) to.push_back(*allocation);
    return;
  }
  for (const access::Rows& rows : footprint.rows) {
    for (Index row = 0; row < rows.count; ++row) {
      const Index begin = address + rows.begin + row * rows.stride;
      to.push_back({begin, begin + rows.bytes});
    }
  }
}

std::string text_of(Interval bytes) {
  return "[" + std::to_string(bytes.begin) + ", " + std::to_string(bytes.end) + ")";
}

std::string place_of(std::string_view file, std::uint32_t line) {
  return line == 0 ? "" : " at " + std::string(file) + ":" + std::to_string(line);
}

const char* word_of(nuna_audit_kind kind) {
  return kind == NUNA_AUDIT_READ ? "reads" : kind == NUNA_AUDIT_WRITE ? "writes" : "updates";
}

}  // namespace

std::vector<KernelAudit::Target> KernelAudit::targets_of(const nuna_block_call& call,
                                                         std::span<const PointerPlace> places) const {
  const access::KernelModel& model = *function_.model;
  std::vector<Target> targets;
  for (std::uint32_t p = 0; p < model.pointers.size(); ++p) {
    const access::Pointer& pointer = model.pointers[p];
    Target target{p, "argument " + std::to_string(pointer.argument), 0, std::nullopt};
    if (!pointer.variable.empty()) {
      const nuna_variable* const variable = variable_of(*function_.image, pointer.variable);
      if (variable == nullptr) continue;
      target.name = "variable " + pointer.variable;
      target.address = address_of(variable->address);
      target.allocation = {target.address, target.address + static_cast<Index>(variable->bytes)};
    } else {
      if (pointer.offset != 0) target.name += ", byte " + std::to_string(pointer.offset);
      target.address = static_cast<Index>(pointer_of(call.arguments, pointer));
      const auto place = std::find_if(places.begin(), places.end(),
                                      [p](const PointerPlace& each) { return each.pointer == p; });
      target.allocation = place != places.end() ? place->allocation : allocation_around(target.address);
    }
    targets.push_back(std::move(target));
  }
  const nuna_kernel& kernel = *function_.kernel;
  for (std::uint32_t a = 0; a < kernel.parameters; ++a) {
    if (kernel.parameter_bytes[a] != kPointerBytes) continue;
    const auto address = static_cast<Index>(pointer_of(call.arguments, {a, 0, ""}));
    if (const auto allocation = allocation_around(address))
      targets.push_back({Target::kNotInModel, "argument " + std::to_string(a), address, allocation});
  }
  return targets;
}

KernelAudit::Claims KernelAudit::claims_of(const Numbers& numbers, const access::BlockBox& block,
                                           const std::vector<Target>& targets) {
  const std::lock_guard lock(mutex_);
  auto found = accesses_.find(numbers.key);
  if (found == accesses_.end()) {
    if (accesses_.size() >= kMostSignatures) accesses_.clear();
    found = accesses_.emplace(numbers.key, access::LaunchAccess(*function_.model, numbers.numbers)).first;
  }
  access::LaunchAccess& access = found->second;
  std::vector<Interval> reads;
  std::vector<Interval> writes;
  Claims claims;
  for (const Target& target : targets) {
    if (target.pointer == Target::kNotInModel) continue;
    if (access.reads(target.pointer))
      append(access.read(target.pointer, block), target.address, target.allocation, reads);
    if (!access.writes(target.pointer)) continue;
    std::vector<Interval> here;
    const access::Footprint written = access.written(target.pointer, block);
    append(written, target.address, target.allocation, here);
    writes.insert(writes.end(), here.begin(), here.end());
    if (!written.anywhere && access.writes_all(target.pointer))
      claims.certain.emplace_back(&target, ByteRanges(std::move(here)));
  }
  reads.insert(reads.end(), writes.begin(), writes.end());
  claims.reads = ByteRanges(std::move(reads));
  claims.writes = ByteRanges(std::move(writes));
  return claims;
}

bool KernelAudit::is_known(Interval bytes, bool written, const std::vector<Target>& targets) const {
  const bool is_variable = variable_around(*function_.image, bytes.begin).has_value();
  if (is_variable) return written;
  return std::any_of(targets.begin(), targets.end(),
                     [&](const Target& target) { return target.is_around(bytes); }) ||
         allocation_around(bytes.begin);
}

int KernelAudit::run(const nuna_block_call& box, std::span<const PointerPlace> places,
                     const std::function<int(const nuna_block_call&)>& run_block) {
  const std::vector<Target> targets = targets_of(box, places);
  Numbers numbers;
  Grid grid{box.grid[0], box.grid[1], box.grid[2]};
  Grid threads{box.block[0], box.block[1], box.block[2]};
  numbers.numbers = numbers_of(grid, threads, box.arguments, *function_.model);
  numbers.key = {grid, threads, numbers.numbers.scalars};
  nuna_block_call call = box;
  for (call.first[2] = box.first[2]; call.first[2] < box.last[2]; ++call.first[2]) {
    for (call.first[1] = box.first[1]; call.first[1] < box.last[1]; ++call.first[1]) {
      for (call.first[0] = box.first[0]; call.first[0] < box.last[0]; ++call.first[0]) {
        access::BlockBox block;
        for (std::size_t a = 0; a < 3; ++a) {
          call.last[a] = call.first[a] + 1;
          block[a] = {call.first[a], call.last[a]};
        }
        const Claims claims = claims_of(numbers, block, targets);
        BlockAudit audited(claims.reads, claims.writes,
                           [&](Interval bytes, bool written) { return is_known(bytes, written, targets); });
        for (const auto& [target, bytes] : claims.certain) audited.expect(bytes);
        int error = 0;
        {
          const WatchingHere here(audited);
          error = run_block(call);
        }
        if (error != 0) return error;
        blocks_.fetch_add(1);
        if (!judge(audited, claims, targets, call)) set_sticky_error(cudaErrorLaunchFailure);
      }
    }
  }
  return 0;
}

bool KernelAudit::judge(const BlockAudit& block, const Claims& claims, const std::vector<Target>& targets,
                        const nuna_block_call& call) {
  bool holds = true;
  for (const Touch& each : block.trespasses()) {
    const auto target = std::find_if(targets.begin(), targets.end(),
                                     [&](const Target& one) { return one.is_around(each.bytes); });
    tell(call, target != targets.end() ? &*target : nullptr, word_of(each.kind), each.bytes,
         place_of(each.file, each.line), "which its model does not");
    holds = false;
  }
  for (std::size_t e = 0; e < claims.certain.size(); ++e) {
    const Target& target = *claims.certain[e].first;
    const auto& all = function_.model->accesses;
    const auto access = std::find_if(all.begin(), all.end(), [&](const access::Access& each) {
      return each.pointer == target.pointer && each.kind == access::Access::Kind::write;
    });
    const std::string at = access == all.end() ? "" : place_of(access->at.file, access->at.line);
    for (const Interval bytes : block.unwritten(e)) {
      tell(call, &target, "does not write", bytes, "", "which its model says it does" + at);
      holds = false;
    }
  }
  return holds;
}

void KernelAudit::tell(const nuna_block_call& call, const Target* target, const std::string& does,
                       Interval bytes, const std::string& at, const std::string& ends) {
  misses_.fetch_add(1);
  const std::lock_guard lock(mutex_);
  if (told_++ >= kMostTold) return;
  const Index origin = target != nullptr ? target->address : 0;
  const std::string who = target != nullptr ? target->name : "memory that it was not given";
  std::fprintf(stderr, "nuna: audit: kernel %s, block (%u, %u, %u), %s: %s bytes %s%s, %s\n",
               function_.name.c_str(), call.first[0], call.first[1], call.first[2], who.c_str(), does.c_str(),
               text_of({bytes.begin - origin, bytes.end - origin}).c_str(), at.c_str(), ends.c_str());
}

Audit* Audit::if_on() {
  static Audit* const only = [] {
    const char* const text = std::getenv("NUNA_AUDIT");
    const std::string_view word = text != nullptr ? text : "";
    return word == "1" || word == "on" || word == "yes" || word == "true" ? new Audit : nullptr;
  }();
  return only;
}

KernelAudit* Audit::of(const Function& function) {
  Audit* const audit = if_on();
  return audit == nullptr ? nullptr : audit->find(function);
}

KernelAudit* Audit::find(const Function& function) {
  const std::lock_guard lock(mutex_);
  const auto [found, is_new] = kernels_.try_emplace(&function);
  if (is_new) found->second = make(function);
  return found->second.get();
}

std::unique_ptr<KernelAudit> Audit::make(const Function& function) {
  const char* const name = function.name.c_str();
  if ((function.kernel->flags & NUNA_KERNEL_AUDITED) == 0) {
    if (!std::exchange(told_how_, true))
      std::fprintf(stderr,
                   "nuna: audit: kernel %s does not tell what it touches: compile with nunacc --audit\n",
                   name);
    return nullptr;
  }
  const access::KernelModel* const model = function.model.get();
  if (model != nullptr && model->refusals.empty()) return std::make_unique<KernelAudit>(function);
  std::string reason = "the compiler has left no model of what it touches";
  if (model != nullptr)
    reason = model->refusals.front().reason +
             place_of(model->refusals.front().at.file, model->refusals.front().at.line);
  std::fprintf(stderr, "nuna: audit: kernel %s is not audited: %s\n", name, reason.c_str());
  return nullptr;
}

void Audit::report() {
  Audit* const audit = if_on();
  if (audit == nullptr) return;
  const std::lock_guard lock(audit->mutex_);
  std::uint64_t kernels = 0;
  std::uint64_t launches = 0;
  std::uint64_t blocks = 0;
  std::uint64_t misses = 0;
  for (const auto& [function, kernel] : audit->kernels_) {
    if (kernel == nullptr) continue;
    ++kernels;
    launches += kernel->launches();
    blocks += kernel->blocks();
    misses += kernel->misses();
  }
  const auto count = [](std::uint64_t number) { return static_cast<unsigned long long>(number); };
  std::fprintf(stderr, "nuna: audit: %llu kernels, %llu launches, %llu blocks, %llu misses\n", count(kernels),
               count(launches), count(blocks), count(misses));
}

}  // namespace nuna::cudart
