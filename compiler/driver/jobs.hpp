#pragma once
// From a command line to the steps that carry it out. Pure: no process is started, no file is touched.

#include <string>
#include <variant>
#include <vector>

#include "codegen/compile_device.hpp"
#include "driver/command_line.hpp"

namespace nuna::compiler {

/// Where an installed or built nunacc finds what it needs.
struct Installation {
  std::string self;     ///< nunacc's path
  std::string toolkit;  ///< a folder that looks like a CUDA toolkit
  std::string clang = "clang++-19";
  std::string linker = "ld";
  std::string archiver = "ar";
  std::string nvcc;                          ///< of NVIDIA's toolkit, which makes PTX; "" where there is none
  std::vector<std::string> include_folders;  ///< our headers
  std::string runtime_folder;                ///< of libnuna_cudart
  std::string stand_in_folder;               ///< of libcudart.so and its like, which stand for libnuna_cudart
};

/// A program to run. What it says on standard error is shown as it is, or, of a device pass, as far as the host pass of the same
/// file has not said it.
struct Command {
  std::vector<std::string> words;
};

/// A .cu file to an object: both passes, code generation, and the joint object.
struct CudaCompilation {
  std::string source;
  std::string object;
  Command device_pass;  ///< writes `bitcode`
  Command host_pass;    ///< writes `host_object`; reads `blob`
  std::string bitcode;
  std::string host_object;
  std::string blob;
  std::string blob_text;
  Command ptx_pass;      ///< writes the PTX that `device` embeds; no words where there is none. It may fail
  DeviceOptions device;  ///< reads bitcode and PTX, writes its object
  Command join;          ///< of host_object and the device's object
  bool device_object = false;  ///< the bitcode is put into the object instead of being compiled
};

/// What the kernels of a .cu file touch, for people.
struct Explanation {
  std::string source;
  Command device_pass;   ///< writes the bitcode of `device`
  DeviceOptions device;  ///< reads it
};

/// The device code of objects and libraries, linked and compiled into one object.
struct DeviceLink {
  std::vector<std::string> from;  ///< objects and archives; those without device code are passed over
  std::string object;
  DeviceOptions device;
  bool required = false;  ///< an error if there is no device code in them; else no object is written
};

/// A link of a program or library; `device_link` is added to its objects if it was written.
struct HostLink {
  Command command;
  Command told;  ///< what -v shows for CMake, which links by the program that it finds there
  std::string device_link;
};

using Job = std::variant<Command, CudaCompilation, Explanation, DeviceLink, HostLink>;

/// `temporary` is a folder for files in between; `id_of` names an image by its source's path. Throws std::runtime_error with one
/// line for the user.
std::vector<Job> plan_jobs(const CommandLine& line, const Installation& installation,
                           const std::string& temporary);

}  // namespace nuna::compiler
