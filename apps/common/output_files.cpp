#include "common/output_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "nuna/error.hpp"

namespace apps {
namespace {

[[noreturn]] void fail_for(const std::string& path, const char* what, int error_number) {
  const char* remedy = error_number == ENOSPC || error_number == EDQUOT || error_number == EFBIG
                           ? "; free some space, or choose another place for the output"
                           : "; choose another place for the output";
  throw nuna::Error(nuna::ErrorCode::input_output, "cannot " + std::string(what) + " '" + path +
                                                       "': " + std::strerror(error_number) + remedy);
}

struct Temporary {
  std::string name;
  std::FILE* file = nullptr;
};

Temporary create_beside(const std::string& path) {
  Temporary t{path + ".part-" + std::to_string(::getpid()), nullptr};
  const int descriptor = ::open(t.name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) fail_for(path, "write", errno);
  t.file = ::fdopen(descriptor, "wb");
  if (t.file != nullptr) return t;
  const int error_number = errno;
  ::close(descriptor);
  ::unlink(t.name.c_str());
  fail_for(path, "write", error_number);
}

}  // namespace

void FileWriter::write(const void* bytes, std::size_t count) {
  if (std::fwrite(bytes, 1, count, file_) != count) fail(errno);
}

void FileWriter::fail(int error_number) const { fail_for(name_, "write", error_number); }

OutputFiles::~OutputFiles() {
  for (const Pending& p : pending_) ::unlink(p.temporary.c_str());
}

void OutputFiles::add(const std::string& path, const std::function<void(FileWriter&)>& fill) {
  Temporary t = create_beside(path);
  pending_.push_back({t.name, path});  // from here on the destructor removes it
  FileWriter writer(t.file, path);
  try {
    fill(writer);
    // Some file systems report a full disk only when the bytes go out.
    if (std::fflush(t.file) != 0 || ::fsync(::fileno(t.file)) != 0) writer.fail(errno);
  } catch (...) {
    std::fclose(t.file);
    ::unlink(t.name.c_str());
    pending_.pop_back();
    throw;
  }
  if (std::fclose(t.file) != 0) writer.fail(errno);
}

void OutputFiles::commit() {
  while (!pending_.empty()) {
    const Pending& p = pending_.front();
    if (std::rename(p.temporary.c_str(), p.path.c_str()) != 0) fail_for(p.path, "create", errno);
    pending_.erase(pending_.begin());
  }
}

void OutputFiles::require_writable(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) fail_for(path, "create", EISDIR);
  const Temporary t = create_beside(path);
  std::fclose(t.file);
  ::unlink(t.name.c_str());
}

void finish_standard_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) fail_for("standard output", "write", errno);
}

}  // namespace apps
