// Kernels whose access only a launch shows, each launched several times. Prints what memory holds after each launch, which does not depend
// on how launches are run.

#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                            \
  do {                                                                         \
    if (const cudaError_t error = (call); error != cudaSuccess) {              \
      std::printf("FAIL: line %d: %s\n", __LINE__, cudaGetErrorString(error)); \
      std::exit(1);                                                            \
    }                                                                          \
  } while (false)

constexpr int kCount = 1000;  // not a multiple of the threads of a block
constexpr int kThreads = 64;
constexpr int kBlocks = (kCount + kThreads - 1) / kThreads;

__device__ float scale = 2;
__constant__ float weights[4] = {1, 2, 3, 4};

struct Vectors {
  const int* to;
  const float* from;
  float* sums;
};

__global__ void scatter(const int* to, const float* from, float* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sums[to[i]] += from[i];
}

// More rows than Nuna would keep account of.
__global__ void scatter_of_many(const int* to, const float* from, float* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sums[to[i]] += from[i];
}

__global__ void scatter_of_struct(Vectors all, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) all.sums[all.to[i]] += scale * weights[i & 3] * all.from[i];
}

// The same, each name apart in what is said of it.
__global__ void scatter_that_changes(const int* to, const float* from, float* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sums[to[i]] += from[i];
}
__global__ void scatter_that_always_changes(const int* to, const float* from, float* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sums[to[i]] += from[i];
}
__global__ void gather_that_changes(const int* to, const int* of, const float* from, float* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sums[to[i]] += from[of[i]];
}
// In the last part alone: on several ranks the others have to be told.
__global__ void scatter_that_changes_last(const int* to, const float* from, float* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sums[to[i]] += from[i];
}
__global__ void gather_that_changes_last(const int* to, const int* of, const float* from, float* sums,
                                         int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sums[to[i]] += from[of[i]];
}
__global__ void scatter_of_many_that_changes_last(const int* to, const float* from, float* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sums[to[i]] += from[i];
}
// Fewer bytes than before, which is no deviation.
__global__ void scatter_of_some(const int* to, const int* wanted, float* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && wanted[i]) sums[to[i]] = 1 + i;
}

__global__ void collide(const int* to, float* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sums[to[i] % 64] = 3 * (to[i] % 64);
}

// Every thread looks at all that others write.
__global__ void look_around(const int* to, float* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  bool seen = false;
  for (int k = 0; k < n; k += 7) seen |= values[k] < 0;
  values[to[i]] = seen ? 0 : to[i];
}

__global__ void count(const int* to, int* counts, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&counts[to[i] & 15], 1);
}

// Rows in an order of their own.
__global__ void multiply(const int* begins, const int* columns, const float* values, const float* x,
                         const int* order, float* y, int rows) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int k = begins[r]; k < begins[r + 1]; ++k) sum += values[k] * x[columns[k]];
  y[order[r]] = sum;
}
// The guard is in memory, the writes are not.
__global__ void multiply_active(const int* begins, const int* columns, const float* values, const float* x,
                                const int* active, float* y, int rows) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows || !active[r]) return;
  float sum = 0;
  for (int k = begins[r]; k < begins[r + 1]; ++k) sum += values[k] * x[columns[k]];
  y[r] = sum;
}

__global__ void rows_of_pointers(float* const* rows, int columns) {
  float* row = rows[blockIdx.x];
  for (int c = threadIdx.x; c < columns; c += blockDim.x) row[c] += blockIdx.x + c;
}

__global__ void volatile_rows(float* const* rows, int columns) {
  volatile float* row = rows[blockIdx.x];
  for (int c = threadIdx.x; c < columns; c += blockDim.x) row[c] = row[c] + 1;
}

__global__ void print_and_scatter(const int* to, float* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) printf("print_and_scatter begins\n");
  if (i < n) sums[to[i]] = i;
}

struct Node {
  Node* next;
  int value;
};
__global__ void link(Node* nodes, const int* to, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) nodes[i].next = &nodes[to[i]];
}
__global__ void follow(Node* const* starts, int* sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int sum = 0;
  const Node* node = starts[i];
  for (int step = 0; step < 5; ++step, node = node->next) sum += node->value;
  sums[i] = sum;
}

