// SPDX-License-Identifier: Apache-2.0
// Counts the host memory of large arrays against the limit of run_with_memory_limit() (sfft/run_control.hpp).
#pragma once

#include <atomic>
#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace sfft::detail {

/// The bytes that calls with one limit hold. Thread-safe. Lives until its last reference is dropped, because
/// results may outlive the call that allocated them.
class MemoryBudget {
 public:
  /// With one reference.
  explicit MemoryBudget(std::size_t limit) noexcept : limit_(limit) {}
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  /// The budget of the calling thread, or null.
  static MemoryBudget* current() noexcept { return current_; }

  /// While this object exists, `budget` is that of the calling thread.
  class Use {
   public:
    explicit Use(MemoryBudget* budget) noexcept : outer_(current_) { current_ = budget; }
    ~Use() { current_ = outer_; }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    MemoryBudget* outer_;
  };

  /// Throws Error(out_of_memory) if `bytes` more exceed the limit.
  void check(std::size_t bytes) const;
  /// The same; otherwise counts them and takes a reference.
  void take(std::size_t bytes);
  /// Gives back bytes that were taken at once, and their reference.
  void give_back(std::size_t bytes) noexcept;
  void refer() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void drop() noexcept;

 private:
  ~MemoryBudget() = default;
  [[noreturn]] void refuse(std::size_t held, std::size_t bytes) const;

  [[gnu::tls_model("initial-exec")]] inline static constinit thread_local MemoryBudget* current_ = nullptr;
  const std::size_t limit_;
  std::atomic<std::size_t> held_{0};
  std::atomic<std::size_t> references_{1};
};

/// A reference to a budget: a new one, or that of the thread which makes this, for work on another thread.
class BudgetReference {
 public:
  explicit BudgetReference(std::size_t limit) : budget_(new MemoryBudget(limit)) {}
  BudgetReference() noexcept : budget_(MemoryBudget::current()) {
    if (budget_ != nullptr) budget_->refer();
  }
  BudgetReference(const BudgetReference& other) noexcept : budget_(other.budget_) {
    if (budget_ != nullptr) budget_->refer();
  }
  BudgetReference& operator=(const BudgetReference&) = delete;
  ~BudgetReference() {
    if (budget_ != nullptr) budget_->drop();
  }
  MemoryBudget* get() const noexcept { return budget_; }

 private:
  MemoryBudget* budget_;
};

/// Bytes that count in the budget of the thread that made this object.
class MemoryShare {
 public:
  MemoryShare() = default;
  /// Throws Error(out_of_memory) if they exceed the limit.
  explicit MemoryShare(std::size_t bytes) : bytes_(bytes) {
    MemoryBudget* const budget = MemoryBudget::current();
    if (budget == nullptr) return;
    budget->take(bytes);
    budget_ = budget;
  }
  MemoryShare(MemoryShare&& other) noexcept
      : budget_(std::exchange(other.budget_, nullptr)), bytes_(other.bytes_) {}
  MemoryShare& operator=(MemoryShare&& other) noexcept {
    MemoryShare old(std::move(*this));
    budget_ = std::exchange(other.budget_, nullptr);
    bytes_ = other.bytes_;
    return *this;
  }
  ~MemoryShare() {
    if (budget_ != nullptr) budget_->give_back(bytes_);
  }

 private:
  MemoryBudget* budget_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Throws Error(out_of_memory) if `bytes` more exceed the thread's limit: before work whose last array would
/// fail.
inline void check_memory(std::size_t bytes) {
  if (const MemoryBudget* const budget = MemoryBudget::current()) budget->check(bytes);
}

/// Memory with a note of the budget that it counts in. Throws Error(out_of_memory), std::bad_alloc.
void* allocate_counted(std::size_t bytes);
void free_counted(void* memory, std::size_t bytes) noexcept;

/// For vectors whose size grows with the signal or its number of frequencies.
template <class T>
class CountedAllocator {
 public:
  using value_type = T;
  CountedAllocator() = default;
  template <class Other>
  CountedAllocator(const CountedAllocator<Other>&) noexcept {}  // NOLINT(google-explicit-constructor)

  T* allocate(std::size_t count) {
    static_assert(alignof(T) <= alignof(std::max_align_t));
    if (count > static_cast<std::size_t>(-1) / 2 / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(allocate_counted(count * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t count) noexcept { free_counted(memory, count * sizeof(T)); }
  friend bool operator==(const CountedAllocator&, const CountedAllocator&) { return true; }
};

template <class T>
using CountedVector = std::vector<T, CountedAllocator<T>>;

}  // namespace sfft::detail
