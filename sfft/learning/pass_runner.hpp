// SPDX-License-Identifier: Apache-2.0
// Runs the passes of a dense spectrum on the requested number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>

#include "kernels/cpu/platform/large_buffer.hpp"
#include "kernels/cpu/platform/thread_pool.hpp"
#include "kernels/runtime/run_scope.hpp"
#include "template/learning/spectrum_passes.hpp"

namespace sfft::detail {

/// Threads with their scratch, and the memory between the passes. Handles one frame at a time.
class PassRunner {
 public:
  /// `threads` as in LearnOptions; throws invalid_argument for a negative number. Short signals use fewer.
  /// `more_bytes`: what the caller will allocate in addition, so that a limit of memory that is too low for
  /// all of it is known at once.
  PassRunner(const Shape& shape, bool real, int threads, std::size_t more_bytes = 0);

  std::int64_t second_parts() const noexcept { return passes_->second_parts(); }
  /// The first pass over a contiguous signal.
  void first(const void* samples, ElementType type) {
    enter_stage("dense transform: first pass");
    run(passes_->first_parts(), [&](std::int64_t part, std::byte* scratch) {
      passes_->first(part, samples, type, between_.get(), scratch);
    });
  }
  bool parts_are_alike() const noexcept { return passes_->parts_are_alike(); }
  /// Runs parts part_of(0) … part_of(count − 1) of the second pass, the i-th into selection(i).
  template <class PartOf, class SelectionOf>
  void select(std::int64_t count, const PartOf& part_of, const SelectionOf& selection) {
    enter_stage("dense transform: second pass, selection");
    run(count, [&](std::int64_t i, std::byte* scratch) {
      passes_->second(part_of(i), between_.get(), scratch, selection(i));
    });
  }
  /// The whole second pass, into a spectrum as SpectrumLayout stores it.
  void store(std::complex<double>* spectrum) {
    enter_stage("dense transform: second pass");
    run(second_parts(), [&](std::int64_t part, std::byte* scratch) {
      passes_->store(part, between_.get(), scratch, spectrum);
    });
  }

 private:
  /// work(part, scratch) for every part. Rethrows a part's exception.
  template <class Work>
  void run(std::int64_t parts, const Work& work) {
    LoopPolls polls(parts);
    std::mutex failing;
    std::exception_ptr failure;
    MemoryBudget* const budget = MemoryBudget::current();
    pool_.run(parts, [&](std::int64_t part, int thread) {
      if (polls.stopped()) return;
      const MemoryBudget::Use counted(budget);
      try {
        work(part, scratch_.get() + static_cast<std::size_t>(thread) * scratch_bytes_);
      } catch (...) {
        const std::lock_guard lock(failing);
        if (!failure) failure = std::current_exception();
      }
    });
    if (failure) std::rethrow_exception(failure);
    polls.finish();
  }

  std::shared_ptr<const SpectrumPasses> passes_;
  std::size_t scratch_bytes_;
  cpu::ThreadPool pool_;
  cpu::LargeBuffer scratch_, between_;
};

}  // namespace sfft::detail
