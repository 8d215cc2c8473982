#include "trace/chrome_trace.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <concepts>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "nuna/error.hpp"

namespace nuna::trace {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 18;

/// As JSON, in quotes; bytes that are no UTF-8 become replacement characters.
std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

bool is_digit(char c) { return '0' <= c && c <= '9'; }

/// Order of names for people: "host:2" before "host:10".
bool before(std::string_view a, std::string_view b) {
  const auto number = [](std::string_view& text) {
    const std::string_view digits = text.substr(
        0, static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin()));
    text.remove_prefix(digits.size());
    return digits.substr(std::min(digits.find_first_not_of('0'), digits.size()));
  };
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const std::string_view x = number(a), y = number(b);
      if (x != y) return std::pair(x.size(), x) < std::pair(y.size(), y);
      continue;
    }
    if (a.front() != b.front()) return a.front() < b.front();
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  return a.size() < b.size();
}

bool same_row(const TrackEvents& a, const TrackEvents& b) {
  return a.rank == b.rank && a.kind == b.kind && a.name == b.name;
}

std::vector<const TrackEvents*> in_order(const EventSet& set) {
  std::vector<const TrackEvents*> tracks;
  for (const TrackEvents& track : set.tracks) tracks.push_back(&track);
  std::sort(tracks.begin(), tracks.end(), [](const TrackEvents* a, const TrackEvents* b) {
    if (a->rank != b->rank) return a->rank < b->rank;
    if (a->kind != b->kind) return a->kind < b->kind;
    if (before(a->name, b->name)) return true;
    if (before(b->name, a->name)) return false;
    return std::tie(a->name, a) < std::tie(b->name, b);  // "a01" and "a1" are two rows; equals as in the set
  });
  return tracks;
}

/// Puts spans that come by rising begin (of equal begins the longest first) on lanes within which they nest.
class Lanes {
 public:
  std::size_t lane_of(const Event& span) {
    std::size_t lane = 0;
    while (lane < open_ends_.size() && !fits(open_ends_[lane], span)) ++lane;
    if (lane == open_ends_.size()) open_ends_.emplace_back();
    open_ends_[lane].push_back(span.end_ns);
    return lane;
  }

 private:
  static bool fits(std::vector<std::int64_t>& open_ends, const Event& span) {
    while (!open_ends.empty() && open_ends.back() <= span.begin_ns) open_ends.pop_back();
    return open_ends.empty() || span.end_ns <= open_ends.back();
  }
  std::vector<std::vector<std::int64_t>> open_ends_;
};

/// The text of a trace, collected into pieces.
class Writer {
 public:
  explicit Writer(const Sink& sink) : sink_(sink) { text_.reserve(kPieceBytes + 4096); }

  Writer& operator<<(std::string_view text) {
    text_.append(text);
    return *this;
  }
  template <class T>
    requires(std::signed_integral<T> && !std::same_as<T, char>)  // a character is no number
  Writer& operator<<(T number) {
    return append(number, 10);
  }
  void hex(std::uint64_t number) { append(number, 16); }
  /// Exact microseconds: 1234 ns is 1.234.
  void microseconds(std::int64_t ns) {
    if (ns < 0) text_ += '-';
    const std::uint64_t size = ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
    append(size / 1000, 10);
    text_ += '.';
    const auto fraction = static_cast<unsigned>(size % 1000);
    for (const unsigned part : {fraction / 100, fraction / 10 % 10, fraction % 10}) {
      text_ += static_cast<char>('0' + part);
    }
  }
  void begin_event() {
    if (text_.size() >= kPieceBytes) flush();
    text_ += first_ ? "\n" : ",\n";
    first_ = false;
  }
  void flush() {
    sink_(text_);
    text_.clear();
  }

 private:
  template <class T>
  Writer& append(T number, int base) {
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, number, base);
    text_.append(digits, end.ptr);
    return *this;
  }
  const Sink& sink_;
  std::string text_;
  bool first_ = true;
};

// Process and thread number 0 mean the idle task to Perfetto, so both start at 1. A thread number is used
// once in the whole file, because some readers look threads up without their process.
std::int64_t process_of(base::RankId rank) { return std::int64_t{rank.value} + 1; }

/// Tracks of one rank, kind and name.
class Row {
 public:
  Row(Writer& out, std::span<const TrackEvents* const> tracks, std::int64_t& threads)
      : out_(out), tracks_(tracks), first_(*tracks.front()), threads_(threads) {}

