#pragma once
// Files that are whole or absent: a run that fails, or a disk that fills up, leaves nothing half-written
// behind.

#include <cstddef>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace apps {

/// An open temporary file. Every failure to write is nuna::Error(input_output) naming the file that it is
/// for. Not thread-safe; used inside the function given to OutputFiles::add, which closes it.
class FileWriter {
 public:
  FileWriter(std::FILE* file, std::string name) : file_(file), name_(std::move(name)) {}

  void write(const void* bytes, std::size_t count);
  const std::string& name() const { return name_; }
  [[noreturn]] void fail(int error_number) const;

 private:
  std::FILE* file_;
  std::string name_;
};

/// A set of files that appear together. add() writes a file beside its final place under a temporary name;
/// commit() gives all of them their names, replacing older files; without commit() the destructor removes
/// them. A process that is killed (SIGKILL) leaves the temporary files, PATH.part-PROCESS, and within the microseconds of
/// commit() some files new and others not; each is whole.
///
///   OutputFiles files;
///   files.add("field.f32", [&](FileWriter& out) { out.write(field.data(), field.size() * sizeof(float)); });
///   files.commit();
class OutputFiles {
 public:
  OutputFiles() = default;
  OutputFiles(const OutputFiles&) = delete;
  OutputFiles& operator=(const OutputFiles&) = delete;
  ~OutputFiles();

  /// The bytes are on the disk when this returns. Throws nuna::Error(input_output), and what `fill` throws;
  /// the temporary file is gone then.
  void add(const std::string& path, const std::function<void(FileWriter&)>& fill);
  /// Throws nuna::Error(input_output) when a file cannot get its name; those before it have theirs.
  void commit();

  /// Throws nuna::Error(input_output) unless files can be created where `path` would lie: a cheap question to
  /// ask before a long computation.
  static void require_writable(const std::string& path);

 private:
  struct Pending {
    std::string temporary;
    std::string path;
  };
  std::vector<Pending> pending_;
};

/// From now on SIGTERM, SIGINT and SIGHUP remove the temporary files before they end the process, and come before a commit()
/// or after it. So mpirun ends a rank when another one has died. At a program's begin, before there are other threads;
/// signals that are ignored or handled stay so.
void remove_unfinished_on_signals();

/// Throws nuna::Error(input_output) unless everything that was printed reached standard output. At a program's end.
void finish_standard_output();

}  // namespace apps
