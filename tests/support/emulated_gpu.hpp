// SPDX-License-Identifier: Apache-2.0
// Emulates a GPU that runs one block at a time, for generated kernels compiled as C++. Threads are contexts
// that run until they reach a barrier. Shared memory is NaN when a block begins. The sources that
// tuned_emulator.hpp compiles include this file before the device code.
#pragma once

#include <ucontext.h>

#include <cstring>
#include <memory>
#include <vector>

#include "kernels/base/storage/half.hpp"

#define SFFT_EMULATED_GPU  // selects the GPU paths of device code
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
    gates_.assign(1 + (threads + kWarp - 1) / kWarp, {});
    for (unsigned i = 0; i < threads; ++i) {
      ++gates_[0].live;
      ++gates_[gate_of_warp(i)].live;
    }
    while (gates_[0].live > 0) {
      for (unsigned i = 0; i < threads; ++i) {
        if (done_[i]) continue;
        current_ = i;
        thread.x = i;
        swapcontext(&scheduler_, &contexts_[i]);
        if (!done_[i]) continue;
        gates_[0].leave();
        gates_[gate_of_warp(i)].leave();
      }
    }
  }
  /// Waits for all threads of the block that have not ended, or for those of the warp.
  static void barrier() { current_block_->wait_at(0); }
  static void warp_barrier() { current_block_->wait_at(gate_of_warp(current_block_->current_)); }
  /// Returns another thread's value; that thread must make the same number of calls. If it does not exist,
  /// returns the caller's value.
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
  /// The last values that a thread has passed to shuffle(); another thread may be some calls behind.
  struct Shuffles {
    static constexpr unsigned kKept = 8;
    unsigned count = 0, values[kKept] = {};
  };
  /// A barrier.
  struct Gate {
    unsigned live = 0, arrived = 0, opened = 0;
    void open_if_all() {
      if (arrived == 0 || arrived < live) return;
      arrived = 0;
      ++opened;
    }
    void leave() {
      --live;
      open_if_all();
    }
  };
  static constexpr unsigned kWarp = 32;
  static unsigned gate_of_warp(unsigned thread) { return 1 + thread / kWarp; }
  void wait() { swapcontext(&contexts_[current_], &scheduler_); }
  void wait_at(unsigned index) {
    const unsigned before = gates_[index].opened;
    ++gates_[index].arrived;
    gates_[index].open_if_all();
    while (gates_[index].opened == before) wait();
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
  std::vector<Gate> gates_;  ///< the block's gate, then one per warp
  unsigned current_ = 0;
  void (*work_)(void*) = nullptr;
  void* argument_ = nullptr;
};

}  // namespace emulated

static Index threadIdx, blockIdx, gridDim;

inline void __syncthreads() {
  emulated::Block::barrier();
}
inline void __syncwarp() {
  emulated::Block::warp_barrier();
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
namespace emulated {
/// mma.m16n8k16 with f16 operands, executed by all lanes of each warp.
inline void multiply_add(float (&sum)[4], const uint4& a, unsigned b0, unsigned b1) {
  static uint4 rows[1024];
  static unsigned columns[1024][2];
  const unsigned own = threadIdx.x, warp = own / 32 * 32, lane = own % 32;
  rows[own] = a;
  columns[own][0] = b0;
  columns[own][1] = b1;
  Block::warp_barrier();
  const auto number = [](unsigned bits) {
    return sfft::detail::to_float(sfft::detail::F16{static_cast<unsigned short>(bits)});
  };
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
    for (unsigned k = 0; k < 16; ++k) {
      const uint4& from = rows[warp + row % 8 * 4 + k % 8 / 2];
      const unsigned words[] = {from.x, from.y, from.z, from.w}, shift = k % 2 * 16;
      sum[i] += number(words[row / 8 + k / 8 * 2] >> shift) *
                number(columns[warp + column * 4 + k % 8 / 2][k / 8] >> shift);
    }
  }
  Block::warp_barrier();
}
}  // namespace emulated
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
