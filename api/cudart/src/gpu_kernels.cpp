#include "gpu_kernels.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <mutex>
#include <set>
#include <string_view>

#include "call.hpp"
#include "ptx_names.hpp"

namespace nuna::cudart {
namespace {

/// The only one of that name; null for none or several.
template <class Named>
const Named* only_one(const std::vector<Named>& all, std::string_view mangled) {
  const std::string wanted = name_of_both(mangled);
  const auto is_wanted = [&](const Named& each) { return name_of_both(each.name) == wanted; };
  const auto found = std::find_if(all.begin(), all.end(), is_wanted);
  if (found == all.end() || std::find_if(std::next(found), all.end(), is_wanted) != all.end()) return nullptr;
  return &*found;
}

bool has_parameters(const PartsPtx::Entry& entry, const nuna_kernel& kernel) {
  return std::equal(entry.parameter_bytes.begin(), entry.parameter_bytes.end(), kernel.parameter_bytes,
                    kernel.parameter_bytes + kernel.parameters);
}

bool writes(const access::KernelModel& model, std::uint32_t pointer) {
  return std::any_of(model.accesses.begin(), model.accesses.end(), [pointer](const access::Access& access) {
    return access.pointer == pointer && access.kind != access::Access::Kind::read;
  });
}

const nuna_variable* variable_of(const nuna_image& image, std::string_view name) {
  const auto* const end = image.variables + image.variable_count;
  const auto* const found =
      std::find_if(image.variables, end, [name](const nuna_variable& each) { return name == each.name; });
  return found == end ? nullptr : found;
}

/// Adds those that the model speaks of; the reason if one is not the same in the PTX.
std::string add_variables(const Function& function, const PartsPtx& ptx, GpuKernel& kernel) {
  const access::KernelModel& model = *function.model;
  for (std::uint32_t p = 0; p < model.pointers.size(); ++p) {
    const std::string& name = model.pointers[p].variable;
    if (name.empty()) continue;
    const nuna_variable* const here = variable_of(*function.image, name);
    const PtxVariable* const there = only_one(ptx.variables, name);
    if (here == nullptr || there == nullptr || there->bytes != here->bytes)
      return "its PTX has no variable " + name + " of that size";
    kernel.variables.push_back({there->name.c_str(), here->address, here->bytes, writes(model, p)});
  }
  return {};
}

}  // namespace

const GpuKernel& GpuKernels::of(const Function& function) {
  auto& kernel = kernels_[&function];
  if (kernel == nullptr)
    kernel = std::make_unique<const GpuKernel>(made(function, module_of(*function.image)));
  return *kernel;
}

const GpuKernels::Module& GpuKernels::module_of(const nuna_image& image) {
  auto& module = modules_[&image];
  if (module != nullptr) return *module;
  Module made;
  try {
    made.ptx = ptx_for_parts({image.ptx, image.ptx_bytes});
  } catch (const std::exception& error) {
    made.error = error.what();
  }
  module = std::make_unique<const Module>(std::move(made));
  return *module;
}

GpuKernel GpuKernels::made(const Function& function, const Module& module) {
  GpuKernel kernel;
  if (!module.ptx) {
    kernel.refusal = "its PTX is not understood, " + module.error;
    return kernel;
  }
  const PartsPtx::Entry* const entry = only_one(module.ptx->entries, function.name);
  if (entry == nullptr) {
    kernel.refusal = "its PTX has no kernel of that name";
  } else if (!entry->refusal.empty()) {
    kernel.refusal = "its PTX asks for more than blocks, " + entry->refusal;
  } else if (!has_parameters(*entry, *function.kernel)) {
    kernel.refusal = "its PTX has other parameters";
  } else if (function.model->prints) {
    kernel.refusal = "it prints";
  } else {
    kernel.module = module.ptx->text.c_str();
    kernel.entry = entry->name;
    kernel.refusal = add_variables(function, *module.ptx, kernel);
  }
  return kernel;
}

void require_ptx(const Function& function) {
  if (function.image->ptx != nullptr) return;
  static std::mutex mutex;
  static std::set<const nuna_image*> told;
  const std::lock_guard lock(mutex);
  if (told.insert(function.image).second) {
    std::fprintf(
        stderr,
        "nuna: kernel %s has no PTX: compile it by nunacc where NVIDIA's toolkit is, without -rdc=true and "
        "--ptx=off, or use the CPU (NUNA_DEVICE=host)\n",
        function.name.c_str());
  }
  throw Refused(cudaErrorNoKernelImageForDevice);
}

}  // namespace nuna::cudart
