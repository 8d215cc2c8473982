#pragma once
// Nuna: one address space, one program, any number of devices on any number of nodes.
//
//   struct Scale {
//     NUNA_KERNEL void operator()(nuna::Thread t, nuna::View<float, 1> x, float factor) const {
//       const auto [i] = t.global<1>();
//       x(i) *= factor;
//     }
//   };
//   nuna::Context context = nuna::Context::world(argc, argv);
//   nuna::Buffer<float, 1> x(context, {n});
//   context.fill(x, 1.0f);
//   context.launch("scale", {n}, nuna::block(256), Scale{}, nuna::read_write(x), 3.0f);
//   std::printf("%g\n", x.host(nuna::Access::read)(0));

#include "nuna/access_map.hpp"
#include "nuna/block.hpp"
#include "nuna/box.hpp"
#include "nuna/buffer.hpp"
#include "nuna/config.hpp"
#include "nuna/context.hpp"
#include "nuna/domain.hpp"
#include "nuna/error.hpp"
#include "nuna/event.hpp"
#include "nuna/host_view.hpp"
#include "nuna/inspect.hpp"
#include "nuna/kernel.hpp"
#include "nuna/version.hpp"
#include "nuna/view.hpp"
