// Nuna's own style: one array, one launch over all devices. Who computes what, and which planes travel, follows from the access
// that the launch declares.

#include "styles.hpp"

namespace hpe {

std::vector<float> one_launch(const Field& field, int devices) {
  std::vector<float> result = no_result(field);
  nuna::Options options;
  options.devices = devices;
  nuna::Context context = nuna::Context::self(options);
  const nuna::Extents extents = field.extents(field.planes);
  const nuna::Domain points = nuna::Domain(field.points(field.planes)).within(extents);
  Slab in(context, extents), out(context, extents);
  context.fill(in, 0.0F);
  context.fill(out, 0.0F);
  context.launch("start", points, block(field), Start{0}, nuna::write(in));
  // loop: begin
  for (int step = 0; step < field.steps; ++step) {
    context.launch("step", points, block(field), Step{}, nuna::read(in, nuna::halo(kRadius)),
                   nuna::write(out));
    swap(in, out);
  }
  // loop: end
  collect(field, in, 0, result);
  return result;
}

}  // namespace hpe
