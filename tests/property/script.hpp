#pragma once
// A random program: buffers and about 15 calls, with what the array model says about each of them.
//
// Made once, by one thread; then every rank of an in-process cluster performs the same steps over the public API. A step
// throws Mismatch when a byte differs from the model, or when what must be refused is not.

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "property/any_buffer.hpp"

namespace nuna::property {

class Mismatch : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One rank's side of a program that runs.
struct RankSide {
  Context& context;
  std::vector<std::unique_ptr<AnyBuffer>> buffers;
  DeviceKind kind = DeviceKind::host;
};

struct Step {
  std::string text;
  std::function<void(RankSide&)> perform;
};

struct Script {
  access::Team team;
  int threads_per_device = 1;
  bool overlap = false;  ///< parts are run in pieces while their halos travel
  std::string routes;    ///< as NUNA_ROUTES; empty: any
  int chunk_bytes = 1;   ///< of pipelined messages and staged copies
  std::vector<base::Shape> shapes;
  std::vector<Step> steps;

  std::string text() const;
};

/// `ranks`: so many, or 0 for 1 to 4.
Script random_script(std::uint64_t seed, int ranks = 0);
/// What the environment must say when its Contexts are made.
void set_environment(const Script& script);
/// One rank's part, in a Context of as many ranks and devices. Throws Mismatch, or what the runtime threw, with the step's text.
void perform(const Script& script, Context& context, DeviceKind kind = DeviceKind::host);
/// Runs it on an in-process cluster. Throws Mismatch, or what the runtime threw, with the step's text.
void perform(const Script& script, DeviceKind kind = DeviceKind::host);

}  // namespace nuna::property
