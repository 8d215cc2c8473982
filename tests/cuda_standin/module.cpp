// Loading and unloading of modules.

#include "module.hpp"

#include <cstdio>
#include <cstring>

#include "allocate.hpp"
#include "ptx/image.hpp"

namespace standin {
namespace {

/// Guards the modules of libraries: loading one must not happen twice.
std::mutex& library_mutex() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}

CUresult place_variables(Context& context, const ptx::Module& syntax, Module& module) {
  for (const ptx::Variable& each : syntax.variables) {
    if (each.external || (each.space != ptx::Space::kGlobal && each.space != ptx::Space::kConst)) continue;
    const std::uint64_t address = allocate(context, std::max<std::size_t>(each.size_bytes, 1), true);
    if (address == 0) return CUDA_ERROR_OUT_OF_MEMORY;
    module.variables[each.name] = {address, each.size_bytes};
  }
  for (const ptx::Variable& each : syntax.variables) {
    const auto found = module.variables.find(each.name);
    if (found == module.variables.end()) continue;
    const auto range = state().memory.find(found->second.address);
    if (!each.initial.empty()) std::memcpy(range->bytes, each.initial.data(), each.initial.size());
    for (const auto& relocation : each.relocations) {
      const auto target = module.variables.find(relocation.symbol);
      if (target == module.variables.end())
        throw ptx::Error(each.line, "'" + relocation.symbol + "' is not known");
      const std::uint64_t value = target->second.address + static_cast<std::uint64_t>(relocation.addend);
      std::memcpy(range->bytes + relocation.offset, &value, sizeof value);
    }
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUresult text_of(const void* image, std::string& text) {
  std::string complaint;
  auto found = ptx::text_of_image(image, state().settings.capability, complaint);
  if (!found) {
    std::fprintf(stderr, "cuda_standin: %s\n", complaint.c_str());
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  text = std::move(*found);
  return CUDA_SUCCESS;
}

CUresult load_text(Context& context, const std::string& text, std::shared_ptr<Module>& module) {
  auto made = std::make_shared<Module>();
  made->context = &context;
  try {
    const ptx::Module syntax = ptx::parse(text);
    if (const CUresult error = place_variables(context, syntax, *made); error != CUDA_SUCCESS) {
      unload(*made);
      return error;
    }
    ptx::Addresses addresses;
    for (const auto& [name, variable] : made->variables) addresses[name] = variable.address;
    made->program = ptx::decode(syntax, addresses);
  } catch (const ptx::Error& error) {
    std::fprintf(stderr, "cuda_standin: %s\n", error.what());
    unload(*made);
    return CUDA_ERROR_INVALID_PTX;
  }
  module = std::move(made);
  return CUDA_SUCCESS;
}

void unload(Module& module) {
  for (const auto& [name, variable] : module.variables) {
    const auto range = state().memory.find(variable.address);
    state().memory.remove(range->begin, range->end - range->begin, range->kind);
    release_addresses(*range);
  }
  module.variables.clear();
  std::lock_guard lock(state().mutex);
  for (const auto& [name, function] : module.functions) state().functions.erase(function.get());
}

void unload_modules(Context& context) {
  std::vector<std::shared_ptr<Module>> gone;
  {
    std::lock_guard lock(state().mutex);
    for (auto each = state().modules.begin(); each != state().modules.end();)
      if (each->second->context == &context)
        gone.push_back(each->second), each = state().modules.erase(each);
      else
        ++each;
  }
  {
    std::lock_guard lock(library_mutex());
    for (const auto& [handle, library] : state().libraries)
      if (const auto found = library->modules.find(&context); found != library->modules.end()) {
        gone.push_back(found->second);
        library->modules.erase(found);
      }
  }
  for (const auto& module : gone) unload(*module);
}

std::shared_ptr<Function> function_of(const std::shared_ptr<Module>& module, std::string_view name) {
  const auto code = module->program.functions.find(name);
  if (code == module->program.functions.end() || !code->second->entry) return nullptr;
  std::lock_guard lock(state().mutex);
  auto& function = module->functions[std::string(name)];
  if (function == nullptr) {
    function = std::make_shared<Function>();
    function->name = name;
    function->module = module;
    function->code = code->second.get();
    state().functions[function.get()] = function;
  }
  return function;
}

CUresult module_of(Library& library, Context& context, std::shared_ptr<Module>& module) {
  std::lock_guard lock(library_mutex());
  auto& found = library.modules[&context];
  const CUresult error = found == nullptr ? load_text(context, library.text, found) : CUDA_SUCCESS;
  module = found;
  if (error != CUDA_SUCCESS) library.modules.erase(&context);
  return error;
}

std::shared_ptr<Function> resolve(const void* handle, Context& context, CUresult& error) {
  std::shared_ptr<Function> function;
  {
    std::lock_guard lock(state().mutex);
    const auto found = state().functions.find(handle);
    if (found != state().functions.end()) function = found->second;
  }
  error = CUDA_ERROR_INVALID_HANDLE;
  if (function == nullptr) return nullptr;
  if (function->code != nullptr) {
    const auto module = function->module.lock();
    return module != nullptr && module->context == &context ? function : nullptr;
  }
  const auto library = function->library.lock();
  if (library == nullptr) return nullptr;
  std::shared_ptr<Module> module;
  error = module_of(*library, context, module);
  return error == CUDA_SUCCESS ? function_of(module, function->name) : nullptr;
}

}  // namespace standin