// Pointers that lead to the block's memory, the thread's, or the device's.
__global__ void mixed(const int* to, float* sums, int n) {
  __shared__ float block[kThreads];
  float own[4] = {1, 2, 3, 4};
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  block[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (i >= n) return;
  const int at = to[i];
  float* place = at % 3 == 0 ? &block[threadIdx.x] : at % 3 == 1 ? &own[at & 3] : &sums[at];
  *place += at;
  sums[to[i]] = *place + own[i & 3];
}

// Blocks that differ in y write the same, those that differ in x do not.
__global__ void columns(const int* to, float* sums) {
  if (threadIdx.x == 0) sums[to[blockIdx.x]] = 5 + blockIdx.x;
}

template <class T>
T* device(const std::vector<T>& values) {
  T* memory = nullptr;
  CHECK(cudaMalloc(&memory, values.size() * sizeof(T)));
  CHECK(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return memory;
}
template <class T>
void set(T* memory, const std::vector<T>& values) {
  CHECK(cudaMemcpy(memory, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
}
template <class T>
std::vector<T> fetched(const T* memory, int n) {
  std::vector<T> values(n);
  CHECK(cudaMemcpy(values.data(), memory, n * sizeof(T), cudaMemcpyDeviceToHost));
  return values;
}
template <class T>
void show(const char* name, int round, const T* memory, int n) {
  unsigned hash = 2166136261u;
  const std::vector<T> values = fetched(memory, n);
  const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
  for (size_t b = 0; b < values.size() * sizeof(T); ++b) hash = (hash ^ bytes[b]) * 16777619u;
  std::printf("%s %d %08x\n", name, round, hash);
}

std::vector<int> permutation(int n, unsigned seed) {
  std::vector<int> all(n);
  for (int i = 0; i < n; ++i) all[i] = i;
  for (int i = n - 1; i > 0; --i) {
    seed = seed * 1664525u + 1013904223u;
    std::swap(all[i], all[(seed >> 8) % (i + 1)]);
  }
  return all;
}

int main() {
  const int n = kCount;
  const std::vector<int> one = permutation(n, 1);
  std::vector<int> two = one;
  std::swap(two[n - 1], two[5]);  // of the last part and of the first
  std::vector<float> numbers(n);
  for (int i = 0; i < n; ++i) numbers[i] = i % 17 + 0.5f;
  const std::vector<float> zeros(n);
  int* to = device(one);
  float* from = device(numbers);

  float* sums = device(zeros);
  for (int round = 1; round <= 6; ++round) {
    scatter<<<kBlocks, kThreads>>>(to, from, sums, n);
    show("scatter", round, sums, n);
  }
  const int many = 50 * n;
  const int* many_to = device(permutation(many, 2));
  const float* many_from = device(std::vector<float>(many, 1.5f));
  float* many_sums = device(std::vector<float>(many));
  for (int round = 1; round <= 4; ++round) {
    scatter_of_many<<<many / 100, 100>>>(many_to, many_from, many_sums, many);
    show("scatter_of_many", round, many_sums, many);
  }
  for (int round = 1; round <= 4; ++round) {
    scatter_of_struct<<<kBlocks, kThreads>>>({to, from, sums}, n);
    show("scatter_of_struct", round, sums, n);
  }
  for (int round = 1; round <= 9; ++round) {
    set(to, round < 5 ? one : two);
    scatter_that_changes<<<kBlocks, kThreads>>>(to, from, sums, n);
    show("scatter_that_changes", round, sums, n);
  }
  for (int round = 1; round <= 10; ++round) {
    set(to, permutation(n, round));
    scatter_that_always_changes<<<kBlocks, kThreads>>>(to, from, sums, n);
    show("scatter_that_always_changes", round, sums, n);
  }
  set(to, one);
  int* of = device(one);
  for (int round = 1; round <= 8; ++round) {
    if (round == 5) set(of, two);
    gather_that_changes<<<kBlocks, kThreads>>>(to, of, from, sums, n);
    show("gather_that_changes", round, sums, n);
  }
  std::vector<int> other_last(n);
  for (int i = 0; i < n; ++i) other_last[i] = i;
  int* ordered_to = device(other_last);
  int* ordered_of = device(other_last);
  float* more_sums = device(std::vector<float>(n + 1));  // one more than is written at first
  other_last[n - 1] = n;
  for (int round = 1; round <= 7; ++round) {
    if (round == 4) set(ordered_to, other_last);
    scatter_that_changes_last<<<kBlocks, kThreads>>>(ordered_to, from, more_sums, n);
    show("scatter_that_changes_last", round, more_sums, n + 1);
  }
  other_last[n - 1] = 0;
  for (int round = 1; round <= 7; ++round) {
    if (round == 4) set(ordered_of, other_last);
    gather_that_changes_last<<<kBlocks, kThreads>>>(ordered_to, ordered_of, from, more_sums, n);
    show("gather_that_changes_last", round, more_sums, n + 1);
  }
  std::vector<int> all_many = permutation(many, 2);
  int* many_changing = device(all_many);
  float* more_many_sums = device(std::vector<float>(many + 1));
  all_many[many - 1] = many;
  for (int round = 1; round <= 7; ++round) {
    if (round == 4) set(many_changing, all_many);
    scatter_of_many_that_changes_last<<<many / 100, 100>>>(many_changing, many_from, more_many_sums, many);
    show("scatter_of_many_that_changes_last", round, more_many_sums, many + 1);
  }
  std::vector<int> wanted(n, 1);
  int* all_wanted = device(wanted);
  for (int round = 1; round <= 6; ++round) {
    for (int i = 0; i < n; ++i) wanted[i] = round < 4 || i % round == 0;
    set(all_wanted, wanted);
    set(sums, zeros);
    scatter_of_some<<<kBlocks, kThreads>>>(to, all_wanted, sums, n);
    show("scatter_of_some", round, sums, n);
  }
  for (int round = 1; round <= 4; ++round) {
    collide<<<kBlocks, kThreads>>>(to, sums, n);
    show("collide", round, sums, n);
  }
  float* values = device(numbers);
  for (int round = 1; round <= 3; ++round) {
    look_around<<<kBlocks, kThreads>>>(to, values, n);
    show("look_around", round, values, n);
  }
  int* counts = device(std::vector<int>(16));
  for (int round = 1; round <= 3; ++round) {
    count<<<kBlocks, kThreads>>>(to, counts, n);
    show("count", round, counts, 16);
  }

  std::vector<int> begins(n + 1), columns_of, active(n);
  std::vector<float> entries;
  for (int r = 0; r < n; ++r) {
    active[r] = r % 5 != 0;
    for (int k = 0; k < r % 6; ++k) {
      columns_of.push_back((r * 31 + k * 97) % n);
      entries.push_back(0.25f * k + 1);
    }
    begins[r + 1] = static_cast<int>(columns_of.size());
  }
  const int* d_begins = device(begins);
  const int* d_columns = device(columns_of);
  const float* d_entries = device(entries);
  int* d_active = device(active);
  float* x = device(numbers);
  float* y = device(zeros);
  for (int round = 1; round <= 6; ++round) {  // two signatures
    multiply<<<kBlocks, kThreads>>>(d_begins, d_columns, d_entries, x, to, y, n);
    multiply<<<kBlocks, kThreads>>>(d_begins, d_columns, d_entries, y, to, x, n);
    show("multiply", round, x, n);
  }
  for (int round = 1; round <= 4; ++round) {
    if (round == 4) set(d_active, std::vector<int>(n, 1));
    multiply_active<<<kBlocks, kThreads>>>(d_begins, d_columns, d_entries, x, d_active, y, n);
    show("multiply_active", round, y, n);
  }

  std::vector<float*> rows;
  for (int r = 0; r < 24; ++r) rows.push_back(device(std::vector<float>(100)));
  float** d_rows = device(rows);
  for (int round = 1; round <= 5; ++round) {
    rows_of_pointers<<<24, 32>>>(d_rows, 100);
    show("rows_of_pointers", round, rows[round], 100);
    show("rows_of_pointers", round, rows[23], 100);
  }

  volatile_rows<<<24, 32>>>(d_rows, 100);
  show("volatile_rows", 1, rows[23], 100);
  print_and_scatter<<<kBlocks, kThreads>>>(to, sums, n);
  show("print_and_scatter", 1, sums, n);

  std::vector<Node> nodes(n);
  std::vector<Node*> starts(n);
  for (int i = 0; i < n; ++i) nodes[i] = {nullptr, i};
  Node* d_nodes = device(nodes);
  for (int i = 0; i < n; ++i) starts[i] = d_nodes + one[i];
  Node** d_starts = device(starts);
  int* totals = device(std::vector<int>(n));
  for (int round = 1; round <= 4; ++round) {
    link<<<kBlocks, kThreads>>>(d_nodes, to, n);
    std::vector<int> distances;
    for (const Node& node : fetched(d_nodes, n)) distances.push_back(static_cast<int>(node.next - d_nodes));
    std::printf("link %d %s\n", round, distances == one ? "right" : "wrong");
    follow<<<kBlocks, kThreads>>>(d_starts, totals, n);
    show("follow", round, totals, n);
  }
  for (int round = 1; round <= 4; ++round) {
    mixed<<<kBlocks, kThreads>>>(to, sums, n);
    show("mixed", round, sums, n);
  }
  for (int round = 1; round <= 5; ++round) {
    columns<<<dim3(12, 9), 32>>>(to, sums);
    show("columns", round, sums, n);
  }
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  return 0;
}
