#include "trace_session.hpp"

#include <filesystem>
#include <string>

#include "base/log.hpp"
#include "base/mutex.hpp"
#include "base/settings.hpp"
#include "trace/chrome_trace.hpp"

namespace nuna::api {
namespace {

struct Session {
  base::Mutex mutex;
  std::string path NUNA_GUARDED_BY(mutex);
  int rank NUNA_GUARDED_BY(mutex) = 0;
  std::shared_ptr<trace::Recorder> recorder NUNA_GUARDED_BY(mutex);
};

Session& session() {
  static auto* only = new Session;  // outlives every Context, static ones too
  return *only;
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
    if (s.recorder == nullptr) return;
    std::filesystem::path file(s.path);
    if (s.rank > 0) file.replace_extension(".rank" + std::to_string(s.rank) + file.extension().string());
    trace::write_chrome_trace(s.recorder->collect(), file.string());
    if (s.recorder->dropped() > 0) {
      base::warn_once("trace dropped", "the trace lacks " + std::to_string(s.recorder->dropped()) +
                                           " events beyond its memory");
    }
  } catch (const std::exception& e) {
    base::log(base::LogLevel::warn, "trace", std::nullopt, e.what());
  }
}

}  // namespace nuna::api
