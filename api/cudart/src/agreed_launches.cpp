#include "agreed_launches.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "kernel.hpp"
#include "model_arguments.hpp"

namespace nuna::cudart {
namespace {

constexpr std::size_t kMostEntries = 4096;  // of one message
constexpr std::size_t kMostBytes = std::size_t{256} << 10;
constexpr std::size_t kMostKnown = std::size_t{1} << 16;

std::uint64_t hash_of(const Function& function, const std::vector<std::byte>& arguments) {
  const std::string_view text(reinterpret_cast<const char*>(arguments.data()), arguments.size());
  return std::hash<std::string_view>{}(text) ^
         static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(&function)) * 0x9e3779b97f4a7c15U;
}

bool has_structures(const nuna_kernel& kernel) {
  return std::any_of(kernel.parameter_bytes, kernel.parameter_bytes + kernel.parameters,
                     [](std::uint32_t bytes) { return bytes > sizeof(std::uint64_t); });
}

struct Head {
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;
};

void append(std::vector<std::byte>& message, const Head& head, const std::vector<std::byte>& arguments) {
  const auto* const first = reinterpret_cast<const std::byte*>(&head);
  message.insert(message.end(), first, first + sizeof head);
  message.insert(message.end(), arguments.begin(), arguments.end());
}

/// Reads one entry after the other.
class Reader {
 public:
  explicit Reader(const std::vector<std::byte>& message) : message_(message) {}
  bool at_end() const { return at_ == message_.size(); }
  /// The arguments of the next, which must be `wanted`.
  std::vector<std::byte> take(const Head& wanted) {
    Head head;
    if (message_.size() - at_ >= sizeof head) std::memcpy(&head, message_.data() + at_, sizeof head);
    if (head.number != wanted.number || head.bytes != wanted.bytes ||
        message_.size() - at_ - sizeof head < head.bytes) {
      throw Error(ErrorCode::diverged, "ranks launch different kernels: let every rank make the same calls");
    }
    at_ += sizeof head;
    const auto first = message_.begin() + static_cast<std::ptrdiff_t>(at_);
    at_ += head.bytes;
    return {first, first + static_cast<std::ptrdiff_t>(head.bytes)};
  }

 private:
  const std::vector<std::byte>& message_;
  std::size_t at_ = 0;
};

}  // namespace

void AgreedLaunches::approach(const Action& next, bool runs,
                              const std::function<std::vector<ActionRef>()>& following) {
  if (context_.ranks() == 1) return;
  cursor_ = next_;
  settled_.erase(settled_.begin(), settled_.lower_bound(next_));
  std::vector<Entry> entries;
  add(next, next_, entries);
  if (!runs || entries.empty()) return;
  std::uint64_t number = next_;
  std::size_t bytes = 0;
  for (const ActionRef& action : following()) {
    const std::size_t before = entries.size();
    add(*action, number, entries);
    for (std::size_t e = before; e < entries.size(); ++e) bytes += entries[e].arguments.size();
    if (entries.size() >= kMostEntries || bytes >= kMostBytes) break;
  }
  agree_on(entries);
}

/// Those of its kernels that are to be agreed on.
void AgreedLaunches::add(const Action& action, std::uint64_t& number, std::vector<Entry>& entries) const {
  action.for_each_kernel([&](const KernelAction& kernel) {
    const std::uint64_t mine = number++;
    // Without a model it runs on rank 0 alone.
    if (kernel.function().model == nullptr || settled_.count(mine) != 0) return;
    std::vector<std::byte> arguments = kernel.packed_arguments();
    if (!arguments.empty() && !is_known(kernel, arguments))
      entries.push_back({mine, &kernel, std::move(arguments)});
  });
}

bool AgreedLaunches::is_known(const KernelAction& kernel, const std::vector<std::byte>& arguments) const {
  const Function& function = kernel.function();
  return !has_structures(*function.kernel) && unlike_.count(&function) == 0 &&
         alike_.count(hash_of(function, arguments)) != 0;
}

/// As many of them as all ranks know of by now: at least those of the operation that comes next.
void AgreedLaunches::agree_on(const std::vector<Entry>& entries) {
  std::vector<std::byte> message;
  for (const Entry& entry : entries) append(message, {entry.number, entry.arguments.size()}, entry.arguments);
  const auto all = detail::gather(context_.state(), message.data(), message.size(), {"cuda launches", 0});
  std::vector<Reader> readers(all.begin(), all.end());
  const auto has_ended = [](const Reader& reader) { return reader.at_end(); };
  if (alike_.size() >= kMostKnown) alike_.clear();
  for (const Entry& entry : entries) {
    if (std::any_of(readers.begin(), readers.end(), has_ended)) return;
    std::vector<std::byte> first;
    bool alike = true;
    for (Reader& reader : readers) {
      std::vector<std::byte> arguments = reader.take({entry.number, entry.arguments.size()});
      if (&reader == &readers.front()) {
        first = std::move(arguments);
      } else {
        alike = alike && arguments == first;
      }
    }
    const Function& function = entry.kernel->function();
    if (!alike) unlike_.insert(&function);
    if (alike && !has_structures(*function.kernel)) alike_.insert(hash_of(function, entry.arguments));
    settled_[entry.number] = alike ? std::vector<std::byte>() : std::move(first);
  }
}

std::shared_ptr<const KernelAction> AgreedLaunches::agreed(const KernelAction& kernel) {
  const auto settled = settled_.find(cursor_++);
  if (settled == settled_.end() || settled->second.empty()) return kernel.shared_from_this();
  std::vector<std::byte> arguments = settled->second;
  const nuna_kernel& code = *kernel.function().kernel;
  for (const access::Pointer& pointer : kernel.function().model->pointers) {
    if (!pointer.variable.empty()) continue;
    const std::uintptr_t own = pointer_of(kernel.arguments(), pointer);
    std::size_t at = pointer.offset;
    for (std::uint32_t p = 0; p < pointer.argument; ++p) at += code.parameter_bytes[p];
    std::memcpy(arguments.data() + at, &own, sizeof own);
  }
  return kernel.with_arguments(std::move(arguments));
}

}  // namespace nuna::cudart
