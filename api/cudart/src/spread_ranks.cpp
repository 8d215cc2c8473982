// Launches and copies of several ranks that run one program (spread.hpp).

#include <algorithm>
#include <cstring>
#include <utility>

#include "call.hpp"
#include "images.hpp"
#include "kernel.hpp"
#include "model_arguments.hpp"
#include "spread.hpp"

namespace nuna::cudart {

void Spread::agree_on_errors() {
  const cudaError_t noted = noted_.exchange(cudaSuccess);
  const cudaError_t own = noted != cudaSuccess ? noted : sticky_error();
  const double error = context_.max(static_cast<double>(own));
  if (error != 0) set_sticky_error(static_cast<cudaError_t>(static_cast<int>(error)));
}

bool Spread::begin_turn(const KernelAction& action) {
  if (!replicated()) return true;
  const bool everywhere = writes_elsewhere(action);
  close_views();
  memory_.open_for_turn(everywhere, pointers_of(action));
  return context_.rank() == 0 || everywhere;
}

bool Spread::begin_turn(const std::vector<const void*>& pointers) {
  if (!replicated()) return true;
  close_views();
  memory_.open_for_turn(false, pointers);
  return is_first();
}

void Spread::end_turn() {
  if (!replicated()) return;
  close_views();
  agree_on_errors();
}

/// Those that lead to everything that it touches; nothing where only it knows.
std::optional<std::vector<const void*>> Spread::pointers_of(const KernelAction& action) {
  const access::KernelModel* const model = action.function().model.get();
  if (model == nullptr || !model->refusals.empty()) return std::nullopt;
  std::vector<const void*> pointers;
  for (const access::Pointer& pointer : model->pointers) {
    if (pointer.variable.empty())
      pointers.push_back(reinterpret_cast<const void*>(pointer_of(action.arguments(), pointer)));
  }
  return pointers;
}

void Spread::close_views() {
  if (memory_.close_views()) agreement_.tell();
}

void Spread::approach(const Action& next, bool runs,
                      const std::function<std::vector<ActionRef>()>& following) noexcept try {
  launches_.approach(next, runs, following);
} catch (...) {
  set_sticky_error(error_of_current_exception());
}

/// To variables, or through pointers that are not into the device's memory.
bool Spread::writes_elsewhere(const KernelAction& action) const {
  const access::KernelModel* const model = action.function().model.get();
  if (model == nullptr) return false;
  return std::any_of(model->accesses.begin(), model->accesses.end(), [&](const access::Access& access) {
    if (access.kind == access::Access::Kind::read) return false;
    const access::Pointer& pointer = model->pointers[access.pointer];
    return !pointer.variable.empty() ||
           !memory_.backing(reinterpret_cast<const void*>(pointer_of(action.arguments(), pointer)));
  });
}

double Spread::agreed(double value) { return context_.sum(is_first() ? value : 0); }

std::vector<std::vector<std::byte>> Spread::gathered(const std::vector<std::byte>& own) {
  if (!replicated()) return {own};
  return detail::gather(context_.state(), own.data(), own.size(), {"cuda ranks", 0});
}

std::optional<std::string> Spread::first_said(const std::optional<std::string>& own) {
  if (!replicated()) return own;
  const std::string text = own.value_or("");
  const auto* const first = reinterpret_cast<const std::byte*>(text.data());
  for (const std::vector<std::byte>& each : gathered({first, first + text.size()})) {
    if (!each.empty()) return std::string(reinterpret_cast<const char*>(each.data()), each.size());
  }
  return std::nullopt;
}

namespace {

bool has_gaps(const Place& place, const Rows& rows) {
  return (rows.rows > 1 && place.row_bytes != rows.width) ||
         (rows.planes > 1 && place.plane_bytes != rows.width * rows.rows);
}

}  // namespace

void Spread::copy(const Copy& copy) {
  close_views();
  const bool to_device = memory_.backing(copy.to.first).has_value();
  const bool from_device = memory_.backing(copy.from.first).has_value();
  if (!to_device && !from_device) return copy_on_host(copy);
  // What lies between the rows of such a target is brought, too, and all ranks' changes of it are merged.
  if (to_device && !from_device && has_gaps(copy.to, copy.rows)) return copy_agreed(copy);
  copy_bytes(copy);
}

/// Host bytes that differ are rank 0's then.
void Spread::copy_bytes(const Copy& copy) {
  const auto bytes = [](std::size_t count) { return static_cast<Index>(count); };
  const Rows& rows = copy.rows;
  try {
    context_.copy(Pitched{copy.to.first, bytes(copy.to.row_bytes), bytes(copy.to.plane_bytes)},
                  ConstPitched{copy.from.first, bytes(copy.from.row_bytes), bytes(copy.from.plane_bytes)},
                  Extents({bytes(rows.planes), bytes(rows.rows), bytes(rows.width)}));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unequal_fill) throw;
    agreement_.tell();
  }
}

/// Each rank has the variables of the device itself.
void Spread::copy_on_host(const Copy& copy) {
  perform(copy);
  if (!Images::of_process().is_in_variable(copy.to.first)) return;
  const Rows& rows = copy.rows;
  const std::size_t span =
      (rows.planes - 1) * copy.to.plane_bytes + (rows.rows - 1) * copy.to.row_bytes + rows.width;
  if (!agreement_.settle({copy.to.first, span})) agreement_.tell();
}

void Spread::copy_agreed(const Copy& copy) {
  const Rows& rows = copy.rows;
  std::vector<std::byte> dense(rows.bytes());
  const Place aside{dense.data(), rows.width, rows.width * rows.rows};
  perform(Copy{aside, copy.from, rows});
  if (!agreement_.settle(dense)) agreement_.tell();
  copy_bytes({copy.to, aside, rows});
}

/// By copies of some rows that hold the value: as many at once as memory aside may be.
void Spread::fill(const Fill& fill) {
  constexpr std::size_t kMostBytes = std::size_t{16} << 20;
  const Rows& rows = fill.rows;
  if (rows.bytes() == 0) return;
  const std::size_t width = std::min(rows.width, kMostBytes / fill.element_bytes * fill.element_bytes);
  const std::size_t together =
      width < rows.width ? 1 : std::clamp<std::size_t>(kMostBytes / width, 1, rows.rows);
  std::vector<std::byte> pattern(width * together);
  perform(Fill{{pattern.data(), pattern.size(), pattern.size()},
               {pattern.size(), 1, 1},
               fill.value,
               fill.element_bytes});
  for (std::size_t plane = 0; plane < rows.planes; ++plane) {
    for (std::size_t row = 0; row < rows.rows; row += together) {
      for (std::size_t at = 0; at < rows.width; at += width) {
        const Rows some{std::min(width, rows.width - at), std::min(together, rows.rows - row), 1};
        std::byte* const first = fill.to.first + plane * fill.to.plane_bytes + row * fill.to.row_bytes + at;
        const std::size_t pitch = some.rows > 1 ? fill.to.row_bytes : some.width;
        copy({{first, pitch, pitch * some.rows}, {pattern.data(), some.width, some.width * some.rows}, some});
      }
    }
  }
}

}  // namespace nuna::cudart
