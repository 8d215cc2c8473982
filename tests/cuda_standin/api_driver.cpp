// The driver as a whole: start, version, names of errors.

#include "names.hpp"
#include "standin.hpp"
#include "state.hpp"

using standin::state;

STANDIN_API cuInit(unsigned flags) {
  STANDIN_ENTER(kNothing);
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (state().settings.devices == 0) return CUDA_ERROR_NO_DEVICE;
  std::lock_guard lock(state().mutex);
  state().initialised = true;
  return CUDA_SUCCESS;
}

STANDIN_API cuDriverGetVersion(int* version) {
  STANDIN_ENTER(kNothing);
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}

STANDIN_API cuGetErrorName(CUresult error, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *text = standin::result_name(error);
  return *text == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

// The real texts are sentences; nobody should depend on them.
STANDIN_API cuGetErrorString(CUresult error, const char** text) { return cuGetErrorName(error, text); }

extern "C" __attribute__((visibility("default"))) unsigned long long nuna_standin_count(const char* name) {
  std::lock_guard lock(state().mutex);
  const auto found = state().counts.find(std::string_view(name));
  return found == state().counts.end() ? 0 : found->second;
}

extern "C" __attribute__((visibility("default"))) int nuna_standin_begin(const char* text) {
  auto settings = standin::checked_settings(text);
  if (!settings) return 0;
  std::lock_guard lock(state().mutex);
  settings->devices = state().settings.devices;
  settings->memory_bytes = state().settings.memory_bytes;
  state().settings = std::move(*settings);
  state().counts.clear();
  for (const auto& card : state().cards) {
    card->context->error = CUDA_SUCCESS;
    card->context->launches = 0;
  }
  return 1;
}
