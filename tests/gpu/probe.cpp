// What a machine's CUDA driver does, as far as Nuna's CUDA device relies on it: one line each, and with --json FILE an object.
//
//   g++ -std=c++20 -I <toolkit>/include probe.cpp -o probe -ldl && ./probe [--json FILE]
//
// Needs nothing of Nuna's, and no driver to be linked: it is the first thing to run on a new machine. The driver is libcuda.so.1 or
// what NUNA_CUDA_DRIVER names. Exit status: 0 when the questions could be asked, whatever the answers, else 1.

#include <cuda.h>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// Every function that is called.
#define PROBE_CALLS(X)             \
  X(cuInit)                        \
  X(cuDriverGetVersion)            \
  X(cuGetErrorName)                \
  X(cuDeviceGetCount)              \
  X(cuDeviceGet)                   \
  X(cuDeviceGetName)               \
  X(cuDeviceGetAttribute)          \
  X(cuDeviceTotalMem)              \
  X(cuDeviceCanAccessPeer)         \
  X(cuDevicePrimaryCtxRetain)      \
  X(cuCtxSetCurrent)               \
  X(cuCtxPushCurrent)              \
  X(cuCtxPopCurrent)               \
  X(cuCtxGetStreamPriorityRange)   \
  X(cuMemAlloc)                    \
  X(cuMemFree)                     \
  X(cuMemAddressReserve)           \
  X(cuMemAddressFree)              \
  X(cuMemCreate)                   \
  X(cuMemRelease)                  \
  X(cuMemMap)                      \
  X(cuMemUnmap)                    \
  X(cuMemSetAccess)                \
  X(cuMemGetAllocationGranularity) \
  X(cuMemExportToShareableHandle)  \
  X(cuMemHostRegister)             \
  X(cuMemHostUnregister)           \
  X(cuPointerGetAttribute)         \
  X(cuStreamCreateWithPriority)    \
  X(cuStreamSynchronize)           \
  X(cuStreamWaitEvent)             \
  X(cuEventCreate)                 \
  X(cuEventRecord)                 \
  X(cuEventQuery)                  \
  X(cuMemcpyAsync)                 \
  X(cuMemcpy3DAsync)               \
  X(cuMemsetD8Async)               \
  X(cuModuleLoadData)              \
  X(cuModuleGetFunction)           \
  X(cuLaunchKernel)

namespace {

#define PROBE_DECLARE(name) decltype(&::name) name = nullptr;
struct Driver {
  PROBE_CALLS(PROBE_DECLARE)
} cuda;
#undef PROBE_DECLARE

constexpr std::size_t kPiece = std::size_t{64} << 10;
constexpr std::size_t kMiB = std::size_t{1} << 20;

std::string name_of(CUresult result) {
  const char* name = nullptr;
  return cuda.cuGetErrorName(result, &name) == CUDA_SUCCESS && name != nullptr ? name
                                                                               : std::to_string(result);
}
std::string yes_or(CUresult result) { return result == CUDA_SUCCESS ? "yes" : name_of(result); }
std::string hex(CUdeviceptr address) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
  return text;
}
CUdeviceptr number(const void* p) { return reinterpret_cast<CUdeviceptr>(p); }

/// The answers, in order.
class Answers {
 public:
  void add(const std::string& question, const std::string& answer) {
    std::printf("%-60s %s\n", question.c_str(), answer.c_str());
    std::fflush(stdout);
    all_.emplace_back(question, answer);
  }
  bool write(const char* path) const {
    std::ofstream file(path);
    const char* before = "{";
    for (const auto& [question, answer] : all_) {
      file << before << "\n  \"" << quoted(question) << "\": \"" << quoted(answer) << "\"";
      before = ",";
    }
    file << "\n}\n";
    return file.good();
  }

