#pragma once
// Places: the memories of one rank and the queues that serve them.

#include <vector>

#include "base/ids.hpp"
#include "device/device.hpp"
#include "residency/residency.hpp"

namespace nuna::execute {

/// Not owned. Every place has a device whose queue copies to and from it; kernels run on the devices of the slots.
struct Places {
  std::vector<device::Device*> device_of_place;
  std::vector<base::PlaceId> place_of_slot;
  std::vector<residency::PlaceSet> reached_by_slot;  ///< places whose memory a device's kernels can use

  int count() const { return static_cast<int>(device_of_place.size()); }
  device::Device& at(base::PlaceId p) const { return *device_of_place[static_cast<std::size_t>(p.value)]; }
  device::Device& of_slot(int slot) const { return at(place_of_slot[static_cast<std::size_t>(slot)]); }
};

}  // namespace nuna::execute