  void write() {
    std::vector<Entry> entries = sorted();
    lane_threads_.push_back(name_thread(0));
    Lanes lanes;
    quote_texts();
    for (const Entry& entry : entries) {
      const std::size_t lane = entry.event->kind == EventKind::span ? lanes.lane_of(*entry.event) : 0;
      while (lane >= lane_threads_.size()) lane_threads_.push_back(name_thread(lane_threads_.size()));
      write(entry, lane_threads_[lane]);
    }
  }

 private:
  struct Entry {
    const Event* event;
    std::size_t track;  ///< index into tracks_
  };

  std::vector<Entry> sorted() const {
    std::vector<Entry> entries;
    std::size_t count = 0;
    for (const TrackEvents* track : tracks_) count += track->events.size();
    entries.reserve(count);
    for (std::size_t t = 0; t < tracks_.size(); ++t) {
      for (const Event& event : tracks_[t]->events) entries.push_back({&event, t});
    }
    const auto earlier = [](const Entry& a, const Entry& b) {  // the address: in the order of recording
      return std::tuple(a.event->begin_ns, b.event->end_ns, a.track, a.event) <
             std::tuple(b.event->begin_ns, a.event->end_ns, b.track, b.event);
    };
    std::sort(entries.begin(), entries.end(), earlier);
    return entries;
  }

  void quote_texts() {
    for (const TrackEvents* track : tracks_) {
      std::vector<std::string>& texts = quoted_.emplace_back();
      for (const std::string& text : track->texts) texts.push_back(quoted(text));
    }
  }

  std::int64_t name_thread(std::size_t lane) {
    const std::int64_t thread = ++threads_;
    const std::string suffix = lane == 0 ? "" : " (" + std::to_string(lane + 1) + ")";
    metadata("thread_name", thread);
    out_ << "{\"name\":" << quoted(first_.name + suffix) << "}}";
    metadata("thread_sort_index", thread);
    out_ << "{\"sort_index\":" << thread << "}}";
    return thread;
  }

  void metadata(std::string_view name, std::int64_t thread) {
    out_.begin_event();
    out_ << R"({"ph":"M","name":")" << name << R"(","pid":)" << process_of(first_.rank) << R"(,"tid":)"
         << thread << R"(,"args":)";
  }

  void write(const Entry& entry, std::int64_t thread) {
    switch (entry.event->kind) {
      case EventKind::span:
        return write_span(entry, thread);
      case EventKind::instant:
        return write_instant(entry, thread);
      case EventKind::counter:
        return write_counter(entry, thread);
    }
  }

  void head(std::string_view phase, std::int64_t thread, std::int64_t at_ns) {
    out_.begin_event();
    out_ << R"({"ph":")" << phase << R"(","pid":)" << process_of(first_.rank) << R"(,"tid":)" << thread
         << R"(,"ts":)";
    out_.microseconds(at_ns);
  }

  void write_span(const Entry& entry, std::int64_t thread) {
    const Event& event = *entry.event;
    head("X", thread, event.begin_ns);
    out_ << R"(,"dur":)";
    out_.microseconds(event.end_ns - event.begin_ns);
    out_ << R"(,"name":)" << quoted_[entry.track][event.name] << R"(,"cat":")" << to_string(event.category)
         << "\"";
    arguments(entry);
    out_ << "}";
    if (event.flow != kNoFlow) write_flow(event, thread);
  }

  void write_flow(const Event& event, std::int64_t thread) {
    const bool arrives = event.category == Category::receive;
    head(arrives ? "f" : "s", thread, arrives ? std::max(event.begin_ns, event.end_ns - 1) : event.begin_ns);
    out_ << R"(,"name":"message","cat":"message","id":")";  // text: a number beyond 2^53 would lose digits
    out_.hex(event.flow);
    out_ << (arrives ? R"(","bp":"e"})" : "\"}");
  }

  void write_instant(const Entry& entry, std::int64_t thread) {
    head("i", thread, entry.event->begin_ns);
    out_ << R"(,"s":"t","name":)" << quoted_[entry.track][entry.event->name];
    arguments(entry);
    out_ << "}";
  }

  // Counters belong to a process, so the track's name tells two devices' counters apart.
  void write_counter(const Entry& entry, std::int64_t thread) {
    head("C", thread, entry.event->begin_ns);
    out_ << R"(,"name":)" << quoted(first_.name + ": " + tracks_[entry.track]->texts[entry.event->name])
         << R"(,"args":{"value":)" << entry.event->amount << "}}";
  }

  void arguments(const Entry& entry) {
    const Event& event = *entry.event;
    std::string_view comma = R"(,"args":{)";
    const auto next = [&](std::string_view key) -> Writer& {
      out_ << std::exchange(comma, ",") << key;
      return out_;
    };
    if (event.amount != 0) next(R"("bytes":)") << event.amount;
    if (event.sequence != kNoSequence) next(R"("launch":)") << static_cast<std::int64_t>(event.sequence);
    if (event.box != 0) next(R"("box":)") << quoted_[entry.track][event.box];
    if (comma == ",") out_ << "}";
  }

  Writer& out_;
  std::span<const TrackEvents* const> tracks_;
  const TrackEvents& first_;
  std::int64_t& threads_;
  std::vector<std::int64_t> lane_threads_;
  std::vector<std::vector<std::string>> quoted_;
};

