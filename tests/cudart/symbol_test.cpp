#include <string>

#include "cudart/fixture.hpp"
#include "nuna_cudart/texture.h"

namespace cudart_test {
namespace {

class Symbols : public Cudart {};

TEST_F(Symbols, AreCopiedToAndFrom) {
  const float values[4] = {1, 2, 3, 4};
  ASSERT_EQ(cudaMemcpyToSymbol(kVariable, values, sizeof values, 8, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(device_variable[2], 1.0f);
  float back[2] = {};
  ASSERT_EQ(cudaMemcpyFromSymbol(back, kVariable, sizeof back, 16, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(back[1], 4.0f);
  EXPECT_EQ(cudaMemcpyToSymbol(kVariable, values, sizeof values, 52, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  int unknown = 0;
  EXPECT_EQ(cudaMemcpyToSymbol(&unknown, values, 4, 0, cudaMemcpyHostToDevice), cudaErrorInvalidSymbol);
}

TEST_F(Symbols, AreFoundByTextAsBeforeCuda5) {
  void* address = nullptr;
  ASSERT_EQ(cudaGetSymbolAddress(&address, "variable"), cudaSuccess);
  EXPECT_EQ(address, device_variable);
  EXPECT_EQ(cudaGetSymbolAddress(&address, "variables"), cudaErrorInvalidSymbol);
  EXPECT_EQ(cudaGetSymbolAddress(&address, nullptr), cudaErrorInvalidSymbol);
  EXPECT_EQ(cudaGetSymbolAddress(&address, reinterpret_cast<const void*>(8)), cudaErrorInvalidSymbol);
}

TEST_F(Symbols, HaveAddressesAndSizes) {
  void* address = nullptr;
  size_t bytes = 0;
  ASSERT_EQ(cudaGetSymbolAddress(&address, kVariable), cudaSuccess);
  ASSERT_EQ(cudaGetSymbolSize(&bytes, kVariable), cudaSuccess);
  EXPECT_EQ(address, device_variable);
  EXPECT_EQ(bytes, sizeof device_variable);
}

TEST_F(Symbols, ThatAreManagedAreSeenByTheHost) {
  ASSERT_NE(managed_pointer, nullptr);
  EXPECT_EQ(*managed_pointer, 42);
  size_t bytes = 0;
  EXPECT_EQ(cudaGetSymbolSize(&bytes, managed_pointer), cudaSuccess);
  EXPECT_EQ(bytes, sizeof(int));
}

TEST_F(Symbols, OfTexturesHoldWhatTheyAreBoundTo) {
  float* const data = device_floats(100);
  const cudaChannelFormatDesc floats = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
  ASSERT_EQ(cudaBindTexture(nullptr, &texture_reference, data, &floats, 400), cudaSuccess);
  const auto* texture = reinterpret_cast<const nuna_texture*>(texture_handle);
  ASSERT_NE(texture, nullptr);
  EXPECT_EQ(texture->base, reinterpret_cast<const unsigned char*>(data));
  EXPECT_EQ(texture->width, 100u);
  EXPECT_EQ(cudaUnbindTexture(&texture_reference), cudaSuccess);
}

TEST_F(Symbols, TextureObjectsDescribeTheirTexels) {
  const cudaChannelFormatDesc bytes4 = cudaCreateChannelDesc(8, 8, 8, 8, cudaChannelFormatKindUnsigned);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  ASSERT_EQ(cudaMallocArray(&resource.res.array.array, &bytes4, 30, 20, 0), cudaSuccess);
  cudaTextureDesc description{};
  description.filterMode = cudaFilterModeLinear;
  description.normalizedCoords = 1;
  description.addressMode[0] = cudaAddressModeWrap;
  cudaTextureObject_t object = 0;
  EXPECT_EQ(cudaCreateTextureObject(&object, &resource, &description, nullptr),
            cudaErrorInvalidFilterSetting);
  description.readMode = cudaReadModeNormalizedFloat;
  ASSERT_EQ(cudaCreateTextureObject(&object, &resource, &description, nullptr), cudaSuccess);
  const auto& texture = *reinterpret_cast<const nuna_texture*>(object);
  EXPECT_EQ(texture.width, 30u);
  EXPECT_EQ(texture.height, 20u);
  EXPECT_EQ(texture.texel_bytes, 4u);
  EXPECT_EQ(texture.channels, 4u);
  EXPECT_EQ(texture.flags,
            static_cast<unsigned>(NUNA_TEXTURE_NORMALIZED | NUNA_TEXTURE_AS_FLOAT | NUNA_TEXTURE_FILTERED));
  EXPECT_EQ(cudaDestroyTextureObject(object), cudaSuccess);
  EXPECT_EQ(cudaDestroyTextureObject(object), cudaErrorInvalidValue);
}

TEST_F(Symbols, FunctionsTellTheirAttributes) {
  cudaFuncAttributes attributes{};
  ASSERT_EQ(cudaFuncGetAttributes(&attributes, kShared), cudaSuccess);
  EXPECT_EQ(attributes.sharedSizeBytes, 1000u);
  EXPECT_EQ(attributes.maxThreadsPerBlock, 1024);
  ASSERT_EQ(cudaFuncGetAttributes(&attributes, kSmall), cudaSuccess);
  EXPECT_EQ(attributes.maxThreadsPerBlock, 64);
  int blocks = 0;
  ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kEmpty, 256, 0), cudaSuccess);
  EXPECT_EQ(blocks, 8);
  ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kSmall, 128, 0), cudaSuccess);
  EXPECT_EQ(blocks, 0);
}

TEST_F(Symbols, TheDeviceDescribesItself) {
  cudaDeviceProp properties{};
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  EXPECT_EQ(std::string(properties.name).rfind(on_gpus() ? "Nuna CUDA devices" : "Nuna host device (", 0),
            0u);
  EXPECT_EQ(properties.warpSize, 32);
  EXPECT_EQ(properties.major, 8);
  EXPECT_GT(properties.clockRate, 0);
  EXPECT_EQ(cudaGetDeviceProperties(&properties, 1), cudaErrorInvalidDevice);
  int value = -1;
  ASSERT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0), cudaSuccess);
  EXPECT_EQ(value, properties.multiProcessorCount);
  for (int a = 1; a < static_cast<int>(cudaDevAttrMax); ++a)
    EXPECT_EQ(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(a), 0), cudaSuccess) << a;
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrMax, 0), cudaErrorInvalidValue);
  int peer = 1;
  EXPECT_EQ(cudaDeviceCanAccessPeer(&peer, 0, 0), cudaSuccess);
  EXPECT_EQ(peer, 0);
}

}  // namespace
}  // namespace cudart_test
