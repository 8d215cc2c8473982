#include "rank_devices.hpp"

#include <algorithm>

#include "nuna/error.hpp"
#include "nuna/instance.hpp"
#ifdef NUNA_WITH_CUDA
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/host_pins.hpp"
#endif

namespace nuna::detail {
namespace {

DeviceKind kind_of(DeviceKind asked, const base::Settings& settings) {
  if (asked != DeviceKind::automatic) return asked;
  const std::string text = settings.text("NUNA_DEVICE", "auto");
  if (text == "auto") return DeviceKind::automatic;
  if (text == "host") return DeviceKind::host;
  if (text == "cuda") return DeviceKind::cuda;
  throw Error(ErrorCode::bad_setting, "NUNA_DEVICE is \"" + text + "\": expected auto, host or cuda");
}

}  // namespace

#ifdef NUNA_WITH_CUDA

bool wants_cuda(DeviceKind asked, const base::Settings& settings) {
  const DeviceKind kind = kind_of(asked, settings);
  if (kind == DeviceKind::host || (kind == DeviceKind::automatic && !has_cuda_kernels())) return false;
  const device::CardsFound& found = device::find_cards();
  if (kind == DeviceKind::cuda && found.cards.empty()) {
    throw Error(ErrorCode::unsupported, "there are no CUDA devices: " + found.why_none +
                                            "; use the CPU instead (NUNA_DEVICE=host), or mend that");
  }
  return !found.cards.empty();
}

void tell_cards(topology::RankFacts& facts) {
  const auto& cards = device::find_cards().cards;
  const int count = std::min(static_cast<int>(cards.size()), topology::kMostCards);
  facts.cards_seen = count;
  for (int c = 0; c < count; ++c) {
    const device::CardInfo& info = cards[static_cast<std::size_t>(c)];
    topology::CardFacts& card = facts.cards[static_cast<std::size_t>(c)];
    card.uuid = info.uuid;
    card.free_bytes = device::free_card_bytes(c) / 16 * 15;  // the rest is for contexts and code
    card.copy_bytes_per_second = info.copy_bytes_per_second;
    for (int other = 0; other < count; ++other) {
      if (info.reaches[static_cast<std::size_t>(other)]) card.reaches |= std::uint64_t{1} << other;
    }
  }
}

bool card_reaches(int card, int other) {
  return card == other ||
         device::find_cards().cards[static_cast<std::size_t>(card)].reaches[static_cast<std::size_t>(other)];
}

RankCards::RankCards(const Config& config) : pins_(device::make_host_pins(config.shares.front().card)) {
  constexpr std::uintptr_t kWished = 0x5000'0000'0000;  // behind the window; the driver decides
  for (std::size_t d = 0; d < config.shares.size(); ++d) {
    const topology::CardShare& share = config.shares[d];
    const std::string name = "cuda:" + std::to_string(d);
    device::CudaDeviceConfig device;
    device.name = config.prefix + name;
    device.card = share.card;
    device.range_bytes = static_cast<std::size_t>(config.range_bytes);
    device.wished = reinterpret_cast<std::byte*>(kWished + (d << 40));  // NOLINT(performance-no-int-to-ptr)
    device.memory_bytes = static_cast<std::size_t>(share.free_bytes);
    device.plain_memory = config.plain_memory;
    for (const topology::CardShare& other : config.shares) {
      const bool known =
          std::find(device.peers.begin(), device.peers.end(), other.card) != device.peers.end();
      if (other.card != share.card && !known && card_reaches(other.card, share.card))
        device.peers.push_back(other.card);
    }
    device.pins = pins_;
    device.bell = config.bell;
    device.spin = config.spin;
    if (config.recorder != nullptr) {
      device.recorder = config.recorder;
      const std::array<std::string, 3> tracks{name, name + " copies in", name + " copies out"};
      for (std::size_t t = 0; t < tracks.size(); ++t)
        device.tracks[t] = config.recorder->track(config.rank, trace::TrackKind::device, tracks[t]);
    }
    devices_.push_back(device::make_cuda_device(device));
  }
}

RankCards::~RankCards() = default;

void RankCards::manage(std::byte* first, Index bytes) const { pins_->manage(first, bytes); }
void RankCards::unmanage(std::byte* first) const { pins_->unmanage(first); }
void RankCards::forget(std::byte* first, Index bytes) const { pins_->forget(first, bytes); }
bool RankCards::is_on_card(const void* memory) const { return device::is_card_memory(memory); }
bool RankCards::is_pinned(const void* memory) const { return device::is_pinned_memory(memory); }

#else

bool wants_cuda(DeviceKind asked, const base::Settings& settings) {
  if (kind_of(asked, settings) != DeviceKind::cuda) return false;
  throw Error(
      ErrorCode::unsupported,
      "Nuna was built without CUDA: configure it with -DNUNA_CUDA=ON, or use the CPU (NUNA_DEVICE=host)");
}

void tell_cards(topology::RankFacts&) {}
bool card_reaches(int, int) { return false; }
RankCards::RankCards(const Config&) {}
RankCards::~RankCards() = default;
void RankCards::manage(std::byte*, Index) const {}
void RankCards::unmanage(std::byte*) const {}
void RankCards::forget(std::byte*, Index) const {}
bool RankCards::is_on_card(const void*) const { return false; }
bool RankCards::is_pinned(const void*) const { return false; }

#endif

}  // namespace nuna::detail
