#pragma once
// Copier: puts copies and fills of one device on streams.
//
// Three ways, by what the ends are:
//   engine    device memory and pinned host memory, in rows and planes: one call of the copy engine
//   kernel    the same in forms that the engine cannot describe
//   bounced   host memory that is not pinned: through two pinned blocks, one of which the CPU fills (or empties) while the engine
//             works on the other (HPE, section 4.3: double buffering). Needs a thread that may block.
//
// Threads: each lane's, one at a time a lane. Failures: nuna::Error, as the driver's calls.

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "device/cuda/card.hpp"
#include "device/cuda/copy_form.hpp"
#include "device/cuda/host_pins.hpp"
#include "device/cuda/lane.hpp"
#include "device/region.hpp"

namespace nuna::device::cuda {

class Copier {
 public:
  struct Config {
    std::string owner;  ///< the device's name
    Card* card = nullptr;
    Interval own;  ///< the device's address range
    std::shared_ptr<HostPins> pins;
  };
  explicit Copier(Config config);
  ~Copier();
  Copier(const Copier&) = delete;
  Copier& operator=(const Copier&) = delete;

  /// As Lane's start functions: false when the copy needs a thread that may block and this is none.
  bool copy(const Region& to, const Region& from, Lane::Start& start);
  void fill(const Region& to, std::byte value, Lane::Start& start);

  enum class Kind { device, pinned, pageable };
  /// Of the memory at an address.
  Kind kind_of(const std::byte* first) const;

 private:
  static constexpr Index kBlockBytes = Index{1} << 20;
  struct Bounce;

  bool pinned_by_others(const std::byte* begin, const std::byte* end) const;
  void straight(const Region& to, const Region& from, const std::optional<CopyForm>& form,
                CUstream stream) const;
  void by_kernel(const Region& to, const Region& from, Interval bytes, CUstream stream) const;
  void bounced(const Region& to, const Region& from, bool to_device, CUstream stream);
  void part(const Region& device, std::byte* block, Interval bytes, bool to_device, CUstream stream) const;
  std::string about(const Region& to) const;

  const Config config_;
  const Driver& driver_;
  const bool kernels_reach_pinned_;                 // registered memory, at the addresses that it has
  std::array<std::unique_ptr<Bounce>, 2> bounces_;  // by direction: a lane each
};

}  // namespace nuna::device::cuda
