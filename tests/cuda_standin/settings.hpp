#pragma once
// What NUNA_TEST_CUDA asks of the stand-in: its cards' shape, and the faults to make. Pure: text in, value out.

#include <cuda.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace standin {

/// From the `first`-th call on (1 is the first), once or always, a function returns `error`.
struct Fault {
  std::uint64_t call = 1;
  bool always = false;
  CUresult error = CUDA_ERROR_UNKNOWN;
};

struct Settings {
  int devices = 2;
  std::size_t memory_bytes = std::size_t{1} << 30;
  int capability = 90;
  bool vmm = true;                                        // cuMemCreate and its kin
  bool peer = true;                                       // the cards reach each other
  bool rdma = true;                                       // what the attribute says
  bool handles = true;                                    // memory can be exported as a file descriptor
  bool hint = true;                                       // cuMemAddressReserve gives the wished address
  std::multimap<std::string, Fault, std::less<>> faults;  // by function
  std::map<std::string, std::chrono::microseconds, std::less<>> slowness;  // by function
  std::map<int, std::uint64_t> losses;                                     // device -> launch that loses it
};

/// The settings that `text` describes ("devices=2,memory=256MiB,..."), or nothing, and then `complaint` says why.
std::optional<Settings> parse_settings(std::string_view text, std::string& complaint);

}  // namespace standin
