#pragma once
// The dry run: prints what every launch would do, between ranks and between places, and moves nothing (D13).
//
// Host memory is real, so that a program can fill and read its buffers; kernels do not run and nothing is
// copied, so what it reads is not the program's result.

#include <functional>
#include <string>

#include "execute/executor.hpp"

namespace nuna::execute {

class DryRun final : public Executor {
 public:
  using Print = std::function<void(const std::string& lines)>;
  DryRun(base::RankId rank, Print print) : rank_(rank), print_(std::move(print)) {}

  void prepare(const plan::PlacePlan& plan, const Call& call) override;
  void make_room() override {}
  Completion submit(const plan::PlacePlan& plan, const Call& call) override;
  void wait_for_host(Instances&, const base::ByteBox&, bool) override {}
  void wait_for(const Tickets&) override {}
  void quiesce(Instances&) override {}
  void wait_for(Instances&) override {}
  std::vector<std::exception_ptr> drain() override { return {}; }

 private:
  base::RankId rank_;
  Print print_;
};

}  // namespace nuna::execute