void name_process(Writer& out, base::RankId rank) {
  const auto head = [&](std::string_view name) -> Writer& {
    out.begin_event();
    return out << R"({"ph":"M","name":")" << name << R"(","pid":)" << process_of(rank) << R"(,"args":)";
  };
  head("process_name") << R"({"name":"rank )" << rank.value << "\"}}";
  head("process_sort_index") << R"({"sort_index":)" << rank.value << "}}";
}

[[noreturn]] void refuse(const std::filesystem::path& file, int reason) {
  throw Error(ErrorCode::input_output, "cannot write the trace '" + file.string() +
                                           "': " + std::generic_category().message(reason) +
                                           "; name a file in a writable place with room (NUNA_TRACE)");
}

/// The file that is written to: a temporary one that commit() puts in the place of `file`, or `file` itself.
class Output {
 public:
  explicit Output(std::filesystem::path file) : file_(std::move(file)), written_(file_) {
    std::error_code ignored;  // what matters shows up when the file is opened
    const std::filesystem::file_status status = std::filesystem::status(file_, ignored);
    replaces_ = !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
    if (replaces_) {
      target_ = std::filesystem::exists(status) ? std::filesystem::canonical(file_, ignored) : file_;
      if (target_.empty()) target_ = file_;
      written_ = target_;
      written_ += "." + std::to_string(::getpid()) + ".part";
    }
    descriptor_ = ::open(written_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor_ < 0) refuse(file_, errno);
  }
  ~Output() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (replaces_ && !committed_) ::unlink(written_.c_str());
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void write(std::string_view text) {
    while (!text.empty()) {
      const ssize_t count = ::write(descriptor_, text.data(), text.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) refuse(file_, errno);
      text.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  void commit() {
    if (::close(std::exchange(descriptor_, -1)) != 0) refuse(file_, errno);
    if (replaces_ && ::rename(written_.c_str(), target_.c_str()) != 0) refuse(file_, errno);
    committed_ = true;
  }

 private:
  std::filesystem::path file_;    ///< as the caller calls it
  std::filesystem::path target_;  ///< what a symbolic link stands for
  std::filesystem::path written_;
  bool replaces_ = false;
  bool committed_ = false;
  int descriptor_ = -1;
};

}  // namespace

void write_chrome_trace(const EventSet& set, const Sink& sink) {
  Writer out(sink);
  std::uint64_t dropped = 0;
  for (const TrackEvents& track : set.tracks) dropped += track.dropped;
  out << R"({"displayTimeUnit":"ns","otherData":{"writer":"nuna","start_unix_ns":")" << set.start_unix_ns
      << R"(","dropped_events":")" << static_cast<std::int64_t>(dropped) << R"("},"traceEvents":[)";

  const std::vector<const TrackEvents*> tracks = in_order(set);
  std::int64_t threads = 0;
  for (std::size_t first = 0, end = 0; first < tracks.size(); first = end) {
    for (end = first + 1; end < tracks.size() && same_row(*tracks[first], *tracks[end]);) ++end;
    if (first == 0 || tracks[first - 1]->rank != tracks[first]->rank) name_process(out, tracks[first]->rank);
    Row(out, std::span(tracks).subspan(first, end - first), threads).write();
  }
  out << "\n]}\n";
  out.flush();
}

void write_chrome_trace(const EventSet& set, const std::filesystem::path& file) {
  Output output(file);
  write_chrome_trace(set, [&](std::string_view piece) { output.write(piece); });
  output.commit();
}

}  // namespace nuna::trace
