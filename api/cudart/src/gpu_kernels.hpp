#pragma once
// The program's kernels as GPUs run them: entries of the PTX that nunacc embeds beside the CPU code (image.h), made to run parts of grids
// (ptx_parts.hpp).
//
// Kernels and variables are found by name; those of nvcc and clang are compared as ptx_names.hpp says. Where the PTX is not clearly the
// same kernel (another number of parameters, or other sizes; a variable that it does not have), the host runs it.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "images.hpp"
#include "nuna/instance.hpp"
#include "ptx_parts.hpp"

namespace nuna::cudart {

/// Outlives the devices.
struct GpuKernel {
  std::string refusal;           ///< why the host runs it; empty: GPUs do
  const char* module = nullptr;  ///< the whole text
  std::string entry;
  std::vector<detail::CudaVariable> variables;  ///< that it may read or write
};

/// One thread at a time.
class GpuKernels {
 public:
  const GpuKernel& of(const Function& function);

 private:
  struct Module {
    std::optional<PartsPtx> ptx;
    std::string error;  ///< why there is none
  };

  const Module& module_of(const nuna_image& image);
  static GpuKernel made(const Function& function, const Module& module);

  std::map<const nuna_image*, std::unique_ptr<const Module>> modules_;
  std::map<const Function*, std::unique_ptr<const GpuKernel>> kernels_;
};

/// Refuses (cudaErrorNoKernelImageForDevice) a function whose image has no PTX at all, and says so once.
void require_ptx(const Function& function);

}  // namespace nuna::cudart