 private:
  static std::string quoted(const std::string& text) {
    std::string out;
    for (const char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    return out;
  }
  std::vector<std::pair<std::string, std::string>> all_;
} answers;

/// Why the driver cannot be asked, or nothing.
std::string load() {
  const char* named = std::getenv("NUNA_CUDA_DRIVER");
  const char* path = named != nullptr && *named != '\0' ? named : "libcuda.so.1";
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return dlerror();
  using Find = CUresult (*)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);
  const auto find = reinterpret_cast<Find>(dlsym(library, "cuGetProcAddress_v2"));
  if (find == nullptr) return "the driver has no cuGetProcAddress_v2: it is older than CUDA 12";
#define PROBE_FIND(name)                                                                                    \
  {                                                                                                         \
    void* address = nullptr;                                                                                \
    if (find(#name, &address, 12000, 0, nullptr) != CUDA_SUCCESS || address == nullptr) return "no " #name; \
    cuda.name = reinterpret_cast<decltype(cuda.name)>(address);                                             \
  }
  PROBE_CALLS(PROBE_FIND)
#undef PROBE_FIND
  const CUresult started = cuda.cuInit(0);
  return started == CUDA_SUCCESS ? "" : "cuInit: " + name_of(started);
}

int attribute(CUdevice card, CUdevice_attribute which) {
  int value = -1;
  cuda.cuDeviceGetAttribute(&value, which, card);
  return value;
}

void ask_driver() {
  int version = 0;
  cuda.cuDriverGetVersion(&version);
  answers.add("driver: CUDA version",
              std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10));
  std::ifstream told("/proc/driver/nvidia/version");
  std::string line;
  std::getline(told, line);
  answers.add("driver: /proc/driver/nvidia/version", line.empty() ? "none" : line);
}

void ask_card(CUdevice card, int ordinal) {
  const std::string about = "card " + std::to_string(ordinal) + ": ";
  char name[256] = "";
  std::size_t bytes = 0;
  cuda.cuDeviceGetName(name, sizeof name, card);
  cuda.cuDeviceTotalMem(&bytes, card);
  answers.add(about + "name", name);
  answers.add(about + "memory, MiB", std::to_string(bytes / kMiB));
  answers.add(about + "compute capability",
              std::to_string(attribute(card, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)) + "." +
                  std::to_string(attribute(card, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)));
  const std::pair<const char*, CUdevice_attribute> asked[] = {
      {"multiprocessors", CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
      {"copy engines", CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT},
      {"memory clock, kHz", CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE},
      {"memory bus, bits", CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH},
      {"virtual-memory calls", CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED},
      {"POSIX file descriptors as handles", CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED},
      {"fabric handles", CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED},
      {"GPUDirect RDMA", CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED},
      {"GPUDirect RDMA of mapped memory", CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED},
      {"pageable memory used by kernels", CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS},
  };
  for (const auto& [what, which] : asked) answers.add(about + what, std::to_string(attribute(card, which)));
}

void ask_peers(int count) {
  for (int a = 0; a < count; ++a) {
    for (int b = 0; b < count; ++b) {
      int can = 0;
      if (a != b && cuda.cuDeviceCanAccessPeer(&can, a, b) == CUDA_SUCCESS)
        answers.add("card " + std::to_string(a) + " reaches card " + std::to_string(b),
                    can != 0 ? "yes" : "no");
    }
  }
}

CUmemAllocationProp properties(CUdevice card, bool handles, bool rdma) {
  CUmemAllocationProp wanted{};
  wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  wanted.location.id = card;
  if (handles) wanted.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  if (rdma) wanted.allocFlags.gpuDirectRDMACapable = 1;
  return wanted;
}

/// Answers of calls that Nuna makes without a current context.
void ask_without_context(CUdevice card) {
  const std::size_t tebibyte = std::size_t{1} << 40;
  for (const CUdeviceptr wished : {CUdeviceptr{0x5000'0000'0000}, CUdeviceptr{0x2000'0000'0000}}) {
    CUdeviceptr got = 0;
    const CUresult result = cuda.cuMemAddressReserve(&got, tebibyte, 0, wished, 0);
    answers.add("1 TiB of addresses at " + hex(wished), result == CUDA_SUCCESS ? hex(got) : name_of(result));
    if (result == CUDA_SUCCESS) cuda.cuMemAddressFree(got, tebibyte);
  }
  for (const auto& [handles, rdma] :
       {std::pair(false, false), std::pair(true, false), std::pair(true, true)}) {
    const CUmemAllocationProp wanted = properties(card, handles, rdma);
    std::size_t least = 0;
    std::size_t best = 0;
    const CUresult result =
        cuda.cuMemGetAllocationGranularity(&least, &wanted, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    cuda.cuMemGetAllocationGranularity(&best, &wanted, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
    answers.add(std::string("granularity, least and best, KiB") + (handles ? ", with handles" : "") +
                    (rdma ? ", for RDMA" : ""),
                result == CUDA_SUCCESS ? std::to_string(least >> 10) + " " + std::to_string(best >> 10)
                                       : name_of(result));
  }
}

bool holds(const unsigned char* bytes, std::size_t count, int value) {
  return std::all_of(bytes, bytes + count, [&](unsigned char b) { return b == value; });
}

struct Streams {
  CUcontext context = nullptr;
  CUstream stream = nullptr;
};

/// Two chunks side by side, as Nuna maps them, filled and copied across the seam.
void ask_mapping(CUdevice card, const Streams& on) {
  const CUmemAllocationProp wanted =
      properties(card, attribute(card, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED) > 0,
                 attribute(card, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED) > 0);
  std::size_t granule = 2 * kMiB;
  cuda.cuMemGetAllocationGranularity(&granule, &wanted, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
  CUdeviceptr base = 0;
  CUresult result = cuda.cuMemAddressReserve(&base, 2 * granule, 0, 0, 0);
  for (int chunk = 0; chunk < 2 && result == CUDA_SUCCESS; ++chunk) {
    CUmemGenericAllocationHandle memory = 0;
    result = cuda.cuMemCreate(&memory, granule, &wanted, 0);
    if (result != CUDA_SUCCESS) break;
    if (chunk == 0) {
      int file = -1;
      answers.add("memory is exported as a file descriptor",
                  yes_or(cuda.cuMemExportToShareableHandle(&file, memory,
                                                           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0)));
      if (file >= 0) close(file);
    }
    result = cuda.cuMemMap(base + static_cast<std::size_t>(chunk) * granule, granule, 0, memory, 0);
    cuda.cuMemRelease(memory);
    const CUmemAccessDesc access{wanted.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    if (result == CUDA_SUCCESS)
      result = cuda.cuMemSetAccess(base + static_cast<std::size_t>(chunk) * granule, granule, &access, 1);
  }
  answers.add("two chunks are mapped side by side, with handles and RDMA as the card has", yes_or(result));
  if (result != CUDA_SUCCESS) return;
  std::vector<unsigned char> host(2 * kPiece);
  result = cuda.cuMemsetD8Async(base + granule - kPiece, 0x5a, 2 * kPiece, on.stream);
  if (result == CUDA_SUCCESS)
    result = cuda.cuMemcpyAsync(number(host.data()), base + granule - kPiece, 2 * kPiece, on.stream);
  if (result == CUDA_SUCCESS) result = cuda.cuStreamSynchronize(on.stream);
  answers.add("a fill and a copy across the seam of two chunks", result != CUDA_SUCCESS ? name_of(result)
                                                                 : holds(host.data(), host.size(), 0x5a)
                                                                     ? "yes"
                                                                     : "wrong bytes");
  std::thread([&] {  // no context is current in it
    answers.add("cuMemUnmap without a current context", yes_or(cuda.cuMemUnmap(base, granule)));
  })
      .join();
  cuda.cuMemUnmap(base + granule, granule);
  cuda.cuMemAddressFree(base, 2 * granule);
}

constexpr unsigned kRegister = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP;

/// Copies [0, bytes) of host memory to the device and back to [bytes, 2 bytes), all in one call each way.
std::string round_trip(unsigned char* host, unsigned char* back, std::size_t bytes, const Streams& on) {
  CUdeviceptr device = 0;
  CUresult result = cuda.cuMemAlloc(&device, bytes);
  if (result != CUDA_SUCCESS) return name_of(result);
  std::memset(host, 0x3c, bytes);
  std::memset(back, 0, bytes);
  result = cuda.cuMemcpyAsync(device, number(host), bytes, on.stream);
  if (result == CUDA_SUCCESS) result = cuda.cuMemcpyAsync(number(back), device, bytes, on.stream);
  if (result == CUDA_SUCCESS) result = cuda.cuStreamSynchronize(on.stream);
  cuda.cuMemFree(device);
  return result != CUDA_SUCCESS ? name_of(result) : holds(back, bytes, 0x3c) ? "yes" : "wrong bytes";
}

/// Host memory as Nuna's host place is: a shared mapping of a file in memory.
void ask_registration(const Streams& on) {
  constexpr std::size_t kBytes = 8 * kMiB;
  const int file = memfd_create("probe", MFD_CLOEXEC);
  void* mapped = file < 0 || ftruncate(file, kBytes) != 0
                     ? MAP_FAILED
                     : mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  if (mapped == MAP_FAILED) return answers.add("a shared mapping of a memfd", "no");
  auto* const place = static_cast<unsigned char*>(mapped);
  const auto piece = [&](std::size_t i) { return place + i * kPiece; };
  const auto registers = [&](std::size_t i, std::size_t bytes) {
    return cuda.cuMemHostRegister(piece(i), bytes, kRegister);
  };
  const auto unregister = [&](std::size_t i) { return cuda.cuMemHostUnregister(piece(i)); };

  answers.add("registers a memfd's shared mapping whole, untouched", yes_or(registers(0, kBytes)));
  answers.add("... and unregisters it", yes_or(unregister(0)));
  answers.add("registers 64 KiB of it", yes_or(registers(1, kPiece)));
  answers.add("registers the same 64 KiB again", yes_or(registers(1, kPiece)));
  answers.add("registers what overlaps them by half",
              yes_or(cuda.cuMemHostRegister(piece(1) + kPiece / 2, kPiece, kRegister)));
  answers.add("registers the next 64 KiB", yes_or(registers(2, kPiece)));
  answers.add("a copy across two adjacent registrations", round_trip(piece(1), piece(16), 2 * kPiece, on));
  answers.add("a copy from a registration into memory that is not registered",
              round_trip(piece(2), piece(32), 2 * kPiece, on));
  unsigned type = 0;
  CUresult result = cuda.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, number(piece(1)));
  answers.add("memory type of registered memory (1 is host)",
              result == CUDA_SUCCESS ? std::to_string(type) : name_of(result));
  result = cuda.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, number(piece(50)));
  answers.add("memory type of memory that is not",
              result == CUDA_SUCCESS ? std::to_string(type) : name_of(result));
  std::size_t range = 0;
  result = cuda.cuPointerGetAttribute(&range, CU_POINTER_ATTRIBUTE_RANGE_SIZE, number(piece(1)));
  answers.add("size of the range of one of two adjacent registrations, KiB",
              result == CUDA_SUCCESS ? std::to_string(range >> 10) : name_of(result));
  std::thread([&] {
    result = cuda.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, number(piece(1)));
    answers.add("cuPointerGetAttribute without a current context", yes_or(result));
    answers.add("cuMemHostUnregister without a current context", yes_or(unregister(2)));
  }).join();
  unregister(2);
  unregister(1);
  munmap(mapped, kBytes);
  close(file);
}

/// Rows of host memory into rows of the device's, the kinds of memory left to the driver.
void ask_box_copy(const Streams& on) {
  constexpr std::size_t kPitch = 256;
  constexpr std::size_t kRows = 16;
  std::vector<unsigned char> host(kPitch * kRows * 4, 7);
  std::vector<unsigned char> back(kPitch * kRows * 4, 0);
  CUdeviceptr device = 0;
  cuda.cuMemAlloc(&device, host.size());
  CUDA_MEMCPY3D call{};
  call.srcMemoryType = call.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  call.srcDevice = number(host.data());
  call.dstDevice = device;
  call.srcPitch = call.dstPitch = kPitch;
  call.srcHeight = call.dstHeight = kRows;
  call.WidthInBytes = 100;
  call.Height = 10;
  call.Depth = 3;
  CUresult result = cuda.cuMemcpy3DAsync(&call, on.stream);
  std::swap(call.srcDevice, call.dstDevice);
  call.dstDevice = number(back.data());
  if (result == CUDA_SUCCESS) result = cuda.cuMemcpy3DAsync(&call, on.stream);
  if (result == CUDA_SUCCESS) result = cuda.cuStreamSynchronize(on.stream);
  const bool right = holds(back.data() + 2 * kPitch * kRows + 9 * kPitch, 100, 7) && back[100] == 0 &&
                     back[10 * kPitch] == 0;
  answers.add("cuMemcpy3DAsync between unified addresses", result != CUDA_SUCCESS ? name_of(result)
                                                           : right                ? "yes"
                                                                                  : "wrong bytes");
  cuda.cuMemFree(device);
}

template <class Call>
std::string microseconds(int times, Call&& call) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> rounds;
  for (int round = 0; round < 9; ++round) {
    const auto start = Clock::now();
    for (int i = 0; i < times; ++i) call();
    rounds.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count() / times);
  }
  std::sort(rounds.begin(), rounds.end());
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", rounds[rounds.size() / 2]);
  return text;
}

constexpr const char* kEmptyKernel = R"(.version 7.0
.target sm_75
.address_size 64
.visible .entry empty()
{
  ret;
}
)";

