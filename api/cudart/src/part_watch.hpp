#pragma once
// What watches the blocks of one part of a launch in profile mode: while it is recorded, and while it is shared out.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "recorded_sets.hpp"
#include "watcher.hpp"

namespace nuna::cudart {

/// Ways to memory that no device has a copy of, and that is no chunk of the sets.
class PartWatch : public Watcher {
 protected:
  explicit PartWatch(const nuna_image& image) : image_(image) {}
  ~PartWatch() = default;

  /// Whether the access may go where it goes, on any device: memory of its own blocks, or variables, if they are read.
  bool is_free(const Touch& access);
  /// Why not.
  std::string reason_of(const Touch& access) const;

 private:
  const nuna_image& image_;
  Interval variable_;  // the last one that was read
};

/// Adds to the sets what blocks touch. They run where their addresses are.
class PartRecorder final : public PartWatch {
 public:
  PartRecorder(const nuna_image& image, PartSets& sets) : PartWatch(image), sets_(sets) {}
  Index touch(const Touch& access) override;

 private:
  PartSets& sets_;
  std::size_t near_ = 0;
};

/// Lets blocks touch what is in the sets, in a device's copies of the chunks, and ends the kernel before they touch something else.
class PartGuard final : public PartWatch {
 public:
  /// `copies`: of each chunk the address of the device's copy of its first byte; not looked at where the sets have nothing.
  PartGuard(const nuna_image& image, const PartSets& sets, const std::vector<Index>& copies,
            const Chunks& chunks)
      : PartWatch(image), sets_(sets), copies_(copies), chunks_(chunks) {}
  Index touch(const Touch& access) override;
  /// What it ended the kernel for.
  const std::optional<Touch>& deviation() const { return deviation_; }

 private:
  [[noreturn]] void end(const Touch& access);

  const PartSets& sets_;
  const std::vector<Index>& copies_;
  const Chunks& chunks_;
  std::size_t near_ = 0;
  std::optional<Touch> deviation_;
};

/// "reads 4 bytes at scatter.cu:12".
std::string text_of(const Touch& access);

}  // namespace nuna::cudart
