// Physical memory: a memfd, mapped once. A page behind the bytes says what it is, for a process that imports it.

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "memory.hpp"

namespace standin {
namespace {

constexpr std::size_t kLabelBytes = 4096;
constexpr std::uint64_t kMagic = 0x6e756e612d637564;

struct Label {
  std::uint64_t magic;
  std::uint64_t device;
  std::uint64_t size_bytes;
};

std::size_t rounded(std::size_t size_bytes) { return (size_bytes + 4095) / 4096 * 4096; }

}  // namespace

bool Block::map() {
  void* mapped = mmap(nullptr, rounded(size_bytes_), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (mapped == MAP_FAILED) return false;
  bytes_ = static_cast<std::uint8_t*>(mapped);
  return true;
}

std::shared_ptr<Block> Block::create(int device, std::size_t size_bytes, bool shareable,
                                     std::atomic<std::size_t>* used) {
  std::shared_ptr<Block> block(new Block);
  block->device_ = device;
  block->size_bytes_ = size_bytes;
  block->shareable_ = shareable;
  block->descriptor_ = memfd_create("cuda_standin", MFD_CLOEXEC);
  if (block->descriptor_ < 0) return nullptr;
  const Label label{kMagic, static_cast<std::uint64_t>(device), size_bytes};
  const auto end = static_cast<off_t>(rounded(size_bytes));
  if (ftruncate(block->descriptor_, end + static_cast<off_t>(kLabelBytes)) != 0 ||
      pwrite(block->descriptor_, &label, sizeof label, end) != static_cast<ssize_t>(sizeof label) ||
      !block->map())
    return nullptr;
  block->used_ = used;
  if (used != nullptr) used->fetch_add(size_bytes);
  return block;
}

std::shared_ptr<Block> Block::import(int descriptor) {
  struct stat status{};
  if (fstat(descriptor, &status) != 0 || status.st_size <= static_cast<off_t>(kLabelBytes)) return nullptr;
  const off_t end = status.st_size - static_cast<off_t>(kLabelBytes);
  Label label{};
  if (pread(descriptor, &label, sizeof label, end) != static_cast<ssize_t>(sizeof label)) return nullptr;
  if (label.magic != kMagic || rounded(label.size_bytes) != static_cast<std::size_t>(end)) return nullptr;
  std::shared_ptr<Block> block(new Block);
  block->device_ = static_cast<int>(label.device);
  block->size_bytes_ = label.size_bytes;
  block->shareable_ = true;
  block->descriptor_ = dup(descriptor);
  if (block->descriptor_ < 0 || !block->map()) return nullptr;
  return block;
}

Block::~Block() {
  if (bytes_ != nullptr) munmap(bytes_, rounded(size_bytes_));
  if (descriptor_ >= 0) close(descriptor_);
  if (used_ != nullptr) used_->fetch_sub(size_bytes_);
}

int Block::export_descriptor() const { return dup(descriptor_); }

}  // namespace standin