void ask_costs(const Streams& on) {
  CUmodule module = nullptr;
  CUfunction empty = nullptr;
  CUevent event = nullptr;
  CUresult result = cuda.cuModuleLoadData(&module, kEmptyKernel);
  if (result == CUDA_SUCCESS) result = cuda.cuModuleGetFunction(&empty, module, "empty");
  if (result == CUDA_SUCCESS) result = cuda.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);
  if (result != CUDA_SUCCESS) return answers.add("costs", name_of(result));
  const auto launch = [&] { cuda.cuLaunchKernel(empty, 1, 1, 1, 32, 1, 1, 0, on.stream, nullptr, nullptr); };
  const auto settle = [&] { cuda.cuStreamSynchronize(on.stream); };
  launch();
  settle();
  constexpr int kTimes = 500;
  answers.add("cost, us: cuLaunchKernel of nothing, one after the other", microseconds(kTimes, launch));
  settle();
  answers.add("cost, us: cuEventRecord", microseconds(kTimes, [&] { cuda.cuEventRecord(event, on.stream); }));
  settle();
  answers.add("cost, us: cuEventQuery of a complete event",
              microseconds(kTimes, [&] { cuda.cuEventQuery(event); }));
  answers.add("cost, us: cuStreamWaitEvent of a complete event",
              microseconds(kTimes, [&] { cuda.cuStreamWaitEvent(on.stream, event, CU_EVENT_WAIT_DEFAULT); }));
  settle();
  answers.add("cost, us: cuCtxPushCurrent and cuCtxPopCurrent", microseconds(kTimes, [&] {
                CUcontext popped = nullptr;
                cuda.cuCtxPushCurrent(on.context);
                cuda.cuCtxPopCurrent(&popped);
              }));
  answers.add("latency, us: an empty launch and cuStreamSynchronize", microseconds(kTimes, [&] {
                launch();
                settle();
              }));
  answers.add("latency, us: an empty launch, cuEventRecord, cuEventQuery until done",
              microseconds(kTimes, [&] {
                launch();
                cuda.cuEventRecord(event, on.stream);
                while (cuda.cuEventQuery(event) == CUDA_ERROR_NOT_READY) {
                }
              }));
  std::thread([&] {
    answers.add("cuEventQuery without a current context", yes_or(cuda.cuEventQuery(event)));
    answers.add("cuEventRecord without a current context", yes_or(cuda.cuEventRecord(event, on.stream)));
  }).join();
}

