// What compilers' host code calls before main, and at exit.

#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "call.hpp"
#include "images.hpp"
#include "texture.hpp"

using namespace nuna::cudart;

namespace {

// What clang hands to __cudaRegisterFatBinary: its wrapper, around the blob that nunacc gave it.
struct Wrapper {
  int magic;
  int version;
  const void* data;
  void* more;
};
constexpr int kMagic = 0x466243b1;
constexpr char kPrefix[] = "nuna:";

struct Module {
  std::string id;
  std::vector<const void*> hosts;
};

Module& module_of(void** handle) { return *reinterpret_cast<Module*>(handle); }

// Text behind the prefix, up to a zero or a line's end. Blobs of other compilers have no id, so nothing is found for them.
std::string id_of(const void* data) {
  const auto* text = static_cast<const char*>(data);
  if (text == nullptr || std::strncmp(text, kPrefix, sizeof kPrefix - 1) != 0) return "(not nunacc's)";
  text += sizeof kPrefix - 1;
  return {text, std::strcspn(text, "\n\r ")};
}

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void* fatCubin) {
  const auto* wrapper = static_cast<const Wrapper*>(fatCubin);
  auto module = std::make_unique<Module>();
  module->id = wrapper != nullptr && wrapper->magic == kMagic ? id_of(wrapper->data) : id_of(nullptr);
  return reinterpret_cast<void**>(module.release());
}
void __cudaRegisterFatBinaryEnd(void**) {}

// At exit, or when a library is unloaded. Launches of other threads may still look at functions, which stay.
void __cudaUnregisterFatBinary(void** fatCubinHandle) {
  if (fatCubinHandle == nullptr) return;
  const std::unique_ptr<Module> module(&module_of(fatCubinHandle));
  Images::of_process().forget(module->hosts);
}

void __cudaRegisterFunction(void** fatCubinHandle, const char* hostFun, char*, const char* deviceName, int,
                            void*, void*, void*, void*, int*) {
  Module& module = module_of(fatCubinHandle);
  module.hosts.push_back(hostFun);
  Images::of_process().add_function(hostFun, deviceName, module.id);
}
void __cudaRegisterVar(void** fatCubinHandle, char* hostVar, char*, const char* deviceName, int, size_t size,
                       int, int) {
  Module& module = module_of(fatCubinHandle);
  module.hosts.push_back(hostVar);
  Images::of_process().add_variable(hostVar, deviceName, module.id, size);
}
void __cudaRegisterManagedVar(void** fatCubinHandle, void** hostVarPtrAddress, char*, const char* deviceName,
                              size_t, unsigned int) {
  Module& module = module_of(fatCubinHandle);
  Images::of_process().add_managed(hostVarPtrAddress, deviceName, module.id);
}
// Their variables hold handles, which binding writes.
void __cudaRegisterTexture(void** fatCubinHandle, const void* hostVar, const void*, const char* deviceName,
                           int, int norm, int) {
  Module& module = module_of(fatCubinHandle);
  Images::of_process().add_variable(hostVar, deviceName, module.id, sizeof(cudaTextureObject_t));
  note_texture_reference(hostVar, norm != 0);
}
void __cudaRegisterSurface(void** fatCubinHandle, const void* hostVar, const void*, const char* deviceName,
                           int, int) {
  Module& module = module_of(fatCubinHandle);
  Images::of_process().add_variable(hostVar, deviceName, module.id, sizeof(cudaSurfaceObject_t));
}
}
