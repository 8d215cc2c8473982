#pragma once
// Modules, libraries, and their functions.

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ptx/decoder.hpp"
#include "state.hpp"

namespace standin {

/// What a CUfunction or a CUkernel stands for. A kernel has a library and finds its function by the context.
struct Function {
  std::string name;
  std::weak_ptr<Module> module;
  const ptx::Code* code = nullptr;
  std::weak_ptr<Library> library;
  std::atomic<int> most_dynamic_shared_bytes = 48 << 10;
};

struct Module {
  Context* context = nullptr;
  ptx::Program program;
  struct Variable {
    std::uint64_t address = 0;
    std::size_t size_bytes = 0;
  };
  std::map<std::string, Variable, std::less<>> variables;
  std::map<std::string, std::shared_ptr<Function>, std::less<>> functions;
};

struct Library {
  std::string text;
  std::map<Context*, std::shared_ptr<Module>> modules;
  std::map<std::string, std::shared_ptr<Function>, std::less<>> kernels;
};

/// Makes a module in a context, its variables in the card's memory. Complains on stderr.
CUresult load_text(Context& context, const std::string& text, std::shared_ptr<Module>& module);
CUresult text_of(const void* image, std::string& text);
void unload(Module& module);
void unload_modules(Context& context);

/// The function of a module by name, registered as a handle; null if there is none.
std::shared_ptr<Function> function_of(const std::shared_ptr<Module>& module, std::string_view name);
/// What a handle means in a context, be it a function's or a kernel's; null if nothing.
std::shared_ptr<Function> resolve(const void* handle, Context& context, CUresult& error);
/// The library's module in a context, loaded when first needed.
CUresult module_of(Library& library, Context& context, std::shared_ptr<Module>& module);

}  // namespace standin
