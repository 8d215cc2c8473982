// Texture and surface objects, and references of old.

#include <algorithm>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "call.hpp"
#include "device.hpp"
#include "handles.hpp"
#include "images.hpp"
#include "limits.hpp"
#include "texture.hpp"

using namespace nuna::cudart;

namespace {

// The handle is the first member's address, which device code reads.
struct Texture {
  nuna_texture seen{};
  cudaResourceDesc resource{};
  cudaTextureDesc description{};
  cudaResourceViewDesc view{};
};
struct Surface {
  nuna_surface seen{};
  cudaResourceDesc resource{};
};

void describe_texels(nuna_texture& texture, const cudaChannelFormatDesc& format) {
  texture.texel_bytes = static_cast<std::uint32_t>(texel_bytes_of(format));
  texture.channel_bits = static_cast<std::uint32_t>(format.x);
  texture.channels = texture.texel_bytes * 8 / texture.channel_bits;
  texture.channel_kind = static_cast<std::uint32_t>(format.f);
}

void lay_over(nuna_texture& texture, const void* base, std::size_t width, std::size_t height,
              std::size_t row_bytes) {
  texture.base = static_cast<const unsigned char*>(base);
  texture.width = width;
  texture.height = height;
  texture.depth = 1;
  texture.row_bytes = row_bytes;
  texture.plane_bytes = row_bytes * height;
}

std::uint32_t array_flags(const Array& array) {
  std::uint32_t flags = 0;
  if ((array.flags & cudaArrayLayered) != 0) flags |= NUNA_TEXTURE_LAYERED;
  if ((array.flags & cudaArrayCubemap) != 0) flags |= NUNA_TEXTURE_CUBE;
  return flags;
}

// One-dimensional layers have their number where others have planes.
void lay_over_array(nuna_texture& texture, const Array& array) {
  lay_over(texture, array.memory, array.extent.width, array.rows(), array.row_bytes);
  texture.depth = array.planes();
  texture.flags |= array_flags(array);
  describe_texels(texture, array.format);
}

std::shared_ptr<Array> array_behind(const cudaResourceDesc& resource) {
  if (resource.resType == cudaResourceTypeArray) return array_of(resource.res.array.array);
  require(resource.resType == cudaResourceTypeMipmappedArray, cudaErrorInvalidValue);
  cudaArray_t level = nullptr;
  require(cudaGetMipmappedArrayLevel(&level, resource.res.mipmap.mipmap, 0) == cudaSuccess,
          cudaErrorInvalidResourceHandle);
  return array_of(level);
}

void lay_over_resource(nuna_texture& texture, const cudaResourceDesc& resource) {
  if (resource.resType == cudaResourceTypeLinear) {
    const auto& linear = resource.res.linear;
    require(linear.devPtr != nullptr, cudaErrorInvalidValue);
    describe_texels(texture, linear.desc);
    lay_over(texture, linear.devPtr, linear.sizeInBytes / texture.texel_bytes, 1, linear.sizeInBytes);
    texture.flags |= NUNA_TEXTURE_LINEAR;
  } else if (resource.resType == cudaResourceTypePitch2D) {
    const auto& pitched = resource.res.pitch2D;
    require(pitched.devPtr != nullptr, cudaErrorInvalidValue);
    describe_texels(texture, pitched.desc);
    require(pitched.pitchInBytes >= pitched.width * texture.texel_bytes, cudaErrorInvalidValue);
    lay_over(texture, pitched.devPtr, pitched.width, pitched.height, pitched.pitchInBytes);
  } else {
    lay_over_array(texture, *array_behind(resource));
  }
}

bool filters(const nuna_texture& texture, bool as_float) {
  return texture.channel_kind == cudaChannelFormatKindFloat || as_float;
}

void sample_as(nuna_texture& texture, const cudaTextureDesc& description) {
  const bool as_float = description.readMode == cudaReadModeNormalizedFloat &&
                        texture.channel_kind != cudaChannelFormatKindFloat;
  require(!as_float || texture.channel_bits < 32, cudaErrorInvalidNormSetting);
  const bool linear = (texture.flags & NUNA_TEXTURE_LINEAR) != 0;
  if (!linear && description.filterMode == cudaFilterModeLinear) {
    require(filters(texture, as_float), cudaErrorInvalidFilterSetting);
    texture.flags |= NUNA_TEXTURE_FILTERED;
  }
  if (!linear && description.normalizedCoords != 0) texture.flags |= NUNA_TEXTURE_NORMALIZED;
  if (as_float) texture.flags |= NUNA_TEXTURE_AS_FLOAT;
  if (description.sRGB != 0) texture.flags |= NUNA_TEXTURE_SRGB;
  for (std::size_t a = 0; a < 3; ++a)
    texture.address_mode[a] = static_cast<std::uint32_t>(description.addressMode[a]);
  std::copy(std::begin(description.borderColor), std::end(description.borderColor),
            std::begin(texture.border));
}

// Unnormalised coordinates cannot repeat: CUDA clamps them.
void settle_address_modes(nuna_texture& texture) {
  if ((texture.flags & NUNA_TEXTURE_NORMALIZED) != 0) return;
  for (std::uint32_t& mode : texture.address_mode) {
    if (mode == cudaAddressModeWrap || mode == cudaAddressModeMirror) mode = cudaAddressModeClamp;
  }
}

std::shared_ptr<Texture> texture_of(cudaTextureObject_t object) {
  auto texture = handles<Texture>().find(reinterpret_cast<const void*>(object));
  require(texture != nullptr, cudaErrorInvalidValue);
  return texture;
}
std::shared_ptr<Surface> surface_of(cudaSurfaceObject_t object) {
  auto surface = handles<Surface>().find(reinterpret_cast<const void*>(object));
  require(surface != nullptr, cudaErrorInvalidValue);
  return surface;
}

nuna_surface surface_over(const Array& array) {
  return {reinterpret_cast<unsigned char*>(array.memory),
          array.extent.width,
          array.rows(),
          array.planes(),
          array.row_bytes,
          array.row_bytes * array.rows(),
          static_cast<std::uint32_t>(array.texel_bytes),
          array_flags(array)};
}

// What references are bound to. Writing a handle waits for the kernels that may still read the record before.
struct References {
  std::mutex mutex;
  std::unordered_map<const void*, bool> as_float;
  std::unordered_map<const void*, std::unique_ptr<nuna_texture>> bound;
  static References& of_process() {
    static auto* const only = new References;
    return *only;
  }
};

// The device's variable of that name holds the handle.
void write_handle(const void* reference, unsigned long long handle) {
  const Variable variable = Images::of_process().variable(reference);
  require(variable.bytes >= sizeof handle, cudaErrorInvalidTexture);
  Device::get().synchronize();
  std::memcpy(variable.address, &handle, sizeof handle);
}

cudaError_t bind(const textureReference* reference, nuna_texture texture) {
  References& references = References::of_process();
  cudaTextureDesc description{};
  for (std::size_t a = 0; a < 3; ++a) description.addressMode[a] = reference->addressMode[a];
  description.filterMode = reference->filterMode;
  description.normalizedCoords = reference->normalized;
  description.sRGB = reference->sRGB;
  const std::lock_guard lock(references.mutex);
  const bool as_float = references.as_float[reference] || reference->readMode == cudaReadModeNormalizedFloat;
  description.readMode = as_float ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  sample_as(texture, description);
  settle_address_modes(texture);
  auto record = std::make_unique<nuna_texture>(texture);
  write_handle(reference, reinterpret_cast<unsigned long long>(record.get()));
  references.bound[reference] = std::move(record);
  return cudaSuccess;
}

// Memory that is bound begins where the alignment of textures allows; any alignment is fine here.
void no_offset(size_t* offset) {
  if (offset != nullptr) *offset = 0;
}

}  // namespace

