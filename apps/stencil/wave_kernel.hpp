#pragma once
// The kernels of the stencil: one time step of the acoustic wave equation, the source, the receivers.
//
// Barrier-free Nuna kernels over arrays p(x, y, z) that are padded along x and z by kRadius elements of zero,
// which no thread writes, and not along y, whose two faces are mirrors. A thread's index is that of the
// padded arrays. Second order in time, eighth order in space: 25 points. Every sum has one fixed order, so
// that any division of the domain gives the same bits (the programs are built without contraction).
//
// The arithmetic is repeated in reference.cpp, on purpose: a mistake here must not be made there too.

#include <cmath>
#include <cstdlib>

#include "nuna/nuna.hpp"

namespace stencil {

/// The stencil reaches this many points along each axis.
inline constexpr nuna::Index kRadius = 4;

/// Weights of the second derivative by central differences, for a spacing of 1: Fornberg, Mathematics of
/// Computation 51 (1988), table 1, order 8. Of the point itself, then of the points 1 to 4 away.
inline constexpr float kCentre = -205.0f / 72.0f;
inline constexpr float kWeight1 = 8.0f / 5.0f;
inline constexpr float kWeight2 = -1.0f / 5.0f;
inline constexpr float kWeight3 = 8.0f / 315.0f;
inline constexpr float kWeight4 = -1.0f / 560.0f;

/// What is weaker than this is taken for nothing. Ahead of every wave runs a front of ever smaller numbers;
/// without this they would become denormal, which CPUs compute many times slower.
inline constexpr float kNothing = 1e-30f;

/// How far two indices are from each other.
NUNA_KERNEL nuna::Index distance(nuna::Index a, nuna::Index b) { return std::abs(a - b); }

/// One step in time: on entry `previous` holds the field one step before `now`, on return the one after.
/// `courant2` is (velocity * time step / spacing)^2. The sponge damps both fields by the product of its three
/// factors (Cerjan et al., Geophysics 50 (1985), p. 705), which are 1 outside it.
struct Wave {
  NUNA_KERNEL void operator()(nuna::Thread t, nuna::View<const float, 3> now, nuna::View<float, 3> previous,
                              nuna::View<const float, 3> courant2, nuna::View<const double, 1> sponge_x,
                              nuna::View<const double, 1> sponge_y,
                              nuna::View<const float, 1> sponge_z) const {
    const auto [x, y, z] = t.global<3>();
    const nuna::Index last = now.extent(1) - 1;
    // Without branches: they would be copied into the inner loop, along z, and keep it from being vectorised.
    const auto below = [&](nuna::Index d) { return distance(y, d); };
    const auto above = [&](nuna::Index d) { return last - distance(last, y + d); };
    const auto ring = [&](nuna::Index d) {
      return ((now(x - d, y, z) + now(x + d, y, z)) + (now(x, below(d), z) + now(x, above(d), z))) +
             (now(x, y, z - d) + now(x, y, z + d));
    };
    const float centre = now(x, y, z);
    const float laplacian =
        (((3.0f * kCentre * centre + kWeight1 * ring(1)) + kWeight2 * ring(2)) + kWeight3 * ring(3)) +
        kWeight4 * ring(4);
    // The product of two floats is exact in double. Loads of another type than the field's may leave the
    // inner loop.
    const float damping = static_cast<float>(sponge_x(x) * sponge_y(y)) * sponge_z(z);
    const float after = (2.0f * centre - damping * previous(x, y, z)) + courant2(x, y, z) * laplacian;
    previous(x, y, z) = std::fabs(after) < kNothing ? 0.0f : damping * after;
  }
};

/// Adds one sample of the source's signal to the points of the source.
struct Source {
  NUNA_KERNEL void operator()(nuna::Thread t, nuna::View<float, 3> field, nuna::View<const float, 3> courant2,
                              float sample) const {
    const auto [x, y, z] = t.global<3>();
    field(x, y, z) += sample * courant2(x, y, z);
  }
};

/// Keeps what the receivers measure at `step`; trace x belongs to the receiver at plane x of the model.
struct Record {
  NUNA_KERNEL void operator()(nuna::Thread t, nuna::View<const float, 3> field, nuna::View<float, 2> traces,
                              nuna::Index step) const {
    const auto [x, y, z] = t.global<3>();
    traces(x - kRadius, step) = field(x, y, z);
  }
};

}  // namespace stencil
