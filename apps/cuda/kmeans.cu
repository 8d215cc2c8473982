// K-means after Lloyd: each point joins the nearest centre, each centre moves to the mean of its points. The centres lie
// in constant memory; a block sums its points up in shared memory, and adds its sums to everyone's.

#include "check.hpp"

constexpr int kFeatures = 4;
constexpr int kMostClusters = 64;
constexpr int kBlock = 128;

__constant__ float centres[kMostClusters * kFeatures];

__host__ __device__ inline int nearest(const float* point, const float* all, int clusters) {
  int best = 0;
  float least = 0.0f;
  for (int cluster = 0; cluster < clusters; ++cluster) {
    float squared = 0.0f;
    for (int feature = 0; feature < kFeatures; ++feature) {
      const float difference = point[feature] - all[cluster * kFeatures + feature];
      squared += difference * difference;
    }
    if (cluster == 0 || squared < least) {
      least = squared;
      best = cluster;
    }
  }
  return best;
}

__global__ void assign(const float* points, int count, int clusters, int* owner, float* sums, int* sizes) {
  __shared__ float own_sums[kMostClusters * kFeatures];
  __shared__ int own_sizes[kMostClusters];
  for (int i = threadIdx.x; i < clusters * kFeatures; i += blockDim.x) own_sums[i] = 0.0f;
  for (int i = threadIdx.x; i < clusters; i += blockDim.x) own_sizes[i] = 0;
  __syncthreads();

  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    const float* point = points + i * kFeatures;
    const int cluster = nearest(point, centres, clusters);
    owner[i] = cluster;
    atomicAdd(&own_sizes[cluster], 1);
    for (int feature = 0; feature < kFeatures; ++feature)
      atomicAdd(&own_sums[cluster * kFeatures + feature], point[feature]);
  }
  __syncthreads();

  for (int k = threadIdx.x; k < clusters * kFeatures; k += blockDim.x) atomicAdd(&sums[k], own_sums[k]);
  for (int k = threadIdx.x; k < clusters; k += blockDim.x) atomicAdd(&sizes[k], own_sizes[k]);
}

static void move(std::vector<float>& all, const std::vector<float>& sums, const std::vector<int>& sizes) {
  for (std::size_t i = 0; i < all.size(); ++i)
    if (sizes[i / kFeatures] > 0) all[i] = sums[i] / sizes[i / kFeatures];
}

static void iterate_on_cpu(const std::vector<float>& points, std::vector<float>& all,
                           std::vector<int>& owner) {
  const int clusters = static_cast<int>(all.size()) / kFeatures;
  std::vector<double> sums(all.size(), 0.0);
  std::vector<int> sizes(clusters, 0);
  for (std::size_t i = 0; i < owner.size(); ++i) {
    owner[i] = nearest(&points[i * kFeatures], all.data(), clusters);
    ++sizes[owner[i]];
    for (int feature = 0; feature < kFeatures; ++feature)
      sums[owner[i] * kFeatures + feature] += points[i * kFeatures + feature];
  }
  move(all, std::vector<float>(sums.begin(), sums.end()), sizes);
}

int main(int argc, char** argv) {
  const Arguments arguments(argc, argv, 3,
                            "[points, 64 to 10000000] [clusters, 1 to 64] [iterations, 1 to 1000]");
  const int count = arguments.number(1, 50000, 64, 10000000);
  const int clusters = arguments.number(2, 8, 1, kMostClusters);
  const int iterations = arguments.number(3, 10, 1, 1000);

  // Clouds around places of a grid that lie apart, so that rounding moves no point from one centre to another.
  std::vector<float> points = random_values(std::size_t(count) * kFeatures, 1);
  for (int i = 0; i < count; ++i)
    for (int feature = 0; feature < kFeatures; ++feature)
      points[std::size_t(i) * kFeatures + feature] +=
          4.0f * (i % clusters >> feature & 1) + 9.0f * (i % clusters >> 4);
  std::vector<float> start(points.begin(), points.begin() + std::size_t(clusters) * kFeatures);

  float *device_points, *device_sums;
  int *device_owner, *device_sizes;
  const std::size_t sums_bytes = start.size() * sizeof(float), sizes_bytes = clusters * sizeof(int);
  CHECK_CUDA(cudaMalloc(&device_points, points.size() * sizeof(float)));
  CHECK_CUDA(cudaMalloc(&device_owner, count * sizeof(int)));
  CHECK_CUDA(cudaMalloc(&device_sums, sums_bytes));
  CHECK_CUDA(cudaMalloc(&device_sizes, sizes_bytes));
  CHECK_CUDA(cudaMemcpy(device_points, points.data(), points.size() * sizeof(float), cudaMemcpyHostToDevice));

  std::vector<float> found = start, sums(start.size());
  std::vector<int> sizes(clusters), owner(count);
  for (int done = 0; done < iterations; ++done) {
    CHECK_CUDA(cudaMemcpyToSymbol(centres, found.data(), sums_bytes));
    CHECK_CUDA(cudaMemset(device_sums, 0, sums_bytes));
    CHECK_CUDA(cudaMemset(device_sizes, 0, sizes_bytes));
    assign<<<(count + kBlock - 1) / kBlock, kBlock>>>(device_points, count, clusters, device_owner,
                                                      device_sums, device_sizes);
    CHECK_CUDA(cudaGetLastError());
    CHECK_CUDA(cudaMemcpy(sums.data(), device_sums, sums_bytes, cudaMemcpyDeviceToHost));
    CHECK_CUDA(cudaMemcpy(sizes.data(), device_sizes, sizes_bytes, cudaMemcpyDeviceToHost));
    move(found, sums, sizes);
  }
  CHECK_CUDA(cudaMemcpy(owner.data(), device_owner, count * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaFree(device_points));
  CHECK_CUDA(cudaFree(device_owner));
  CHECK_CUDA(cudaFree(device_sums));
  CHECK_CUDA(cudaFree(device_sizes));

  std::vector<float> expected = start;
  std::vector<int> expected_owner(count);
  for (int done = 0; done < iterations; ++done) iterate_on_cpu(points, expected, expected_owner);
  int wrong = 0;
  for (int i = 0; i < count; ++i) wrong += owner[i] != expected_owner[i];
  const double error = largest_error(found, expected);
  return report(wrong == 0 && error < 1e-3,
                "kmeans of %d points, %d clusters, %d iterations, %d misplaced, error %.1e", count, clusters,
                iterations, wrong, error);
}
