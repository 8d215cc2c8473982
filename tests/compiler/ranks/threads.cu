// Host threads that call at the same time, in an order that is another one on each rank; and threads whose calls really differ.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

namespace {

constexpr int kWorkers = 6;

int rank_here() {
  const char* const rank = std::getenv("OMPI_COMM_WORLD_RANK");
  return rank != nullptr ? std::atoi(rank) : 0;
}

// Up to two milliseconds, others on each rank.
void dawdle(int who, int step) {
  const unsigned mixed = (static_cast<unsigned>(rank_here()) * 7919U + static_cast<unsigned>(who) * 104729U +
                          static_cast<unsigned>(step) * 1299709U) *
                         2654435761U;
  std::this_thread::sleep_for(std::chrono::microseconds((mixed >> 16U) % 2000U));
}

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("%s\n", cudaGetErrorName(error));
  std::fflush(stdout);
  std::exit(5);
}

__global__ void scale(long* data, int n, long factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = data[i] * factor + i;
}

/// Allocates, copies, computes and frees, again and again, and has its result afterwards.
struct Worker {
  int id = 0;
  int count = 0;
  long* pinned = nullptr;
  long* data = nullptr;
  cudaStream_t stream = nullptr;
  long result = 0;

  void rounds() {
    for (int round = 0; round < 4; ++round) {
      dawdle(id, round);
      long* more = nullptr;
      std::vector<long> host(static_cast<std::size_t>(count + round * 1000), id + 1);
      const std::size_t bytes = host.size() * sizeof(long);
      check(cudaMalloc(&more, bytes));
      check(cudaMemcpy(more, host.data(), bytes, cudaMemcpyHostToDevice));
      dawdle(id, round + 10);
      scale<<<(static_cast<int>(host.size()) + 127) / 128, 128>>>(more, static_cast<int>(host.size()),
                                                                  round + 2);
      check(cudaMemcpy(host.data(), more, bytes, cudaMemcpyDeviceToHost));
      result += std::accumulate(host.begin(), host.end(), 0L) * (round + 1);
      dawdle(id, round + 20);
      check(cudaFree(more));
    }
  }

  // In the stream; what comes back is taken up by a callback.
  void start(cudaStreamCallback_t then) {
    dawdle(id, 30);
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(long);
    check(cudaStreamCreate(&stream));
    check(cudaMalloc(&data, bytes));
    check(cudaMallocHost(&pinned, bytes));
    for (int i = 0; i < count; ++i) pinned[i] = i % 100 + id;
    dawdle(id, 31);
    cudaEvent_t event = nullptr;
    check(cudaEventCreate(&event));
    check(cudaMemcpyAsync(data, pinned, bytes, cudaMemcpyHostToDevice, stream));
    scale<<<(count + 63) / 64, 64, 0, stream>>>(data, count, id + 3);
    check(cudaEventRecord(event, stream));
    while (cudaEventQuery(event) == cudaErrorNotReady) {
    }
    check(cudaEventDestroy(event));
    check(cudaMemcpyAsync(pinned, data, bytes, cudaMemcpyDeviceToHost, stream));
    check(cudaStreamAddCallback(stream, then, this, 0));
  }

  void finish() {
    dawdle(id, 40);
    result += std::accumulate(pinned, pinned + count, 0L);
    check(cudaFree(data));
    check(cudaFreeHost(pinned));
    check(cudaStreamDestroy(stream));
  }
};

std::mutex mutex;
std::condition_variable changed;
int finished = 0;

void CUDART_CB take_up(cudaStream_t, cudaError_t error, void* worker) {
  check(error);
  std::thread([worker] {
    static_cast<Worker*>(worker)->finish();
    const std::lock_guard lock(mutex);
    ++finished;
    changed.notify_one();
  }).detach();
}

// Each worker is a thread that makes another; the main thread computes meanwhile.
int run() {
  std::vector<Worker> workers(kWorkers + 1);
  for (int i = 0; i <= kWorkers; ++i) workers[static_cast<std::size_t>(i)] = {i, 20'000 + 3'000 * i};
  std::vector<std::thread> threads;
  workers[kWorkers].rounds();
  for (int i = 0; i < kWorkers; ++i) {
    threads.emplace_back([&worker = workers[static_cast<std::size_t>(i)]] {
      std::thread inner([&worker] { worker.start(&take_up); });
      Worker aside{worker.id, worker.count / 2};
      aside.rounds();
      inner.join();
      const std::lock_guard lock(mutex);
      worker.result += aside.result;
    });
  }
  workers[kWorkers].rounds();
  for (std::thread& thread : threads) thread.join();
  std::unique_lock lock(mutex);
  changed.wait(lock, [] { return finished == kWorkers; });
  for (const Worker& worker : workers) std::printf("worker %d: %ld\n", worker.id, worker.result);
  return 0;
}

// A thread of rank 1 calls once more (`extra`), or something else (`other`), or its calls come without a match while others wait (`crossed`).
int differ(const char* how) {
  const bool odd = rank_here() == 1;
  std::thread first([&] {
    void* memory = nullptr;
    check(cudaMalloc(&memory, 4096));
    if (odd && std::strcmp(how, "extra") == 0) check(cudaMalloc(&memory, 5000));
    if (odd && std::strcmp(how, "other") == 0) check(cudaMemset(memory, 0, 4096));
    if (!odd && std::strcmp(how, "other") == 0) check(cudaMalloc(&memory, 6000));
  });
  first.join();
  std::thread second([&] {
    if (!odd && std::strcmp(how, "crossed") == 0) check(cudaDeviceSynchronize());
  });
  std::thread third([&] {
    if (odd && std::strcmp(how, "crossed") == 0) check(cudaDeviceSynchronize());
  });
  second.join();
  third.join();
  return 0;
}

}  // namespace

int main(int count, char** arguments) { return count > 1 ? differ(arguments[1]) : run(); }
