#include "driver/installation.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace nuna::compiler {

namespace fs = std::filesystem;

Installation find_installation() {
  Installation found;
  if (const char* clang = std::getenv("NUNACC_CLANG"); clang != nullptr && *clang != '\0')
    found.clang = clang;
  found.self = fs::read_symlink("/proc/self/exe").string();
  const auto prefix = fs::path(found.self).parent_path().parent_path();
  found.prefix = prefix.string();
  const auto installed = prefix / NUNACC_INCLUDE_FROM_PREFIX;
  if (fs::exists(installed / "cuda_runtime.h")) {
    found.include_folders = {installed.string()};
    found.runtime_folder = (prefix / NUNACC_LIBRARY_FROM_PREFIX).string();
    found.stand_in_folder = found.runtime_folder + "/nuna/cuda";
    return found;
  }
  // In a build tree the build says where the headers are: folders of headers, one a line, and last that of the stand-ins.
  std::ifstream folders(prefix / "nunacc-folders.txt");
  for (std::string folder; std::getline(folders, folder);) found.include_folders.push_back(folder);
  if (found.include_folders.size() > 1) {
    found.stand_in_folder = found.include_folders.back();
    found.include_folders.pop_back();
    found.runtime_folder = (prefix / "lib").string();
    return found;
  }
  throw std::runtime_error("its headers are not where they belong, in " + installed.string() +
                           "; install Nuna again");
}

}  // namespace nuna::compiler
