#pragma once
// Sleeping on a word of memory by system calls alone, as a fault handler must.
//
// Threads: any. Signals: safe. Nothing here allocates, locks or sets errno.

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>

namespace nuna::adsm {

/// Sleeps while `word` holds `seen`, at most `at_most`, until wake_all(). May return early.
void sleep_while(const std::atomic<std::uint32_t>& word, std::uint32_t seen,
                 std::chrono::nanoseconds at_most) noexcept;
void wake_all(const std::atomic<std::uint32_t>& word) noexcept;

/// Sleeps for `time`, with `signals` blocked instead of those that are: a handler that waits lets others in.
void sleep_for(std::chrono::nanoseconds time, const sigset_t* signals) noexcept;

}  // namespace nuna::adsm
