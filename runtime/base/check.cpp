#include "base/check.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace nuna::base {
namespace {
std::atomic<int> throwing{0};
}

void panic(std::string_view text, std::source_location where) {
  const std::string line = std::string("nuna: broken invariant: ") + std::string(text) + " (" +
                           where.file_name() + ":" + std::to_string(where.line()) + ")";
  if (throwing.load() > 0) throw BrokenInvariant(line);
  std::fprintf(stderr, "%s\n", line.c_str());
  std::fflush(stderr);
  std::abort();
}

void stop(std::string_view text) {
  const std::string line = "nuna: " + std::string(text);
  if (throwing.load() > 0) throw BrokenInvariant(line);
  std::fprintf(stderr, "%s\n", line.c_str());
  std::fflush(stderr);
  std::abort();
}

ThrowOnPanic::ThrowOnPanic() { ++throwing; }
ThrowOnPanic::~ThrowOnPanic() { --throwing; }

}  // namespace nuna::base
