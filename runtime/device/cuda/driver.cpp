#include "device/cuda/driver.hpp"

#include <dlfcn.h>

#include <memory>

#include "base/settings.hpp"

namespace nuna::device::cuda {
namespace {

constexpr int kOldestDriver = 12000;
constexpr const char* kLibrary = "libcuda.so.1";

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// Loads all functions; returns why it could not, or nothing.
std::string load(Driver& driver, const std::string& library) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = dlerror();
    return std::string("the driver's library cannot be loaded (") + (why != nullptr ? why : library) + ")";
  }
  using GetProcAddress = CUresult (*)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);
  const auto get = reinterpret_cast<GetProcAddress>(dlsym(handle, "cuGetProcAddress_v2"));
  if (get == nullptr) return library + " is older than CUDA 12: update the driver";
  const auto find = [&](const char* name, auto& function) {
    void* address = nullptr;
    if (get(name, &address, kOldestDriver, CU_GET_PROC_ADDRESS_DEFAULT, nullptr) != CUDA_SUCCESS)
      address = nullptr;
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(address);
    return address != nullptr;
  };
#define NUNA_CUDA_FIND(name) \
  if (!find(#name, driver.name)) return library + " has no function " #name ": update the driver";
  NUNA_CUDA_CALLS(NUNA_CUDA_FIND)
#undef NUNA_CUDA_FIND
  if (const CUresult started = driver.cuInit(0); started != CUDA_SUCCESS)
    return "the driver does not start (cuInit: " + driver.name_of(started) + ")";
  int version = 0;
  driver.cuDriverGetVersion(&version);
  if (version < kOldestDriver)
    return "the driver is for CUDA " + version_text(version) + ", and Nuna needs CUDA 12 or newer: update it";
  return {};
}

const char* advice_for(CUresult error) {
  switch (error) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      return "use smaller buffers or more devices, or lower NUNA_MEMORY_LIMIT to what the device has free";
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_INVALID_SOURCE:
      return "this program holds no code for this GPU: compile it for its architecture "
             "(CMAKE_CUDA_ARCHITECTURES), or "
             "update the driver";
    default:
      return breaks_context(error) ? "everything on that device is lost: end this process and start anew"
                                   : "see the CUDA driver's documentation of this error";
  }
}

ErrorCode code_for(CUresult error) {
  switch (error) {
    case CUDA_ERROR_OUT_OF_MEMORY:
      return ErrorCode::out_of_memory;
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_INVALID_SOURCE:
    case CUDA_ERROR_NOT_SUPPORTED:
      return ErrorCode::unsupported;
    default:
      return breaks_context(error) ? ErrorCode::device_lost : ErrorCode::device_failed;
  }
}

}  // namespace

bool breaks_context(CUresult error) {
  switch (error) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTAINED:
    case CUDA_ERROR_EXTERNAL_DEVICE:
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_INVALID_CONTEXT:
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_NO_DEVICE:
    case CUDA_ERROR_UNKNOWN:
      return true;
    default:
      return false;
  }
}

const Driver::Loaded& Driver::of_process() {
  static const Loaded loaded = [] {
    auto driver = std::make_unique<Driver>();
    const std::string library = base::Settings::from_environment().text("NUNA_CUDA_DRIVER", kLibrary);
    std::string why_not = load(*driver, library);
    if (!why_not.empty()) return Loaded{nullptr, std::move(why_not)};
    return Loaded{driver.release(), {}};  // never unloaded: threads of its own may outlive everything
  }();
  return loaded;
}

std::string Driver::name_of(CUresult error) const {
  const char* name = nullptr;
  if (cuGetErrorName != nullptr && cuGetErrorName(error, &name) == CUDA_SUCCESS && name != nullptr)
    return name;
  return "CUDA error " + std::to_string(static_cast<int>(error));
}

Error Driver::failure(CUresult error, std::string_view call, std::string_view about) const {
  return {code_for(error), std::string(call) + " (" + std::string(about) + ") failed with " + name_of(error) +
                               ": " + advice_for(error)};
}

}  // namespace nuna::device::cuda
