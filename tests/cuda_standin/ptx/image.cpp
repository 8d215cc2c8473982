// Fat binaries: a wrapper that points to a header, behind which entries follow, each of one kind for one architecture.

#include "ptx/image.hpp"

#include <cstdint>
#include <cstring>

namespace standin::ptx {
namespace {

constexpr std::uint32_t kWrapperMagic = 0x466243b1, kHeaderMagic = 0xba55ed50, kElfMagic = 0x464c457f;
constexpr std::uint16_t kPtx = 1;
constexpr std::uint64_t kCompressed = 0x2000 | 0x8000;  // by one method or the other

struct Wrapper {
  std::uint32_t magic, version;
  const unsigned char* data;
  const void* unused;
};
struct Header {
  std::uint32_t magic;
  std::uint16_t version, header_bytes;
  std::uint64_t size_bytes;  // of all entries
};
struct Entry {
  std::uint16_t kind, unused_1;
  std::uint32_t header_bytes;
  std::uint64_t size_bytes;
  std::uint32_t compressed_bytes, unused_2;
  std::uint16_t minor, major;
  std::uint32_t architecture;
  std::uint32_t unused_3[2];
  std::uint64_t flags;
};

std::uint32_t first_word(const void* image) {
  std::uint32_t word = 0;
  std::memcpy(&word, image, sizeof word);
  return word;
}

std::optional<std::string> text_of_fat_binary(const unsigned char* data, int capability,
                                              std::string& complaint) {
  Header header;
  std::memcpy(&header, data, sizeof header);
  const unsigned char* at = data + header.header_bytes;
  const unsigned char* const end = at + header.size_bytes;
  std::optional<std::string> best;
  std::uint32_t best_architecture = 0;
  complaint = "the fat binary holds no PTX";
  while (at + sizeof(Entry) <= end) {
    Entry entry;
    std::memcpy(&entry, at, sizeof entry);
    const auto* text = reinterpret_cast<const char*>(at + entry.header_bytes);
    at += entry.header_bytes + entry.size_bytes;
    if (entry.kind != kPtx) continue;
    if (entry.architecture > static_cast<std::uint32_t>(capability)) {
      complaint =
          "its PTX is for compute_" + std::to_string(entry.architecture) + ", which is newer than this card";
    } else if (entry.compressed_bytes != 0 || (entry.flags & kCompressed) != 0) {
      complaint = "its PTX is compressed: build with nvcc --no-compress";
    } else if (!best || entry.architecture > best_architecture) {
      best = std::string(text, strnlen(text, entry.size_bytes));
      best_architecture = entry.architecture;
    }
  }
  return best;
}

}  // namespace

std::optional<std::string> text_of_image(const void* image, int capability, std::string& complaint) {
  switch (first_word(image)) {
    case kWrapperMagic: {
      Wrapper wrapper;
      std::memcpy(&wrapper, image, sizeof wrapper);
      return text_of_image(wrapper.data, capability, complaint);
    }
    case kHeaderMagic:
      return text_of_fat_binary(static_cast<const unsigned char*>(image), capability, complaint);
    case kElfMagic:
      complaint = "machine code cannot be run, only PTX";
      return std::nullopt;
    default:
      return std::string(static_cast<const char*>(image));
  }
}

}  // namespace standin::ptx
