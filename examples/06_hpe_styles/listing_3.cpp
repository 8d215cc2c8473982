// Listing 3: no copies at all. The kernel takes the neighbours' arrays as arguments, in the neighbours' memory.

#include <algorithm>

#include "styles.hpp"

namespace hpe {

std::vector<float> listing_3(const Field& field, int devices) {
  std::vector<float> result = no_result(field);
  nuna::Options options;
  options.devices = devices;
  nuna::Context context = nuna::Context::self(options);
  std::vector<Slab> slabs[2];
  for (int id = 0; id < devices; ++id) {
    for (auto& side : slabs) {
      side.emplace_back(context, field.extents(field.slab(id, devices).size()));
      context.fill(nuna::on(id), side.back(), 0.0F);
    }
    context.launch("start", nuna::on(id), field.points(field.slab(id, devices).size()), block(field),
                   Start{field.slab(id, devices).begin}, nuna::write(slabs[0].back()));
  }
  if (devices > 1) std::printf("  %s\n", context.describe(nuna::on(1, slabs[0][1]), 0).c_str());
  // The paper has one semaphore for both neighbours; a fast one would count for both.
  Semaphores from_left(devices), from_right(devices);

  on_threads(devices, [&](int id) {
    const nuna::Interval planes = field.slab(id, devices);
    const nuna::Box points = field.points(planes.size());
    const int l = std::max(id - 1, 0);
    const int r = std::min(id + 1, devices - 1);
    auto* in = &slabs[0];
    auto* out = &slabs[1];
    const auto of = [](std::vector<Slab>* side, int slab) -> Slab& {
      return (*side)[static_cast<std::size_t>(slab)];
    };
    const nuna::AccessMap l_bound =
        nuna::fixed(field.some_planes(of(in, l).extents()[0] - 2 * kRadius, kRadius));
    const nuna::AccessMap r_bound = nuna::fixed(field.some_planes(kRadius, kRadius));
    // loop: begin
    for (int step = 0; step < field.steps; ++step) {
      context.launch("step", nuna::on(id), points, block(field), StepAcross{id > 0, id < devices - 1},
                     nuna::on(l, nuna::read(of(in, l), l_bound)), nuna::read(of(in, id), nuna::halo(kRadius)),
                     nuna::on(r, nuna::read(of(in, r), r_bound)), nuna::write(of(out, id)));
      if (id > 0) from_right.post(id - 1);
      if (id < devices - 1) from_left.post(id + 1);
      if (id > 0) from_left.wait(id);
      if (id < devices - 1) from_right.wait(id);
      std::swap(in, out);
    }
    // loop: end
    collect(field, of(in, id), planes.begin, result);
  });
  return result;
}

}  // namespace hpe
