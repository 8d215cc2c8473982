// Listing 2: the threads share one Context and see each other's arrays. Each launches on its own device, and copies halos from
// its neighbour's array, device to device.

#include "styles.hpp"

namespace hpe {

std::vector<float> listing_2(const Field& field, int devices) {
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
  }
  Semaphores l_bound_sem(devices), r_bound_sem(devices), l_halo_sem(devices), r_halo_sem(devices);

  on_threads(devices, [&](int id) {
    const nuna::Interval planes = field.slab(id, devices);
    const Index size = planes.size();
    const nuna::Box points = field.points(size);
    auto* in = &slabs[0];
    auto* out = &slabs[1];
    const auto of = [](std::vector<Slab>* side, int slab) -> Slab& {
      return (*side)[static_cast<std::size_t>(slab)];
    };
    context.launch("start", nuna::on(id), points, block(field), Start{planes.begin}, nuna::write(of(in, id)));
    const auto exchange = [&](std::vector<Slab>* side) {
      // loop: begin
      if (id > 0) r_halo_sem.post(id - 1);
      if (id < devices - 1) l_halo_sem.post(id + 1);
      if (id > 0) {
        l_halo_sem.wait(id);
        context.copy_box(nuna::on(id), of(side, id), field.some_planes(0, kRadius), of(side, id - 1),
                         field.some_planes(field.slab(id - 1, devices).size(), kRadius));
        r_bound_sem.post(id - 1);
      }
      if (id < devices - 1) {
        r_halo_sem.wait(id);
        context.copy_box(nuna::on(id), of(side, id), field.some_planes(kRadius + size, kRadius),
                         of(side, id + 1), field.some_planes(kRadius, kRadius));
        l_bound_sem.post(id + 1);
      }
      if (id > 0) l_bound_sem.wait(id);
      if (id < devices - 1) r_bound_sem.wait(id);
      // loop: end
    };
    exchange(in);
    // loop: begin
    for (int step = 0; step < field.steps; ++step) {
      context.launch("step", nuna::on(id), points, block(field), Step{},
                     nuna::read(of(in, id), nuna::halo(kRadius)), nuna::write(of(out, id)));
      exchange(out);
      std::swap(in, out);
    }
    // loop: end
    collect(field, of(in, id), planes.begin, result);
  });
  return result;
}

}  // namespace hpe
