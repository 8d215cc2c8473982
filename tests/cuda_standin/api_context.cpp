// Contexts: only the primary ones, one a card.

#include "allocate.hpp"
#include "module.hpp"
#include "state.hpp"

using standin::Context;
using standin::current_context;
using standin::state;
using standin::valid_device;

namespace {

/// Gives back all that the context holds. Allocations that nobody freed are counted.
void destroy(Context& context) {
  auto& s = state();
  context.synchronise();
  standin::unload_modules(context);
  for (const auto& range : s.memory.all()) {
    if (range->context != context.handle() || range->kind == standin::RangeKind::kMapped) continue;
    s.count("leaked_allocations");
    s.memory.remove(range->begin, range->end - range->begin, range->kind);
    if (range->kind == standin::RangeKind::kAllocated) standin::release_addresses(*range);
  }
  std::lock_guard lock(s.mutex);
  std::lock_guard order(context.order);
  std::erase_if(s.streams, [&](const auto& each) { return &each.second->context() == &context; });
  std::erase_if(s.events, [&](const auto& each) { return each.second->context == &context; });
  for (const auto& stream : context.streams)
    if (stream != context.default_stream) stream->close();
  std::erase_if(context.streams, [&](const auto& stream) { return stream != context.default_stream; });
  for (int peer = 0; peer < s.settings.devices; ++peer) s.memory.set_peer(context.device, peer, false);
}

}  // namespace

STANDIN_API cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  STANDIN_ENTER(kDriver);
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  Context& primary = *state().cards[static_cast<std::size_t>(device)]->context;
  if (primary.lost() != CUDA_SUCCESS) return primary.lost();
  ++primary.retained;
  *context = primary.handle();
  return CUDA_SUCCESS;
}

STANDIN_API cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  STANDIN_ENTER(kDriver);
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  Context& primary = *state().cards[static_cast<std::size_t>(device)]->context;
  if (primary.retained == 0) return CUDA_ERROR_INVALID_CONTEXT;
  if (primary.retained == 1) destroy(primary);
  --primary.retained;
  return primary.lost();
}

STANDIN_API cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned) {
  STANDIN_ENTER(kDriver);
  return valid_device(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

STANDIN_API cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  STANDIN_ENTER(kDriver);
  if (flags == nullptr || active == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!valid_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *flags = 0;
  *active = state().cards[static_cast<std::size_t>(device)]->context->retained > 0 ? 1 : 0;
  return CUDA_SUCCESS;
}

STANDIN_API cuCtxPushCurrent_v2(CUcontext context) {
  STANDIN_ENTER(kDriver);
  Context* found = standin::context_of(context);
  if (found == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  return standin::context_stack().push_back(found) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

STANDIN_API cuCtxPopCurrent_v2(CUcontext* context) {
  STANDIN_ENTER(kDriver);
  auto& stack = standin::context_stack();
  if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  if (context != nullptr) *context = stack.back()->handle();
  stack.pop_back();
  return CUDA_SUCCESS;
}

STANDIN_API cuCtxSetCurrent(CUcontext context) {
  STANDIN_ENTER(kDriver);
  auto& stack = standin::context_stack();
  Context* found = standin::context_of(context);
  if (found == nullptr && context != nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (!stack.empty()) stack.pop_back();
  if (found != nullptr) stack.push_back(found);
  return CUDA_SUCCESS;
}

STANDIN_API cuCtxGetCurrent(CUcontext* context) {
  STANDIN_ENTER(kDriver);
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *context = current_context() == nullptr ? nullptr : current_context()->handle();
  return CUDA_SUCCESS;
}

STANDIN_API cuCtxGetDevice(CUdevice* device) {
  STANDIN_ENTER(kContext);
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *device = current_context()->device;
  return CUDA_SUCCESS;
}

STANDIN_API cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  STANDIN_ENTER(kContext);
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return CUDA_SUCCESS;
}

STANDIN_API cuCtxGetApiVersion(CUcontext context, unsigned* version) {
  STANDIN_ENTER(kDriver);
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (context != nullptr && standin::context_of(context) == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}

STANDIN_API cuCtxEnablePeerAccess(CUcontext context, unsigned flags) {
  STANDIN_ENTER(kContext);
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  const Context* peer = standin::context_of(context);
  const int own = current_context()->device;
  if (peer == nullptr || peer->device == own) return CUDA_ERROR_INVALID_CONTEXT;
  if (!state().settings.peer) return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
  if (state().memory.peer(own, peer->device)) return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
  state().memory.set_peer(own, peer->device, true);
  return CUDA_SUCCESS;
}

STANDIN_API cuCtxDisablePeerAccess(CUcontext context) {
  STANDIN_ENTER(kContext);
  const Context* peer = standin::context_of(context);
  const int own = current_context()->device;
  if (peer == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (!state().memory.peer(own, peer->device)) return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
  state().memory.set_peer(own, peer->device, false);
  return CUDA_SUCCESS;
}

STANDIN_API cuCtxSynchronize() {
  STANDIN_ENTER(kContext);
  current_context()->synchronise();
  return current_context()->lost();
}