int probe() {
  ask_driver();
  int count = 0;
  if (const CUresult result = cuda.cuDeviceGetCount(&count); result != CUDA_SUCCESS || count == 0) {
    answers.add("cards", result == CUDA_SUCCESS ? "none" : name_of(result));
    return EXIT_FAILURE;
  }
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CUdevice card = 0;
    cuda.cuDeviceGet(&card, ordinal);
    ask_card(card, ordinal);
  }
  ask_peers(count);
  ask_without_context(0);
  Streams on;
  CUresult result = cuda.cuDevicePrimaryCtxRetain(&on.context, 0);
  if (result == CUDA_SUCCESS) result = cuda.cuCtxSetCurrent(on.context);
  int least = 0;
  int greatest = 0;
  if (result == CUDA_SUCCESS) result = cuda.cuCtxGetStreamPriorityRange(&least, &greatest);
  if (result == CUDA_SUCCESS)
    result = cuda.cuStreamCreateWithPriority(&on.stream, CU_STREAM_NON_BLOCKING, greatest);
  answers.add("a context and a stream of the highest priority", yes_or(result));
  if (result != CUDA_SUCCESS) return EXIT_FAILURE;
  answers.add("stream priorities, lowest and highest",
              std::to_string(least) + " " + std::to_string(greatest));
  ask_mapping(0, on);
  ask_registration(on);
  ask_box_copy(on);
  ask_costs(on);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  int status = EXIT_FAILURE;
  if (const std::string why_not = load(); !why_not.empty()) {
    answers.add("driver", why_not);
  } else {
    status = probe();
  }
  if (argc == 3 && std::strcmp(argv[1], "--json") == 0 && !answers.write(argv[2])) {
    std::fprintf(stderr, "probe: cannot write %s\n", argv[2]);
    return EXIT_FAILURE;
  }
  return status;
}
