#include "address/window.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "base/check.hpp"
#include "base/units.hpp"
#include "nuna/error.hpp"

namespace nuna::address {
namespace {

// Below this, table mode's larger slots are better than fixed addresses.
constexpr Index kSmallestFixedSlotBytes = kLargestSlotBytes >> 6;

/// Slot k begins this far behind its pitch; neighbours are 5 colours apart, as an arena's large blocks are.
Index colour_bytes(std::uint64_t slot) {
  return static_cast<Index>(slot * 5 % static_cast<std::uint64_t>(kColours)) * kPageBytes;
}

/// What remains of a pitch for use: the colours, and behind the last one a closed page.
Index usable_bytes(Index pitch) { return pitch - kColourPeriodBytes; }

/// The largest slots of which `count` fit into the window and into the process's limits.
Index wished_pitch(Index largest, Index count, Index views) {
  Index pitch = largest;
  while (pitch > kSmallestSlotBytes && pitch > kWindowSlots * kLargestSlotBytes / count) pitch /= 2;
  if (const auto left = address_space_left()) {
    while (pitch > kSmallestSlotBytes && pitch > *left / 2 / (count + views)) pitch /= 2;
  }
  return pitch;
}

/// Opens the memory of the next place at `offset` of `reservation`.
bool open_slot(const Reservation& reservation, Index offset, Index bytes, bool mappable,
               std::vector<File>& files) {
  const bool host = files.empty();
  files.emplace_back();
  if (!host && !mappable) return reservation.map_private(offset, bytes);
  auto file = memory_file(bytes);
  if (!file) return host ? reservation.map_shared(offset, bytes) : reservation.map_private(offset, bytes);
  if (!reservation.map_shared(offset, bytes, *file)) return false;
  files.back() = std::move(*file);
  return true;
}

}  // namespace

Slots::Slots(Slots&& other) noexcept
    : window_(std::exchange(other.window_, nullptr)),
      addresses_(other.addresses_),
      reservations_(std::move(other.reservations_)),
      bases_(std::move(other.bases_)),
      slot_bytes_(other.slot_bytes_),
      files_(std::move(other.files_)),
      view_(other.view_),
      view_refused_(other.view_refused_),
      twin_file_(std::move(other.twin_file_)),
      twin_(other.twin_),
      spent_bytes_(other.spent_bytes_) {}

Slots& Slots::operator=(Slots&& other) noexcept {
  if (this == &other) return *this;
  release();
  window_ = std::exchange(other.window_, nullptr);
  addresses_ = other.addresses_;
  reservations_ = std::move(other.reservations_);
  bases_ = std::move(other.bases_);
  slot_bytes_ = other.slot_bytes_;
  files_ = std::move(other.files_);
  view_ = other.view_;
  view_refused_ = other.view_refused_;
  twin_file_ = std::move(other.twin_file_);
  twin_ = other.twin_;
  spent_bytes_ = other.spent_bytes_;
  return *this;
}

Slots::~Slots() { release(); }

std::byte* Slots::base(base::PlaceId place) const {
  base::check(0 <= place.value && place.value < places(), "a place has no slot");
  return bases_[static_cast<std::size_t>(place.value)];
}

int Slots::file(base::PlaceId place) const {
  base::check(0 <= place.value && place.value < places(), "a place has no slot");
  return files_[static_cast<std::size_t>(place.value)].descriptor();
}

std::byte* Slots::view() {
  base::check(window_ != nullptr, "a view is made of slots that live");
  if (view_ != nullptr || view_refused_) return view_;
  view_refused_ = true;
  const File& file = files_.front();
  if (file.descriptor() < 0) return nullptr;
  auto reservation = window_->beside(*this, slot_bytes_ + kColourPeriodBytes, 0);
  if (!reservation) return nullptr;
  // Where the slot's blocks begin, the view's do: pages that are large are so in both.
  const auto wanted = reinterpret_cast<std::uintptr_t>(bases_.front());
  const auto at = reinterpret_cast<std::uintptr_t>(reservation->begin());
  const auto skip = static_cast<Index>((wanted - at) % static_cast<std::uintptr_t>(kColourPeriodBytes));
  if (!reservation->map_closed(skip, slot_bytes_, file)) return nullptr;
  view_ = reservation->begin() + skip;
  window_->add_view(*this, std::move(*reservation), view_);
  return view_;
}

Slots::Twin Slots::twin() {
  if (twin_ != nullptr) return {twin_, twin_file_->descriptor()};
  if (address_space_left()) return {};
  auto file = memory_file(slot_bytes_);
  auto reservation = window_->beside(*this, slot_bytes_, kWindowSlots * kLargestSlotBytes / 2);
  if (!file || !reservation || !reservation->map_shared(0, slot_bytes_, *file)) return {};
  twin_ = reservation->begin();
  twin_file_ = std::move(file);
  reservations_.push_back(std::move(*reservation));
  return {twin_, twin_file_->descriptor()};
}

void Slots::add_place(std::byte* first, Index bytes) {
  base::check(window_ != nullptr && first != nullptr, "places are added to slots that live");
  window_->add(*this, first, bytes);
}

void Slots::release() noexcept {
  if (window_ == nullptr) return;
  std::exchange(window_, nullptr)->forget(*this);
}

Window::Window(WindowOptions options)
    : options_(options), addresses_(kWindowSlots * kLargestSlotBytes, kSmallestSlotBytes) {
  const Index largest = options.largest_slot_bytes;
  base::check(kSmallestSlotBytes <= largest && largest <= kLargestSlotBytes && (largest & (largest - 1)) == 0,
              "a window's slot size is out of bounds or no power of two");
}

Window::~Window() { base::check(slots_.empty(), "a window died before its slots"); }

Window& Window::of_process() {
  static Window* const window = new Window;  // outlives whatever a static destructor still holds
  return *window;
}

Slots Window::acquire(const Request& request) {
  const int places = 1 + request.device_places;
  base::check(request.device_places >= 0 && places <= base::kMaxPlaces, "an owner asks for too many places");
  base::check(request.peers >= 1, "an owner counts itself among its peers");
  const Index pitch = wished_pitch(options_.largest_slot_bytes, Index{places} * request.peers,
                                   request.view ? request.peers : 0);

  const base::MutexLock lock(mutex_);
  Slots slots;
  bool placed = false;
  const Index smallest_fixed = std::min(pitch, kSmallestFixedSlotBytes);
  for (Index p = pitch; !placed && !options_.table_mode && p >= smallest_fixed; p /= 2) {
    placed = try_fixed(slots, places, p, request.mappable_devices);
  }
  for (Index p = pitch; !placed && p >= kSmallestSlotBytes; p /= 2) {
    placed = try_table(slots, places, p, request.mappable_devices);
  }
  if (!placed) {
    throw Error(ErrorCode::out_of_memory, "no address space for " + std::to_string(places) + " memories of " +
                                              base::rounded_bytes(kSmallestSlotBytes) +
                                              ": the system refuses to reserve it; raise the limit on "
                                              "address space (ulimit -v) or use fewer devices");
  }
  for (int p = 0; p < places; ++p) {
    const auto base = reinterpret_cast<std::uintptr_t>(slots.bases_[static_cast<std::size_t>(p)]);
    slots_.emplace(base, Slot{slots.slot_bytes_, request.owner, base::PlaceId{p}});
  }
  slots.window_ = this;
  return slots;
}

/// All slots side by side at their fixed addresses. Changes nothing if it fails.
bool Window::try_fixed(Slots& slots, int places, Index pitch, bool mappable) {
  if (addresses_.largest_hole_bytes() < places * pitch) return false;
  Index begin = 0;
  try {
    begin = addresses_.allocate(places * pitch, pitch);
  } catch (const Error&) {  // large enough, but not aligned
    return false;
  }
  Slots tried;
  auto reservation = Reservation::at(kWindowBegin + static_cast<std::uintptr_t>(begin), places * pitch);
  bool opened = reservation.has_value();
  for (int p = 0; opened && p < places; ++p) {
    const Index offset = p * pitch + colour_bytes(static_cast<std::uint64_t>(begin / pitch + p));
    opened = open_slot(*reservation, offset, usable_bytes(pitch), mappable, tried.files_);
    tried.bases_.push_back(reservation->begin() + offset);
  }
  if (!opened) {
    addresses_.free(begin);
    return false;
  }
  tried.addresses_ = begin;
  tried.slot_bytes_ = usable_bytes(pitch);
  tried.reservations_.push_back(std::move(*reservation));
  slots = std::move(tried);
  return true;
}

/// Each slot wherever the kernel puts it. Changes nothing but the next colour if it fails.
bool Window::try_table(Slots& slots, int places, Index pitch, bool mappable) {
  Slots tried;
  for (int p = 0; p < places; ++p) {
    auto reservation = Reservation::anywhere(pitch);
    if (!reservation) return false;
    const auto address = reinterpret_cast<std::uintptr_t>(reservation->begin());
    // The colour is the address's, not the distance from wherever the kernel begins.
    const Index off = static_cast<Index>(address % static_cast<std::uintptr_t>(kColourPeriodBytes));
    const Index skip = (colour_bytes(next_colour_++) - off + kColourPeriodBytes) % kColourPeriodBytes;
    if (!open_slot(*reservation, skip, usable_bytes(pitch), mappable, tried.files_)) return false;
    tried.bases_.push_back(reservation->begin() + skip);
    tried.reservations_.push_back(std::move(*reservation));
  }
  tried.slot_bytes_ = usable_bytes(pitch);
  slots = std::move(tried);
  return true;
}

void Window::add(Slots& slots, std::byte* first, Index bytes) {
  const base::MutexLock lock(mutex_);
  const auto owner = slots_.find(reinterpret_cast<std::uintptr_t>(slots.bases_.front()));
  slots_.emplace(reinterpret_cast<std::uintptr_t>(first),
                 Slot{bytes, owner->second.owner, base::PlaceId{slots.places()}});
  slots.bases_.push_back(first);
  slots.files_.emplace_back();
}

/// Addresses for an owner's further mappings, if at least `leaving` of the allowance are left to others.
std::optional<Reservation> Window::beside(Slots& slots, Index bytes, Index leaving) {
  const base::MutexLock lock(mutex_);
  if (allowance_ - bytes < leaving) return std::nullopt;
  auto reservation = Reservation::anywhere(bytes);
  if (!reservation) return std::nullopt;
  allowance_ -= bytes;
  slots.spent_bytes_ += bytes;
  return reservation;
}

void Window::add_view(Slots& slots, Reservation reservation, std::byte* first) {
  const base::MutexLock lock(mutex_);
  const auto host = slots_.find(reinterpret_cast<std::uintptr_t>(slots.bases_.front()));
  const Slot same = host->second;
  slots_.emplace(reinterpret_cast<std::uintptr_t>(first), same);
  slots.reservations_.push_back(std::move(reservation));
}

/// Forgotten before it is unmapped, so that find() never names dead memory; the addresses are free for others
/// after that.
void Window::forget(Slots& slots) {
  {
    const base::MutexLock lock(mutex_);
    for (const std::byte* const base : slots.bases_) slots_.erase(reinterpret_cast<std::uintptr_t>(base));
    if (slots.view_ != nullptr) slots_.erase(reinterpret_cast<std::uintptr_t>(slots.view_));
  }
  slots.reservations_.clear();  // without the lock: giving back many used pages takes long
  const base::MutexLock lock(mutex_);
  allowance_ += slots.spent_bytes_;
  if (slots.addresses_) addresses_.free(*slots.addresses_);
}

std::optional<Window::Found> Window::find(const void* pointer) const {
  const base::MutexLock lock(mutex_);
  return look_up(pointer);
}

bool Window::try_find(const void* pointer, std::optional<Found>& found) const {
  if (!mutex_.try_lock()) return false;
  found = look_up(pointer);
  mutex_.unlock();
  return true;
}

std::optional<Window::Found> Window::look_up(const void* pointer) const {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  auto slot = slots_.upper_bound(address);
  if (slot == slots_.begin()) return std::nullopt;
  --slot;
  const Index offset = static_cast<Index>(address - slot->first);
  if (offset >= slot->second.bytes) return std::nullopt;
  return Found{slot->second.owner, slot->second.place, offset};
}

}  // namespace nuna::address
