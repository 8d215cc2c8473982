#include "driver/installation.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>

namespace nuna::compiler {

namespace fs = std::filesystem;

Installation find_installation() {
  Installation found;
  if (const char* clang = std::getenv("NUNACC_CLANG"); clang != nullptr && *clang != '\0')
    found.clang = clang;
  found.self = fs::read_symlink("/proc/self/exe").string();
  const auto prefix = fs::path(found.self).parent_path().parent_path();
  for (const char* folder : {NUNACC_LIBRARY_FROM_PREFIX, NUNACC_BUILT_LIBRARY_FROM_PREFIX}) {
    const auto library = prefix / folder;
    const auto toolkit = library / "nuna" / "toolkit";
    if (!fs::exists(toolkit / "include" / "cuda_runtime.h")) continue;
    found.runtime_folder = library.string();
    found.toolkit = toolkit.string();
    found.include_folders = {(toolkit / "include").string()};
    found.stand_in_folder = (toolkit / "lib64").string();
    return found;
  }
  throw std::runtime_error("its headers are not where they belong, in " +
                           (prefix / NUNACC_LIBRARY_FROM_PREFIX).string() +
                           "/nuna/toolkit; install Nuna again");
}

namespace {

std::string setting(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool is_nvcc(const fs::path& file, const std::string& self) {
  std::error_code none;
  return ::access(file.c_str(), X_OK) == 0 && fs::is_regular_file(file, none) &&
         !fs::equivalent(file, self, none);
}

}  // namespace

bool audit_is_set() {
  const auto is_on = [](const char* name) {
    const auto value = setting(name);
    return value == "1" || value == "on" || value == "yes" || value == "true";
  };
  return is_on("NUNA_AUDIT") || is_on("NUNA_PROFILE");
}

std::string find_nvcc(const std::string& cuda_path, const std::string& self) {
  if (setting("NUNACC_PTX") == "off") return "";
  const auto in = [](const std::string& toolkit) { return fs::path(toolkit) / "bin" / "nvcc"; };
  if (!cuda_path.empty()) {
    if (is_nvcc(in(cuda_path), self)) return in(cuda_path).string();
    throw std::runtime_error("--cuda-path " + cuda_path + ": there is no bin/nvcc");
  }
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    const auto toolkit = setting(name);
    if (!toolkit.empty() && is_nvcc(in(toolkit), self)) return in(toolkit).string();
  }
  std::istringstream folders(setting("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    const auto file = fs::path(folder.empty() ? "." : folder) / "nvcc";
    if (is_nvcc(file, self)) return file.string();
  }
  return "";
}

}  // namespace nuna::compiler
