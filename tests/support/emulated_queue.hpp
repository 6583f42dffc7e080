// SPDX-License-Identifier: Apache-2.0
// Queues and events of emulated devices. Nothing runs until a thread waits; then queues run their items in a
// random interleaving that only events restrict. This exposes data that is read or reused too early.
#pragma once

#include <atomic>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "kernels/runtime/queue.hpp"
#include "sfft/error.hpp"

namespace sfft::test {

/// The progress of a queue. After a failure, its work is skipped until a waiting thread receives the
/// exception.
struct EmulatedProgress {
  std::int64_t enqueued = 0, done = 0;
  std::exception_ptr failure;
};

/// Runs the queues of one or several devices.
class EmulatedScheduler {
 public:
  /// Work, or the progress of another queue to wait for.
  struct Item {
    std::function<void()> work;
    std::shared_ptr<EmulatedProgress> other;
    std::int64_t min = 0;  ///< items that the other queue must have done
  };
  struct Lane {
    std::shared_ptr<EmulatedProgress> progress = std::make_shared<EmulatedProgress>();
    std::deque<Item> items;
  };

  void seed(unsigned value) { generator_.seed(value); }
  std::mutex& mutex() { return mutex_; }
  void add(Lane& lane) {
    const std::lock_guard lock(mutex_);
    lanes_.push_back(&lane);
  }
  void remove(Lane& lane) {
    const std::lock_guard lock(mutex_);
    std::erase(lanes_, &lane);
  }
  void enqueue(Lane& lane, Item item) {
    const std::lock_guard lock(mutex_);
    lane.items.push_back(std::move(item));
    ++lane.progress->enqueued;
  }
  /// Runs queues until `until` has done `min` items.
  void run(EmulatedProgress& until, std::int64_t min) {
    const std::lock_guard lock(mutex_);
    while (until.done < min) {
      std::vector<Lane*> ready;
      for (Lane* lane : lanes_) {
        if (lane->items.empty()) continue;
        const Item& next = lane->items.front();
        if (next.other == nullptr || next.other->done >= next.min) ready.push_back(lane);
      }
      if (ready.empty()) throw std::logic_error("the queues wait for each other");
      Lane& lane = *ready[generator_() % ready.size()];
      const Item next = std::move(lane.items.front());
      lane.items.pop_front();
      EmulatedProgress& progress = *lane.progress;
      try {
        if (next.other != nullptr && next.other->failure) progress.failure = next.other->failure;
        if (next.work && !progress.failure) next.work();
      } catch (...) {
        progress.failure = std::current_exception();
      }
      ++progress.done;
    }
    if (until.failure) std::rethrow_exception(until.failure);
  }

 private:
  std::mutex mutex_;  ///< guards the members below and the items of the queues
  std::vector<Lane*> lanes_;
  std::mt19937 generator_{1};
};

/// Settings of an emulated device, and counters for the tests to query.
struct EmulatedState {
  /// `first` is another device of the same host, whose flags are valid for both.
  explicit EmulatedState(std::size_t bytes, std::shared_ptr<EmulatedState> first = nullptr)
      : budget(bytes), first_(std::move(first)) {}

  std::size_t budget;
  bool reads_everything = false;  ///< treats all host memory as page-locked
  /// Other threads see no page-locked memory, as with CUDA in threads that have not used the GPU.
  std::thread::id asking = std::this_thread::get_id();
  std::int64_t fail_allocation = 0;  ///< the n-th allocation from now fails; 0 means none
  bool pins_nothing = false;         ///< allocate_on_host() fails
  std::atomic<std::int64_t> fail_after{
      -1};  ///< the number of copies and kernels before one fails; negative means none
  std::atomic<std::int64_t> pieces{0};  ///< kernels that ran
  std::atomic<std::size_t> used{0}, max_used{0};
  std::atomic<std::size_t> bus_bytes{0};  ///< copied in and out
  std::mutex mutex;
  std::map<const std::byte*, std::size_t> on_host;  ///< memory from allocate_on_host()
  EmulatedScheduler scheduler;

