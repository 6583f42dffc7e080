// SPDX-License-Identifier: Apache-2.0
// Decides the number of threads and allocates their resources.
#include "sfft/learning/pass_runner.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/runtime/aligned_buffer.hpp"
#include "kernels/runtime/host_resources.hpp"
#include "sfft/error.hpp"

namespace sfft::detail {

namespace {

/// Starting a thread takes as long as transforming this many points.
constexpr std::int64_t kPointsPerThread = 1 << 13;

int thread_count(int asked, std::int64_t points) {
  if (asked < 0) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("threads is {}: give a positive number, or 0 for one per core", asked));
  }
  const std::int64_t wanted = asked == 0 ? usable_processors() : asked;
  return static_cast<int>(std::clamp<std::int64_t>(points / kPointsPerThread, 1, wanted));
}

cpu::LargeBuffer make_scratch(std::size_t bytes, std::size_t more_bytes) {
  check_memory(bytes + more_bytes);
  return cpu::make_large_buffer(bytes);
}

}  // namespace

PassRunner::PassRunner(const Shape& shape, bool real, int threads, std::size_t more_bytes)
    : passes_(spectrum_passes(shape, real)),
      scratch_bytes_(aligned_bytes(passes_->scratch_bytes())),
      pool_(thread_count(threads, shape.points())),
      scratch_(make_scratch(static_cast<std::size_t>(pool_.threads()) * scratch_bytes_,
                            passes_->between_bytes() + more_bytes)),
      between_(cpu::make_large_buffer(passes_->between_bytes())) {
  if (RunScope* scope = RunScope::current()) scope->enter("dense transform: memory");
  touch(between_.get(), passes_->between_bytes());
}

}  // namespace sfft::detail
