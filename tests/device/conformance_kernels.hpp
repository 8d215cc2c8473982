#pragma once
// Kernels of the conformance suites, compiled for every kind of device.

#include <cstdint>
#include <memory>

#include "nuna/instance.hpp"

namespace nuna::device::conformance {

struct TestKernel {
  detail::KernelCode code;
  std::shared_ptr<const void> closure;
};

/// Adds one to each element of a box of int32 elements.
TestKernel add_one();
/// Sets element 0 to 10 times itself plus the digit: the order of calls can be read off.
TestKernel append_digit(int digit);
/// Counts element 0 up if it is the number expected; else fails, or on a GPU spoils it for good.
TestKernel count_up(std::int64_t expected);
/// Throws "always". Not compiled for GPUs, so that it fails there, too.
TestKernel failing();
/// Adds up the squares from 0 to rounds into element 0: takes a while.
TestKernel busy(std::int64_t rounds);
/// Writes far outside of every memory. On a GPU only.
TestKernel wild();

}  // namespace nuna::device::conformance