  EmulatedState& host() { return first_ != nullptr ? *first_ : *this; }
  bool page_locked(const std::byte* memory) {
    const std::lock_guard lock(host().mutex);
    const auto after = host().on_host.upper_bound(memory);
    return after != host().on_host.begin() && memory < std::prev(after)->first + std::prev(after)->second;
  }
  void add_memory(const std::byte* memory, std::size_t bytes) {
    const std::lock_guard lock(host().mutex);
    host().on_devices_[memory] = {bytes, this};
  }
  void remove_memory(const std::byte* memory) {
    const std::lock_guard lock(host().mutex);
    host().on_devices_.erase(memory);
  }
  /// Whether this device owns the memory. Throws if another device does, or if it only begins there.
  bool owns(const void* memory, std::size_t bytes = 1) {
    const std::lock_guard lock(host().mutex);
    const auto* const begin = static_cast<const std::byte*>(memory);
    const auto after = host().on_devices_.upper_bound(begin);
    if (after == host().on_devices_.begin()) return false;
    const auto& [first, block] = *std::prev(after);
    if (begin >= first + block.bytes) return false;
    if (block.device != this || begin + bytes > first + block.bytes) throw_foreign();
    return true;
  }
  bool owns(const detail::Rows& rows) {
    return rows.rows > 0 &&
           owns(rows.data, static_cast<std::size_t>((rows.rows - 1) * rows.pitch + rows.width));
  }
  /// Checks that copies and kernels use the device's memory.
  void expect_own(const void* memory, std::size_t bytes = 1) {
    if (!owns(memory, bytes)) throw_foreign();
  }
  /// The device copies within its memory, or between it and host memory that it reads.
  void expect_copy(const detail::Rows& to, const detail::Rows& from) {
    if (to.rows == 0) return;
    const bool in = owns(to), out = owns(from);
    if (in && out) return;
    if (!in && !out) throw_foreign();
    if (!host().reads_everything && !host().pins_nothing && !page_locked(in ? from.data : to.data))
      throw Error(ErrorCode::invalid_argument, "the device was given host memory that it does not read");
    bus_bytes += static_cast<std::size_t>(from.bytes());
  }

  /// Counts an allocation. Only one thread may allocate.
  void allocation() {
    if (fail_allocation > 0 && --fail_allocation == 0)
      throw Error(ErrorCode::out_of_memory,
                  "the emulated device fails the allocation, as the test requested");
  }
  void step() {
    if (fail_after >= 0 && fail_after-- == 0)
      throw Error(ErrorCode::device, "the emulated device fails, as the test requested");
  }

 private:
  struct Block {
    std::size_t bytes;
    const EmulatedState* device;
  };
  [[noreturn]] static void throw_foreign() {
    throw Error(ErrorCode::invalid_argument, "the device was given memory of another owner");
  }

  std::shared_ptr<EmulatedState> first_;
  std::map<const std::byte*, Block> on_devices_;  ///< of all devices of the host
};

class EmulatedEvent final : public detail::Event {
 public:
  explicit EmulatedEvent(EmulatedScheduler& scheduler) : scheduler_(scheduler) {}

  void wait() override {
    if (progress_ != nullptr) scheduler_.run(*progress_, place_);
  }

 private:
  friend class EmulatedQueue;

  EmulatedScheduler& scheduler_;
  std::shared_ptr<EmulatedProgress> progress_;
  std::int64_t place_ = 0;
};

/// Without a state, every copy is allowed.
class EmulatedQueue final : public detail::Queue {
 public:
  explicit EmulatedQueue(EmulatedScheduler& scheduler, std::shared_ptr<EmulatedState> state = nullptr)
      : scheduler_(scheduler), state_(std::move(state)) {
    scheduler_.add(lane_);
  }
  ~EmulatedQueue() override { scheduler_.remove(lane_); }
  EmulatedQueue(const EmulatedQueue&) = delete;
  EmulatedQueue& operator=(const EmulatedQueue&) = delete;

  void copy(const detail::Rows& to, const detail::Rows& from, detail::Copier) override {
    if (state_ != nullptr) state_->expect_copy(to, from);
    push([to, from] {
      for (std::int64_t r = 0; r < from.rows; ++r)
        std::memcpy(to.data + r * to.pitch, from.data + r * from.pitch, static_cast<std::size_t>(from.width));
    });
  }
  void launch(const std::function<void(CUstream_st*)>& work) override {
    push([work] { work(nullptr); });
  }
  void record(detail::Event& event) override {
    auto& emulated = static_cast<EmulatedEvent&>(event);
    const std::lock_guard lock(scheduler_.mutex());
    emulated.progress_ = lane_.progress;
    emulated.place_ = lane_.progress->enqueued;
  }
  void wait(const detail::Event& event) override {
    const auto& emulated = static_cast<const EmulatedEvent&>(event);
    if (emulated.progress_ != nullptr)
      scheduler_.enqueue(lane_, {nullptr, emulated.progress_, emulated.place_});
  }
  void wait() override {
    try {
      scheduler_.run(*lane_.progress, lane_.progress->enqueued);
    } catch (...) {
      lane_.progress->failure = nullptr;
      throw;
    }
  }
  /// Checks that a kernel of this device is given the device's memory, in a queue of the device.
  void expect(const EmulatedState& device, const void* memory) const {
    if (&device != state_.get()) throw Error(ErrorCode::invalid_argument, "the queue is another device's");
    state_->expect_own(memory);
  }

 private:
  void push(std::function<void()> work) {
    scheduler_.enqueue(lane_, {[state = state_, work = std::move(work)] {
                                 if (state != nullptr) state->step();
                                 work();
                               },
                               nullptr});
  }

  EmulatedScheduler& scheduler_;
  std::shared_ptr<EmulatedState> state_;
  EmulatedScheduler::Lane lane_;
};

}  // namespace sfft::test
