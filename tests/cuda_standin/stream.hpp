#pragma once
// A stream: tasks, carried out one after the other by a thread of its own.

#include <cuda.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace standin {

struct Context;

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  using Task = std::function<CUresult()>;
  /// The end of a stream's task, for others to wait for.
  struct Point {
    std::shared_ptr<Stream> stream;
    std::uint64_t number = 0;

    bool done() const { return stream == nullptr || stream->done(number); }
    void wait() const {
      if (stream != nullptr) stream->wait(number);
    }
  };

  Stream(Context& context, unsigned flags, int priority)
      : context_(context), flags_(flags), priority_(priority) {}

  /// Puts a task at the end. It starts when the stream's earlier tasks and the points `after` are done. A task that
  /// fails loses the context; tasks of a lost context are passed over.
  Point submit(Task task, std::vector<Point> after);
  Point last();
  bool done(std::uint64_t number);
  void wait(std::uint64_t number);
  /// No more tasks will come: the thread ends with the last.
  void close();
  /// Closed, and nothing left to do.
  bool ended();

  Context& context() const { return context_; }
  unsigned flags() const { return flags_; }
  int priority() const { return priority_; }
  bool blocking() const { return (flags_ & CU_STREAM_NON_BLOCKING) == 0; }

 private:
  struct Item {
    Task task;
    std::vector<Point> after;
  };
  void work();

  Context& context_;
  unsigned flags_;
  int priority_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> items_;
  std::uint64_t submitted_ = 0;
  std::uint64_t completed_ = 0;
  bool working_ = false;
  bool closed_ = false;
};

}  // namespace standin
