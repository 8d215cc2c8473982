#include "driver/installation.hpp"

#include <cstdlib>
#include <filesystem>
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
    found.library_folder = (prefix / NUNACC_LIBRARY_FROM_PREFIX).string();
    found.stand_in_folder = found.library_folder + "/nuna/cuda";
    return found;
  }
  const auto built = fs::path(NUNACC_SOURCE);  // in the build tree
  if (fs::exists(built / "compiler/include/cuda_runtime.h") && fs::exists(prefix / "CMakeCache.txt")) {
    found.include_folders = {(built / "compiler/include").string(), (built / "api/cudart/include").string()};
    found.library_folder = (prefix / "lib").string();
    found.stand_in_folder = (built / "compiler/stand_ins").string();
    return found;
  }
  throw std::runtime_error("its headers are not where they belong, in " + installed.string() +
                           "; install Nuna again");
}

}  // namespace nuna::compiler
