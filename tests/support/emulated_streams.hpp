// SPDX-License-Identifier: Apache-2.0
// Streams and events of an emulated device. Nothing runs until a thread waits; then streams run their items
// in a random interleaving. This exposes data that is read or reused too early.
#pragma once

#include <algorithm>
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

#include "kernels/dense/out_of_core/out_of_core_device.hpp"
#include "sfft/error.hpp"

namespace sfft::test {

/// The progress of a stream. After a failure, its work is skipped until a waiting thread receives the
/// exception.
struct EmulatedProgress {
  std::int64_t asked = 0, done = 0;
  std::exception_ptr failure;
};

/// Work, or the progress of another stream to wait for.
struct EmulatedQueue {
  struct Asked {
    std::function<void()> work;
    std::shared_ptr<EmulatedProgress> other;
    std::int64_t min = 0;  ///< items that the other stream must have done
  };
  std::shared_ptr<EmulatedProgress> progress = std::make_shared<EmulatedProgress>();
  std::deque<Asked> asked;
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
  std::map<const std::byte*, std::size_t> on_host;    ///< memory from allocate_on_host()
  std::map<const std::byte*, std::size_t> on_device;  ///< memory from allocate()
  std::mutex queueing;                                ///< guards the members below and the streams' work
  std::vector<EmulatedQueue*> queues;
  std::mt19937 generator{1};

  EmulatedState& host() { return first_ != nullptr ? *first_ : *this; }
  bool page_locked(const std::byte* memory) {
    const std::lock_guard lock(host().mutex);
    return has(host().on_host, memory);
  }
  /// Checks that copies and kernels use the device's memory.
  void expect_own(const void* memory, std::size_t bytes = 1) {
    const std::lock_guard lock(mutex);
    if (!has(on_device, static_cast<const std::byte*>(memory), bytes))
      throw Error(ErrorCode::invalid_argument, "the device was given memory of another owner");
  }
  void expect_own(const detail::DeviceRows& rows) {
    if (rows.rows > 0) expect_own(rows.data, (rows.rows - 1) * rows.pitch + rows.width);
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

  /// Runs streams until `until` has done `min` items.
  void run(EmulatedProgress& until, std::int64_t min) {
    const std::lock_guard lock(queueing);
    while (until.done < min) {
      std::vector<EmulatedQueue*> ready;
      for (EmulatedQueue* queue : queues) {
        if (queue->asked.empty()) continue;
        const EmulatedQueue::Asked& next = queue->asked.front();
        if (next.other == nullptr || next.other->done >= next.min) ready.push_back(queue);
      }
      if (ready.empty()) throw std::logic_error("streams of the emulated device wait for each other");
      EmulatedQueue& queue = *ready[generator() % ready.size()];
      const EmulatedQueue::Asked next = std::move(queue.asked.front());
      queue.asked.pop_front();
      EmulatedProgress& progress = *queue.progress;
      try {
        if (next.other != nullptr && next.other->failure) progress.failure = next.other->failure;
        if (next.work && !progress.failure) {
          step();
          next.work();
        }
      } catch (...) {
        progress.failure = std::current_exception();
      }
      ++progress.done;
    }
    if (until.failure) std::rethrow_exception(until.failure);
  }

 private:
  static bool has(const std::map<const std::byte*, std::size_t>& all, const std::byte* memory,
                  std::size_t bytes = 1) {
    const auto after = all.upper_bound(memory);
    return after != all.begin() && memory + bytes <= std::prev(after)->first + std::prev(after)->second;
  }

  std::shared_ptr<EmulatedState> first_;
};

class EmulatedEvent final : public detail::OutOfCoreEvent {
 public:
  explicit EmulatedEvent(std::shared_ptr<EmulatedState> state) : state_(std::move(state)) {}

  void wait() override {
    if (progress_ != nullptr) state_->run(*progress_, place_);
  }

 private:
  friend class EmulatedStream;

  std::shared_ptr<EmulatedState> state_;
  std::shared_ptr<EmulatedProgress> progress_;
  std::int64_t place_ = 0;
};

class EmulatedStream final : public detail::OutOfCoreStream {
 public:
  explicit EmulatedStream(std::shared_ptr<EmulatedState> state) : state_(std::move(state)) {
    const std::lock_guard lock(state_->queueing);
    state_->queues.push_back(&queue_);
  }
  ~EmulatedStream() override {
    const std::lock_guard lock(state_->queueing);
    std::erase(state_->queues, &queue_);
  }

  void copy_in(const detail::DeviceRows& to, const detail::DeviceRows& from, detail::Copier) override {
    state_->expect_own(to);
    over_bus(to, from, from.data);
  }
  void copy_out(const detail::DeviceRows& to, const detail::DeviceRows& from, detail::Copier) override {
    state_->expect_own(from);
    over_bus(to, from, to.data);
  }
  void copy_within(const detail::DeviceRows& to, const detail::DeviceRows& from) override {
    state_->expect_own(to);
    state_->expect_own(from);
    copy(to, from);
  }
  void record(detail::OutOfCoreEvent& event) override {
    auto& emulated = static_cast<EmulatedEvent&>(event);
    const std::lock_guard lock(state_->queueing);
    emulated.progress_ = queue_.progress;
    emulated.place_ = queue_.progress->asked;
  }
  void wait(const detail::OutOfCoreEvent& event) override {
    const auto& emulated = static_cast<const EmulatedEvent&>(event);
    if (emulated.progress_ != nullptr) ask({nullptr, emulated.progress_, emulated.place_});
  }
  void push(std::function<void()> work) { ask({std::move(work), nullptr}); }
  /// Enqueues a kernel of this device.
  void launch(const EmulatedState& device, const void* memory, std::function<void()> work) {
    if (&device != state_.get()) throw Error(ErrorCode::invalid_argument, "the stream is another device's");
    state_->expect_own(memory);
    push(std::move(work));
  }
  void wait() override {
    try {
      state_->run(*queue_.progress, queue_.progress->asked);
    } catch (...) {
      queue_.progress->failure = nullptr;
      throw;
    }
  }

 private:
  void over_bus(const detail::DeviceRows& to, const detail::DeviceRows& from, const std::byte* host) {
    const EmulatedState& flags = state_->host();
    if (!flags.reads_everything && !flags.pins_nothing && !state_->page_locked(host))
      throw Error(ErrorCode::invalid_argument, "the device was given host memory that it does not read");
    state_->bus_bytes += from.bytes();
    copy(to, from);
  }
  void copy(const detail::DeviceRows& to, const detail::DeviceRows& from) {
    push([to, from] {
      for (std::size_t r = 0; r < from.rows; ++r)
        std::memcpy(to.data + r * to.pitch, from.data + r * from.pitch, from.width);
    });
  }

  void ask(EmulatedQueue::Asked one) {
    const std::lock_guard lock(state_->queueing);
    queue_.asked.push_back(std::move(one));
    ++queue_.progress->asked;
  }

  std::shared_ptr<EmulatedState> state_;
  EmulatedQueue queue_;
};

}  // namespace sfft::test
