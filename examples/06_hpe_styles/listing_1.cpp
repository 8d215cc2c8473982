// Listing 1: each thread has a device of its own, in a Context of its own. Halos go through the host's memory in two stages:
// a thread copies its outer planes there, and its neighbour copies them to its device.

#include "styles.hpp"

namespace hpe {

std::vector<float> listing_1(const Field& field, int devices) {
  std::vector<float> result = no_result(field);
  const std::vector<float> nothing(field.halo_elements());
  std::vector<std::vector<float>> l_bound_host(static_cast<std::size_t>(devices), nothing);
  std::vector<std::vector<float>> r_bound_host(static_cast<std::size_t>(devices), nothing);
  Semaphores l_bound_sem(devices), r_bound_sem(devices), l_halo_sem(devices), r_halo_sem(devices);
  const std::size_t bytes = field.halo_elements() * sizeof(float);
  const auto host = [](std::vector<std::vector<float>>& all, int id) {
    return all[static_cast<std::size_t>(id)].data();
  };

  on_threads(devices, [&](int id) {
    nuna::Options options;
    options.devices = 1;
    nuna::Context context = nuna::Context::self(options);
    const nuna::Interval planes = field.slab(id, devices);
    const Index size = planes.size();
    const nuna::Box points = field.points(size);
    Slab in(context, field.extents(size)), out(context, field.extents(size));
    context.fill(in, 0.0F);
    context.fill(out, 0.0F);
    context.launch("start", points, block(field), Start{planes.begin}, nuna::write(in));
    const auto plane = [&](Slab& slab, Index z) {
      return slab.address() + z * static_cast<Index>(field.halo_elements()) / kRadius;
    };
    // What a neighbour needs of the first step's input goes the same way as all that follows.
    const auto exchange = [&](Slab& slab) {
      // loop: begin
      if (id > 0) context.copy(host(l_bound_host, id), plane(slab, kRadius), bytes);
      if (id < devices - 1) context.copy(host(r_bound_host, id), plane(slab, size), bytes);
      if (id > 0) r_halo_sem.post(id - 1);
      if (id < devices - 1) l_halo_sem.post(id + 1);
      if (id > 0) {
        l_halo_sem.wait(id);
        context.copy(plane(slab, 0), host(r_bound_host, id - 1), bytes);
        r_bound_sem.post(id - 1);
      }
      if (id < devices - 1) {
        r_halo_sem.wait(id);
        context.copy(plane(slab, kRadius + size), host(l_bound_host, id + 1), bytes);
        l_bound_sem.post(id + 1);
      }
      if (id > 0) l_bound_sem.wait(id);
      if (id < devices - 1) r_bound_sem.wait(id);
      // loop: end
    };
    exchange(in);
    // loop: begin
    for (int step = 0; step < field.steps; ++step) {
      context.launch("step", points, block(field), Step{}, nuna::read(in, nuna::halo(kRadius)),
                     nuna::write(out));
      exchange(out);
      swap(in, out);
    }
    // loop: end
    collect(field, in, planes.begin, result);
  });
  return result;
}

}  // namespace hpe
