// SPDX-License-Identifier: Apache-2.0
// A GPU of one block at a time, for generated kernels compiled as C++: threads are contexts that run until
// they reach a barrier. Shared memory holds NaN when a block begins. Included by what tuned_emulator.hpp
// compiles, before the device code.
#pragma once

#include <ucontext.h>

#include <cstring>
#include <memory>
#include <vector>

#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__
#define __shared__
#define __align__(n) __attribute__((aligned(n)))

struct uchar2 {
  unsigned char x, y;
};
struct ushort2 {
  unsigned short x, y;
};
struct float2 {
  float x, y;
};
struct double2 {
  double x, y;
};
struct uint2 {
  unsigned x, y;
};
struct float4 {
  float x, y, z, w;
};
struct uint4 {
  unsigned x, y, z, w;
};
struct Index {
  unsigned x = 0;
};

namespace emulated {

constexpr std::size_t kStack = 256 << 10, kShared = 227 << 10;

class Block {
 public:
  /// Does not throw, because kernels do not.
  template <class Work>
  void run(unsigned threads, Index& thread, const Work& work) {
    while (stacks_.size() < threads) stacks_.push_back(std::make_unique<char[]>(kStack));
    contexts_.assign(threads, {});
    done_.assign(threads, false);
    work_ = [](void* w) { (*static_cast<const Work*>(w))(); };
    argument_ = const_cast<Work*>(&work);
    for (unsigned i = 0; i < threads; ++i) {
      getcontext(&contexts_[i]);
      contexts_[i].uc_stack.ss_sp = stacks_[i].get();
      contexts_[i].uc_stack.ss_size = kStack;
      contexts_[i].uc_link = &scheduler_;
      makecontext(&contexts_[i], &Block::enter, 0);
    }
    current_block_ = this;
    shuffles_.assign(threads, {});
    live_ = threads;
    arrived_ = 0;
    while (live_ > 0) {
      for (unsigned i = 0; i < threads; ++i) {
        if (done_[i]) continue;
        current_ = i;
        thread.x = i;
        swapcontext(&scheduler_, &contexts_[i]);
        if (!done_[i]) continue;
        --live_;
        open_if_all();
      }
    }
  }
  /// Waits for all threads that have not ended.
  static void barrier() {
    Block& block = *current_block_;
    const unsigned before = block.opened_;
    ++block.arrived_;
    block.open_if_all();
    while (block.opened_ == before) block.wait();
  }
  /// The value of another thread, which calls this as often. Threads that do not exist have the own value.
  static unsigned shuffle(unsigned value, unsigned other) {
    Block& block = *current_block_;
    Shuffles& own = block.shuffles_[block.current_];
    const unsigned call = own.count++;
    own.values[call % Shuffles::kKept] = value;
    if (other >= block.shuffles_.size()) return value;
    while (block.shuffles_[other].count <= call) block.wait();
    return block.shuffles_[other].values[call % Shuffles::kKept];
  }

 private:
  /// What a thread has given to shuffles, of which another one may be some calls behind.
  struct Shuffles {
    static constexpr unsigned kKept = 8;
    unsigned count = 0, values[kKept] = {};
  };
  void wait() { swapcontext(&contexts_[current_], &scheduler_); }
  void open_if_all() {
    if (arrived_ == 0 || arrived_ < live_) return;
    arrived_ = 0;
    ++opened_;
  }
  static void enter() {
    Block& block = *current_block_;
    block.work_(block.argument_);
    block.done_[block.current_] = true;
  }

  inline static Block* current_block_ = nullptr;
  ucontext_t scheduler_{};
  std::vector<ucontext_t> contexts_;
  std::vector<std::unique_ptr<char[]>> stacks_;
  std::vector<bool> done_;
  std::vector<Shuffles> shuffles_;
  unsigned current_ = 0, live_ = 0, arrived_ = 0, opened_ = 0;
  void (*work_)(void*) = nullptr;
  void* argument_ = nullptr;
};

}  // namespace emulated

static Index threadIdx, blockIdx, gridDim;

inline void __syncthreads() {
  emulated::Block::barrier();
}
inline void __syncwarp() {  // all threads of these kernels reach the same barriers
  emulated::Block::barrier();
}
template <class T>
T __ldcs(const T* from) {
  return *from;
}
template <class T>
void __stcs(T* to, const T& value) {
  *to = value;
}
inline float __fadd_rn(float a, float b) {
  return a + b;
}
inline float __fmul_rn(float a, float b) {
  return a * b;
}
inline double __dadd_rn(double a, double b) {
  return a + b;
}
inline double __dmul_rn(double a, double b) {
  return a * b;
}
inline unsigned __shfl_xor_sync(unsigned, unsigned value, int distance) {
  return emulated::Block::shuffle(value, threadIdx.x ^ static_cast<unsigned>(distance));
}
inline int __popc(unsigned word) {
  return __builtin_popcount(word);
}
inline unsigned long long atomicAdd(unsigned long long* to, unsigned long long value) {
  const unsigned long long before = *to;
  *to += value;
  return before;
}

namespace sfft::device {
alignas(16) inline unsigned char shared[emulated::kShared];
}

namespace emulated {

/// Runs one launch.
template <class Arguments>
void run(void (*kernel)(Arguments), const Arguments& arguments, unsigned blocks, unsigned threads) {
  static Block block;
  gridDim.x = blocks;
  for (unsigned b = 0; b < blocks; ++b) {
    blockIdx.x = b;
    std::memset(sfft::device::shared, 0xff, kShared);
    block.run(threads, threadIdx, [&] { kernel(arguments); });
  }
}

}  // namespace emulated
