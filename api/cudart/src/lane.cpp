#include "lane.hpp"

#include "call.hpp"

namespace nuna::cudart {
namespace {

// How long the threads stay together without work. To wake somebody takes 50 us: a program that waits for each of its launches
// wakes up after the last one, and finds the leader gone if that waits for less.
constexpr std::chrono::microseconds kStay{200};

}  // namespace

Ticket Lane::push(ActionRef action) {
  if (pushed_.load() - completed_.load() >= kMostAhead) wait(pushed_.load() - kMostAhead / 2);
  const Turns::Turn turn =
      turns_ != nullptr ? turns_->take([&action] { return action->name(); }) : Turns::Turn();
  Ticket ticket = 0;
  bool gather = false;
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(action));
    ticket = pushed_.fetch_add(1) + 1;
    gather = !led_;
    led_ = true;
  }
  if (gather) gathering_(new_crew());
  return ticket;
}

void Lane::wait(Ticket ticket) {
  if (done(ticket) || done_.wait_awake([&] { return done(ticket); })) return;
  done_.wait([&] {
    Ticket wanted = wanted_.load();
    while (ticket < wanted && !wanted_.compare_exchange_weak(wanted, ticket)) {
    }
    return done(ticket);
  });
}

void Lane::attend(Crew& crew, int part) {
  if (part == 0) {
    lead(crew);
    crew.end();
  } else {
    crew.help();
  }
}

void Lane::lead(Crew& crew) {
  do {
    while (const ActionRef action = next()) {
      if (!action->orders_itself()) settle();
      if (approach(*action)) run(*action, crew);
      if (ahead_ != nullptr && ahead_->running()) {
        ++ahead_count_;
        continue;
      }
      settle();
      complete();
    }
    settle();
    came_.wait_awake([this] { return pushed_.load() != completed_.load(); }, kStay);
  } while (!leave());
}

// Whether it is to run.
bool Lane::approach(const Action& action) {
  const auto runs = [&action] { return sticky_error() == cudaSuccess || action.always(); };
  if (ahead_ == nullptr) return runs();
  ahead_->approach(action, runs(), [this] {
    const std::lock_guard lock(mutex_);
    return std::vector<ActionRef>(queue_.begin(), queue_.end());
  });
  return runs();
}

// What Nuna refuses (ranks whose calls differ, memory that is not there) fails the device, as a kernel's error does.
void Lane::run(const Action& action, Crew& crew) {
  try {
    action.run(crew);
  } catch (...) {
    set_sticky_error(error_of_current_exception());
  }
}

ActionRef Lane::next() {
  const std::lock_guard lock(mutex_);
  if (queue_.empty()) return nullptr;
  ActionRef action = std::move(queue_.front());
  queue_.pop_front();
  return action;
}

// Whoever pushes afterwards gathers the threads again.
bool Lane::leave() {
  const std::lock_guard lock(mutex_);
  led_ = !queue_.empty();
  return !led_;
}

void Lane::settle() {
  if (ahead_count_ == 0) return;
  ahead_->settle();
  for (; ahead_count_ > 0; --ahead_count_) complete();
}

// A waiter tells its ticket before it tests, so either it sees this completion or this sees its wish.
void Lane::complete() {
  const Ticket now = completed_.fetch_add(1) + 1;
  if (wanted_.load() > now) return;
  wanted_.store(kNobody);
  done_.ring();
}

}  // namespace nuna::cudart
