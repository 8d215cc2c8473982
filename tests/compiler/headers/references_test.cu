// Runs on a CPU device: texture and surface references, in all dimensions and modes. Built by nunacc.
#include <cstdio>
#include <vector>

texture<float> plain;
texture<float4, cudaTextureType1D, cudaReadModeElementType> vectors;
static texture<unsigned char, 2, cudaReadModeNormalizedFloat> image;
texture<short2, 2, cudaReadModeNormalizedFloat> pairs;
texture<int, 2> pitched;
texture<float, 3> volume;
texture<float, cudaTextureType2DLayered> layers;
surface<void, 2> canvas;

__device__ float third(int i) { return tex1Dfetch(vectors, i).z; }

__global__ void fetch(float* to) {
  const int i = threadIdx.x;
  to[i] = tex1Dfetch(plain, i) + third(i);
}
__global__ void sample(float* to) {
  to[0] = tex2D(image, 0.25f, 0.5f);  // between the first two texels: normalised coordinates
  to[1] = tex2D(image, -7.0f, 0.5f);  // wrapped
  to[2] = tex2D(pairs, 1, 0).y;       // 32767 / 32767
  to[3] = (float)tex2D(pitched, 2, 1);
  to[4] = tex3D(volume, 1.0f, 0.5f, 1.0f);
  to[5] = tex2DLayered(layers, 1, 1, 1);
  surf2Dwrite(7.5f, canvas, 4, 1);
  float back;
  surf2Dread(&back, canvas, 4, 1);
  to[6] = back;
}

static int wrong = 0;
static void expect(const char* what, float got, float wanted) {
  if (got == wanted) return;
  wrong = 1;
  std::printf("%s: %g, not %g\n", what, got, wanted);
}
static void well(cudaError_t result) { expect(cudaGetErrorString(result), (float)result, 0); }

template <class T>
static cudaArray_t array_of(const std::vector<T>& texels, cudaExtent extent, unsigned flags = 0) {
  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
  well(cudaMalloc3DArray(&array, &format, extent, flags));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr((void*)texels.data(), extent.width * sizeof(T), extent.width,
                                    extent.height > 0 ? extent.height : 1);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(extent.width, extent.height > 0 ? extent.height : 1,
                                extent.depth > 0 ? extent.depth : 1);
  copy.kind = cudaMemcpyHostToDevice;
  well(cudaMemcpy3D(&copy));
  return array;
}

int main() {
  float numbers[16], *device, *to;
  for (int i = 0; i < 16; ++i) numbers[i] = (float)i;
  well(cudaMallocManaged(&to, 64));
  well(cudaMalloc(&device, sizeof numbers));
  well(cudaMemcpy(device, numbers, sizeof numbers, cudaMemcpyHostToDevice));
  size_t offset = 9;
  well(cudaBindTexture(&offset, plain, device, sizeof numbers));
  expect("offset", (float)offset, 0);
  const cudaChannelFormatDesc four = cudaCreateChannelDesc<float4>();
  well(cudaBindTexture(nullptr, &vectors, device, &four, sizeof numbers));
  fetch<<<1, 4>>>(to);
  well(cudaDeviceSynchronize());
  for (int i = 0; i < 4; ++i) expect("linear memory", to[i], (float)(i + 4 * i + 2));
  well(cudaBindTexture(nullptr, plain, device + 8, 8));  // bound anew, two texels
  fetch<<<1, 4>>>(to);
  well(cudaDeviceSynchronize());
  expect("bound anew", to[1], 9 + 6);
  expect("outside", to[2], 0 + 10);

  image.normalized = 1;
  image.filterMode = cudaFilterModeLinear;
  image.addressMode[0] = cudaAddressModeWrap;
  well(cudaBindTextureToArray(image, array_of<unsigned char>({0, 255, 0, 0}, make_cudaExtent(4, 1, 0))));
  well(cudaBindTextureToArray(pairs, array_of<short2>({{0, 0}, {1, 32767}}, make_cudaExtent(2, 1, 0))));
  const cudaChannelFormatDesc ints = cudaCreateChannelDesc<int>();
  const int table[] = {0, 1, 2, -1, 10, 11, 12, -1};
  int* rows;
  well(cudaMalloc(&rows, sizeof table));
  well(cudaMemcpy(rows, table, sizeof table, cudaMemcpyHostToDevice));
  well(cudaBindTexture2D(nullptr, pitched, rows, ints, 3, 2, 16));
  volume.filterMode = cudaFilterModeLinear;
  well(cudaBindTextureToArray(volume, array_of<float>({0, 1, 2, 3, 4, 5, 6, 7}, make_cudaExtent(2, 2, 2))));
  well(cudaBindTextureToArray(
      layers, array_of<float>({0, 1, 2, 3, 4, 5, 6, 7}, make_cudaExtent(2, 2, 2), cudaArrayLayered)));
  well(cudaBindSurfaceToArray(
      canvas, array_of<float>({0, 0, 0, 0}, make_cudaExtent(2, 2, 0), cudaArraySurfaceLoadStore)));
  sample<<<1, 1>>>(to);
  well(cudaDeviceSynchronize());
  expect("filtered", to[0], 0.5f);
  expect("wrapped", to[1], 0.0f);
  expect("16 bits", to[2], 1.0f);
  expect("pitched memory", to[3], 12.0f);
  expect("three dimensions", to[4], 2.5f);
  expect("layers", to[5], 7.0f);
  expect("surface", to[6], 7.5f);

  const textureReference* found = nullptr;
  well(cudaGetTextureReference(&found, &plain));
  expect("its reference", (float)(found == &plain), 1);
  well(cudaGetTextureAlignmentOffset(&offset, plain));
  well(cudaUnbindTexture(plain));
  expect("unbound", (float)cudaGetTextureAlignmentOffset(&offset, plain),
         (float)cudaErrorInvalidTextureBinding);
  std::printf(wrong ? "FAIL\n" : "PASS\n");
  return wrong;
}