namespace nuna::cudart {

void note_texture_reference(const void* host, bool as_float) {
  References& references = References::of_process();
  const std::lock_guard lock(references.mutex);
  references.as_float[host] = as_float;
}

}  // namespace nuna::cudart

extern "C" {

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind f) {
  return {x, y, z, w, f};
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* texture, const cudaResourceViewDesc* view) {
  return device_call([&] {
    require(object != nullptr && resource != nullptr && texture != nullptr, cudaErrorInvalidValue);
    Device::get();
    auto made = std::make_shared<Texture>();
    made->resource = *resource;
    made->description = *texture;
    if (view != nullptr) made->view = *view;
    lay_over_resource(made->seen, *resource);
    sample_as(made->seen, *texture);
    settle_address_modes(made->seen);
    *object = reinterpret_cast<cudaTextureObject_t>(handles<Texture>().add(std::move(made)));
  });
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
  if (object == 0 || Device::ended()) return cudaSuccess;
  return device_call([&] {
    Device::get().synchronize();
    require(handles<Texture>().remove(reinterpret_cast<const void*>(object)) != nullptr,
            cudaErrorInvalidValue);
  });
}
cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* desc, cudaTextureObject_t object) {
  return device_call([&] {
    require(desc != nullptr, cudaErrorInvalidValue);
    *desc = texture_of(object)->resource;
  });
}
cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* desc, cudaTextureObject_t object) {
  return device_call([&] {
    require(desc != nullptr, cudaErrorInvalidValue);
    *desc = texture_of(object)->description;
  });
}
cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* desc, cudaTextureObject_t object) {
  return device_call([&] {
    require(desc != nullptr, cudaErrorInvalidValue);
    *desc = texture_of(object)->view;
  });
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const cudaResourceDesc* resource) {
  return device_call([&] {
    require(object != nullptr && resource != nullptr && resource->resType == cudaResourceTypeArray,
            cudaErrorInvalidValue);
    auto made = std::make_shared<Surface>();
    made->resource = *resource;
    made->seen = surface_over(*array_of(resource->res.array.array));
    *object = reinterpret_cast<cudaSurfaceObject_t>(handles<Surface>().add(std::move(made)));
  });
}
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
  if (object == 0 || Device::ended()) return cudaSuccess;
  return device_call([&] {
    Device::get().synchronize();
    require(handles<Surface>().remove(reinterpret_cast<const void*>(object)) != nullptr,
            cudaErrorInvalidValue);
  });
}
cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* desc, cudaSurfaceObject_t object) {
  return device_call([&] {
    require(desc != nullptr, cudaErrorInvalidValue);
    *desc = surface_of(object)->resource;
  });
}

