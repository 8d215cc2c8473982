// Modules and libraries, and what they hold.

#include "module.hpp"

using namespace standin;

namespace {

std::shared_ptr<Module> find_module(CUmodule handle) {
  std::lock_guard lock(state().mutex);
  const auto found = state().modules.find(handle);
  return found == state().modules.end() ? nullptr : found->second;
}

std::shared_ptr<Library> find_library(CUlibrary handle) {
  std::lock_guard lock(state().mutex);
  const auto found = state().libraries.find(handle);
  return found == state().libraries.end() ? nullptr : found->second;
}

CUmodule remember(std::shared_ptr<Module> module) {
  std::lock_guard lock(state().mutex);
  const auto handle = reinterpret_cast<CUmodule>(module.get());
  state().modules[handle] = std::move(module);
  return handle;
}

CUresult load(CUmodule* handle, const void* image) {
  if (handle == nullptr || image == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::string text;
  if (const CUresult error = text_of(image, text); error != CUDA_SUCCESS) return error;
  std::shared_ptr<Module> module;
  if (const CUresult error = load_text(*current_context(), text, module); error != CUDA_SUCCESS) return error;
  *handle = remember(std::move(module));
  return CUDA_SUCCESS;
}

CUresult variable_of(const std::shared_ptr<Module>& module, CUdeviceptr* address, size_t* size_bytes,
                     const char* name) {
  const auto found = module->variables.find(std::string_view(name));
  if (found == module->variables.end()) return CUDA_ERROR_NOT_FOUND;
  if (address != nullptr) *address = found->second.address;
  if (size_bytes != nullptr) *size_bytes = found->second.size_bytes;
  return CUDA_SUCCESS;
}

}  // namespace

STANDIN_API cuModuleLoadData(CUmodule* module, const void* image) {
  STANDIN_ENTER(kContext);
  return load(module, image);
}

STANDIN_API cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned, CUjit_option*, void**) {
  STANDIN_ENTER(kContext);
  return load(module, image);
}

STANDIN_API cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  STANDIN_ENTER(kContext);
  return load(module, image);
}

STANDIN_API cuModuleUnload(CUmodule handle) {
  STANDIN_ENTER(kContext);
  const auto module = find_module(handle);
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  module->context->synchronise();
  {
    std::lock_guard lock(state().mutex);
    state().modules.erase(handle);
  }
  unload(*module);
  return CUDA_SUCCESS;
}

STANDIN_API cuModuleGetFunction(CUfunction* function, CUmodule handle, const char* name) {
  STANDIN_ENTER(kContext);
  const auto module = find_module(handle);
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (function == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto found = function_of(module, name);
  if (found == nullptr) return CUDA_ERROR_NOT_FOUND;
  *function = reinterpret_cast<CUfunction>(found.get());
  return CUDA_SUCCESS;
}

STANDIN_API cuModuleGetGlobal_v2(CUdeviceptr* address, size_t* size_bytes, CUmodule handle,
                                 const char* name) {
  STANDIN_ENTER(kContext);
  const auto module = find_module(handle);
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  return name == nullptr ? CUDA_ERROR_INVALID_VALUE : variable_of(module, address, size_bytes, name);
}

STANDIN_API cuLibraryLoadData(CUlibrary* handle, const void* image, CUjit_option*, void**, unsigned,
                              CUlibraryOption*, void**, unsigned) {
  STANDIN_ENTER(kDriver);
  if (handle == nullptr || image == nullptr) return CUDA_ERROR_INVALID_VALUE;
  auto library = std::make_shared<Library>();
  if (const CUresult error = text_of(image, library->text); error != CUDA_SUCCESS) return error;
  *handle = reinterpret_cast<CUlibrary>(library.get());
  std::lock_guard lock(state().mutex);
  state().libraries[*handle] = std::move(library);
  return CUDA_SUCCESS;
}

STANDIN_API cuLibraryUnload(CUlibrary handle) {
  STANDIN_ENTER(kDriver);
  const auto library = find_library(handle);
  if (library == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  for (const auto& [context, module] : library->modules) {
    context->synchronise();
    unload(*module);
  }
  std::lock_guard lock(state().mutex);
  for (const auto& [name, kernel] : library->kernels) state().functions.erase(kernel.get());
  state().libraries.erase(handle);
  return CUDA_SUCCESS;
}

STANDIN_API cuLibraryGetKernel(CUkernel* kernel, CUlibrary handle, const char* name) {
  STANDIN_ENTER(kDriver);
  const auto library = find_library(handle);
  if (library == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (kernel == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  // Names in the text stand behind ".entry"; the module itself is loaded when a context needs it.
  if (library->text.find(".entry " + std::string(name) + "(") == std::string::npos &&
      library->text.find(".entry " + std::string(name) + "\n") == std::string::npos)
    return CUDA_ERROR_NOT_FOUND;
  std::lock_guard lock(state().mutex);
  auto& found = library->kernels[name];
  if (found == nullptr) {
    found = std::make_shared<Function>();
    found->name = name;
    found->library = library;
    state().functions[found.get()] = found;
  }
  *kernel = reinterpret_cast<CUkernel>(found.get());
  return CUDA_SUCCESS;
}

STANDIN_API cuLibraryGetModule(CUmodule* handle, CUlibrary library_handle) {
  STANDIN_ENTER(kContext);
  const auto library = find_library(library_handle);
  if (library == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Module> module;
  if (const CUresult error = module_of(*library, *current_context(), module); error != CUDA_SUCCESS)
    return error;
  *handle = remember(std::move(module));
  return CUDA_SUCCESS;
}

STANDIN_API cuLibraryGetGlobal(CUdeviceptr* address, size_t* size_bytes, CUlibrary handle, const char* name) {
  STANDIN_ENTER(kContext);
  const auto library = find_library(handle);
  if (library == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Module> module;
  if (const CUresult error = module_of(*library, *current_context(), module); error != CUDA_SUCCESS)
    return error;
  return variable_of(module, address, size_bytes, name);
}

STANDIN_API cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  STANDIN_ENTER(kContext);
  if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUresult error = CUDA_SUCCESS;
  const auto found = resolve(kernel, *current_context(), error);
  if (found == nullptr) return error;
  *function = reinterpret_cast<CUfunction>(found.get());
  return CUDA_SUCCESS;
}
