#pragma once
// Copies and fills as operations of the lane.

#include <cstddef>
#include <cstdint>
#include <string>

#include "lane.hpp"

namespace nuna::cudart {

/// Rows of `width` bytes.
struct Rows {
  std::size_t width = 0;
  std::size_t rows = 1;
  std::size_t planes = 1;
  std::size_t bytes() const { return width * rows * planes; }
};
/// Where they lie.
struct Place {
  std::byte* first = nullptr;
  std::size_t row_bytes = 0;
  std::size_t plane_bytes = 0;
};

struct Copy {
  Place to;
  Place from;
  Rows rows;
};
struct Fill {
  Place to;
  Rows rows;
  std::uint32_t value = 0;
  std::size_t element_bytes = 1;  ///< 1, 2 or 4
};

/// By the calling thread alone.
void perform(const Copy& copy);
void perform(const Fill& fill);

/// Work on memory worth the crew's help.
constexpr std::size_t kCrewBytes = std::size_t{4} << 20;

class CopyAction final : public Action {
 public:
  explicit CopyAction(const Copy& copy) : copy_(copy) {}
  std::string name() const override { return "a copy of " + std::to_string(copy_.rows.bytes()) + " bytes"; }
  void run(Crew& crew) const override;
  bool orders_itself() const override { return true; }

 private:
  const Copy copy_;
};
class FillAction final : public Action {
 public:
  explicit FillAction(const Fill& fill) : fill_(fill) {}
  std::string name() const override { return "a fill of " + std::to_string(fill_.rows.bytes()) + " bytes"; }
  void run(Crew& crew) const override;
  bool orders_itself() const override { return true; }

 private:
  const Fill fill_;
};

}  // namespace nuna::cudart
