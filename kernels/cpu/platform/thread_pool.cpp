// SPDX-License-Identifier: Apache-2.0
// The caller and the workers take parts one by one, so that uneven parts balance themselves. A job is open
// while next_ is small. Threads count themselves before they look whether it is, and the job is closed before
// the caller waits for the count to be zero: nobody is in a job that has ended, and no mutex is taken by
// threads that need not sleep. The order of these steps is that of sequentially consistent atomics.
#include "kernels/cpu/platform/thread_pool.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>

namespace sfft::detail::cpu {

namespace {
struct Phases {
  struct Row {
    long n = 0;
    double wall = 0, busy = 0, first = 0, lastfirst = 0, firstend = 0, lastend = 0, longest = 0;
    long used = 0;
  };
  std::map<std::pair<long, int>, Row> rows;
  const bool on = std::getenv("SFFT_PHASES") != nullptr;
  ~Phases() {
    for (auto& [k, r] : rows)
      if (r.n > 5)
        std::fprintf(stderr,
                     "parts %ld threads %d n %ld: wall %.1f us busy/thread %.1f used %.1f first start %.1f "
                     "last start %.1f first end %.1f last end %.1f longest part %.1f\n",
                     k.first, k.second, r.n, r.wall / r.n, r.busy / r.n, double(r.used) / r.n, r.first / r.n,
                     r.lastfirst / r.n, r.firstend / r.n, r.lastend / r.n, r.longest / r.n);
  }
} phases;
struct Slot {
  alignas(64) double start, end, busy, longest;
};
Slot slots[256];
double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}
}  // namespace

// Starting a thread takes tens of microseconds. Every worker starts two more, so that the caller waits for
// one.
ThreadPool::ThreadPool(int threads, Idle idle)
    : looks_(idle == Idle::look && threads <= static_cast<int>(std::thread::hardware_concurrency())),
      workers_(static_cast<std::size_t>(threads > 1 ? threads - 1 : 0)) {
  if (!workers_.empty()) start(0);
}

void ThreadPool::wake() noexcept {
  if (!looks_) return;
  {
    const std::lock_guard lock(mutex_);
    ++woken_;
  }
  start_.notify_all();
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  start_.notify_all();
  for (std::thread& worker : workers_) {  // who started it has ended by then
    if (worker.joinable()) worker.join();
  }
}

void ThreadPool::start(std::size_t worker) {
  if (worker >= workers_.size()) return;
  try {
    workers_[worker] = std::thread([this, worker] { work(worker); });
  } catch (const std::exception&) {  // no more threads, or no memory for one: those that run share the work
    refused_ = true;
  }
}

/// Looks for some hundred microseconds, without the mutex; longer while others run a job, because the next
/// one tends to follow it at once, and waking takes tens of microseconds.
template <class Ready>
void ThreadPool::look_for(const Ready& ready) const {
  constexpr int kTimes = 4000, kMost = 16000;
  for (int n = 0, all = 0; looks_ && n < kTimes && all < kMost && !ready(); ++all) {
    n = running_ > 0 ? 0 : n + 1;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
}

void ThreadPool::drain(int thread) {
  ++running_;
  if (is_open()) {
    const std::int64_t parts = parts_;
    for (std::int64_t part = next_++; part < parts; part = next_++) call_(job_, part, thread);
    next_ = kClosed;  // so that nobody looks in vain while others do their last part
  }
  if (--running_ > 0 || !caller_sleeps_) return;
  { const std::lock_guard lock(mutex_); }  // it sleeps by now
  done_.notify_one();
}

void ThreadPool::run_erased(std::int64_t parts, const void* job, Call call) {
  if (workers_.empty() || parts <= 1) {
    for (std::int64_t part = 0; part < parts; ++part) call(job, part, 0);
    return;
  }
  static thread_local bool inside = false;
  if (phases.on && !inside) {
    inside = true;
    struct Wrapped {
      const void* job;
      Call call;
    } wrapped{job, call};
    for (auto& slot : slots) slot = {0, 0, 0, 0};
    const double t = now_us();
    run_erased(parts, &wrapped, [](const void* w, std::int64_t part, int thread) {
      const auto* one = static_cast<const Wrapped*>(w);
      const double begin = now_us();
      one->call(one->job, part, thread);
      const double end = now_us();
      Slot& slot = slots[thread];
      if (slot.start == 0) slot.start = begin;
      slot.end = end;
      slot.busy += end - begin;
      slot.longest = std::max(slot.longest, end - begin);
    });
    const double wall = now_us() - t;
    inside = false;
    auto& row = phases.rows[{long(parts), threads()}];
    double first = 1e18, lastfirst = 0, firstend = 1e18, lastend = 0, busy = 0, longest = 0;
    int used = 0;
    for (int i = 0; i < threads(); ++i) {
      if (slots[i].start == 0) continue;
      ++used;
      first = std::min(first, slots[i].start - t);
      lastfirst = std::max(lastfirst, slots[i].start - t);
      firstend = std::min(firstend, slots[i].end - t);
      lastend = std::max(lastend, slots[i].end - t);
      busy += slots[i].busy;
      longest = std::max(longest, slots[i].longest);
    }
    ++row.n;
    row.wall += wall;
    row.busy += busy / threads();
    row.first += first;
    row.lastfirst += lastfirst;
    row.firstend += firstend;
    row.lastend += lastend;
    row.longest += longest;
    row.used += used;
    return;
  }
  job_ = job;
  call_ = call;
  parts_ = parts;
  next_ = 0;
  if (sleepers_ > 0) {
    { const std::lock_guard lock(mutex_); }
    start_.notify_all();
  }
  drain(0);
  look_for([this] { return running_ == 0; });
  if (running_ == 0) return;
  std::unique_lock lock(mutex_);
  caller_sleeps_ = true;
  done_.wait(lock, [this] { return running_ == 0; });
  caller_sleeps_ = false;
}

void ThreadPool::work(std::size_t worker) {
  start(2 * worker + 1);
  start(2 * worker + 2);
  const int thread = static_cast<int>(worker) + 1;
  while (!stop_) {
    const std::int64_t woken = woken_;
    look_for([this] { return stop_ || is_open(); });
    if (!stop_ && !is_open()) {
      std::unique_lock lock(mutex_);
      ++sleepers_;
      start_.wait(lock, [&] { return stop_ || is_open() || woken_ != woken; });
      --sleepers_;
    }
    if (is_open()) drain(thread);
  }
}

}  // namespace sfft::detail::cpu