cudaError_t cudaBindTexture(size_t* offset, const textureReference* texref, const void* devPtr,
                            const cudaChannelFormatDesc* desc, size_t size) {
  return device_call([&] {
    require(texref != nullptr && devPtr != nullptr && desc != nullptr, cudaErrorInvalidValue);
    const auto known = Device::get().memory().find(devPtr);
    if (known)
      size = std::min(size, known->bytes - (reinterpret_cast<std::uintptr_t>(devPtr) - known->first));
    nuna_texture texture{};
    describe_texels(texture, *desc);
    lay_over(texture, devPtr, size / texture.texel_bytes, 1, size);
    texture.flags = NUNA_TEXTURE_LINEAR;
    no_offset(offset);
    return bind(texref, texture);
  });
}
cudaError_t cudaBindTexture2D(size_t* offset, const textureReference* texref, const void* devPtr,
                              const cudaChannelFormatDesc* desc, size_t width, size_t height, size_t pitch) {
  return device_call([&] {
    require(texref != nullptr && devPtr != nullptr && desc != nullptr, cudaErrorInvalidValue);
    nuna_texture texture{};
    describe_texels(texture, *desc);
    require(pitch >= width * texture.texel_bytes, cudaErrorInvalidValue);
    lay_over(texture, devPtr, width, height, pitch);
    no_offset(offset);
    return bind(texref, texture);
  });
}
cudaError_t cudaBindTextureToArray(const textureReference* texref, cudaArray_const_t array,
                                   const cudaChannelFormatDesc*) {
  return device_call([&] {
    require(texref != nullptr, cudaErrorInvalidValue);
    nuna_texture texture{};
    lay_over_array(texture, *array_of(array));
    return bind(texref, texture);
  });
}
cudaError_t cudaUnbindTexture(const textureReference* texref) {
  return device_call([&] {
    require(texref != nullptr, cudaErrorInvalidTexture);
    References& references = References::of_process();
    const std::lock_guard lock(references.mutex);
    const auto bound = references.bound.find(texref);
    if (bound == references.bound.end()) return;
    write_handle(texref, 0);
    references.bound.erase(bound);
  });
}
cudaError_t cudaGetTextureAlignmentOffset(size_t* offset, const textureReference* texref) {
  return device_call([&] {
    require(offset != nullptr, cudaErrorInvalidValue);
    References& references = References::of_process();
    const std::lock_guard lock(references.mutex);
    require(references.bound.count(texref) != 0, cudaErrorInvalidTextureBinding);
    *offset = 0;
  });
}
cudaError_t cudaGetTextureReference(const textureReference** texref, const void* symbol) {
  return device_call([&] {
    require(texref != nullptr, cudaErrorInvalidValue);
    Images::of_process().variable(symbol);
    *texref = static_cast<const textureReference*>(symbol);
  });
}
cudaError_t cudaBindSurfaceToArray(const surfaceReference* surfref, cudaArray_const_t array,
                                   const cudaChannelFormatDesc*) {
  return device_call([&] {
    require(surfref != nullptr, cudaErrorInvalidSurface);
    // Never given back: a program has few surface references, and binds them seldom.
    auto record = std::make_unique<nuna_surface>(surface_over(*array_of(array)));
    write_handle(surfref, reinterpret_cast<unsigned long long>(record.get()));
    record.release();
  });
}
cudaError_t cudaGetSurfaceReference(const surfaceReference** surfref, const void* symbol) {
  return device_call([&] {
    require(surfref != nullptr, cudaErrorInvalidValue);
    Images::of_process().variable(symbol);
    *surfref = static_cast<const surfaceReference*>(symbol);
  });
}
}
