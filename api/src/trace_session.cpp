#include "trace_session.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "base/mutex.hpp"
#include "base/settings.hpp"
#include "nuna/error.hpp"
#include "trace/chrome_trace.hpp"
#ifdef NUNA_WITH_MPI
#include "cluster/mpi/session.hpp"
#endif

namespace nuna::api {
namespace {

struct Session {
  base::Mutex mutex;
  std::string path NUNA_GUARDED_BY(mutex);
  int rank NUNA_GUARDED_BY(mutex) = 0;
  std::shared_ptr<trace::Recorder> recorder NUNA_GUARDED_BY(mutex);
  bool merged NUNA_GUARDED_BY(mutex) = false;
#ifdef NUNA_WITH_MPI
  std::unique_ptr<cluster::mpi::Farewell> farewell NUNA_GUARDED_BY(mutex);
  std::vector<std::byte> given NUNA_GUARDED_BY(mutex);  // stays, see Farewell::give
#endif
};

Session& session() {
  static auto* only = new Session;  // outlives every Context, static ones too
  return *only;
}

std::filesystem::path own_file(const Session& s) NUNA_REQUIRES(s.mutex) {
  std::filesystem::path file(s.path);
  if (s.rank > 0) file.replace_extension(".rank" + std::to_string(s.rank) + file.extension().string());
  return file;
}

void warn_of_dropped(std::uint64_t events) {
  if (events == 0) return;
  base::warn_once("trace dropped", "the trace lacks " + std::to_string(events) + " events beyond its memory");
}

}  // namespace

std::shared_ptr<trace::Recorder> trace_recorder() {
  const std::string path = base::Settings::from_environment().text("NUNA_TRACE", "");
  Session& s = session();
  const base::MutexLock lock(s.mutex);
  if (path.empty()) return nullptr;
  if (s.recorder == nullptr || s.path != path) s.recorder = std::make_shared<trace::Recorder>();
  s.path = path;
  return s.recorder;
}

void name_trace_of_rank(int rank) {
  Session& s = session();
  const base::MutexLock lock(s.mutex);
  s.rank = rank;
}

void write_trace() noexcept {
  try {
    Session& s = session();
    const base::MutexLock lock(s.mutex);
    if (s.recorder == nullptr || s.merged) return;
    trace::write_chrome_trace(s.recorder->collect(), own_file(s));
    warn_of_dropped(s.recorder->dropped());
  } catch (const std::exception& e) {
    base::log(base::LogLevel::warn, "trace", std::nullopt, e.what());
  }
}

#ifdef NUNA_WITH_MPI
namespace {

constexpr std::size_t kMostMergedBytes = std::size_t{2} << 30;  // a viewer opens less

// Rank 0's part.
void write_merged(Session& s) NUNA_REQUIRES(s.mutex) {
  if (s.recorder == nullptr)
    throw Error(ErrorCode::bad_setting, "rank 0 has no NUNA_TRACE: give it to every rank");
  std::vector<trace::EventSet> sets{s.recorder->collect()};
  std::size_t left_bytes = kMostMergedBytes;
  for (int r = 1; r < s.farewell->size(); ++r) {
    const auto gift = s.farewell->take(r, left_bytes);
    left_bytes -= gift.bytes.size();
    if (gift.bytes.empty()) continue;
    sets.push_back(trace::deserialise(gift.bytes));
    trace::align(sets.back(), sets.front(), gift.ahead_ns);
    for (trace::TrackEvents& track : sets.back().tracks) track.rank = {r};  // whatever its Contexts call it
  }
  trace::write_chrome_trace(trace::merge(std::move(sets)), own_file(s));
  s.merged = true;
}

void say_apart(const Session& s, const std::string& why) NUNA_REQUIRES(s.mutex) {
  base::log(base::LogLevel::warn, "trace", base::RankId{s.rank},
            why + ": the traces of the processes stay in files of their own" +
                (s.recorder == nullptr ? "" : ", this one's in '" + own_file(s).string() + "'"));
}

void merge_now(Session& s) NUNA_REQUIRES(s.mutex) {
  try {
    if (s.rank == 0) {
      write_merged(s);
    } else {
      if (s.recorder != nullptr) s.given = trace::serialise(s.recorder->collect());
      s.merged = s.farewell->give(s.given);
      std::error_code ignored;  // nothing was written if no Context has ended
      if (s.merged && s.recorder != nullptr) std::filesystem::remove(own_file(s), ignored);
    }
  } catch (const std::exception& e) {
    say_apart(s, e.what());
  }
  if (s.rank == 0) s.farewell->dismiss(s.merged);
}

}  // namespace

bool wants_to_merge_traces() {
  const bool traced = trace_recorder() != nullptr;
  Session& s = session();
  const base::MutexLock lock(s.mutex);
  return traced && s.farewell == nullptr;
}

void merge_traces_at_the_end(std::unique_ptr<cluster::mpi::Farewell> farewell) {
  Session& s = session();
  const base::MutexLock lock(s.mutex);
  s.farewell = std::move(farewell);
  cluster::mpi::at_the_end([&s](bool together) {
    const base::MutexLock last_lock(s.mutex);
    if (together) {
      merge_now(s);
    } else if (s.recorder != nullptr) {
      say_apart(s, "a rank was lost");
    }
  });
}
#endif

}  // namespace nuna::api
