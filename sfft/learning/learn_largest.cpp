// SPDX-License-Identifier: Apache-2.0
// Transforms one frame in double precision and selects its k largest frequencies on the way, on as many
// threads as asked for. The result does not depend on how many there are.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>

#include "kernels/base/error.hpp"
#include "kernels/base/region.hpp"
#include "kernels/cpu/platform/large_buffer.hpp"
#include "kernels/cpu/platform/thread_pool.hpp"
#include "sfft/learning/learning.hpp"
#include "template/data/envelope.hpp"
#include "template/learning/spectrum_passes.hpp"

namespace sfft::detail {

namespace {

/// Powers of this size, and sums of such powers, are surely in range.
constexpr double kLargestPower = 1e280;
constexpr double kSmallestPower = 1e-240;
/// Starting a thread takes as long as transforming this many points.
constexpr std::int64_t kPointsPerThread = 1 << 13;
/// Parts of the second pass that share a level. The first ones are fewer, because they set the level.
constexpr std::int64_t kMostTogether = 32;

int thread_count(int asked, std::int64_t points) {
  if (asked < 0) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("threads is {}: give a positive number, or 0 for one per core", asked));
  }
  const auto cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  return static_cast<int>(std::clamp<std::int64_t>(points / kPointsPerThread, 1, asked == 0 ? cores : asked));
}

std::size_t aligned(std::size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

/// Threads, each with its scratch.
class Workers {
 public:
  Workers(int threads, std::size_t scratch_bytes)
      : scratch_bytes_(aligned(scratch_bytes)),
        pool_(threads),
        scratch_(cpu::make_large_buffer(static_cast<std::size_t>(pool_.threads()) * scratch_bytes_)) {}

  /// work(part, scratch) for every part. Rethrows what one of them throws.
  template <class Work>
  void run(std::int64_t parts, const Work& work) {
    std::mutex failing;
    std::exception_ptr failure;
    pool_.run(parts, [&](std::int64_t part, int thread) {
      try {
        work(part, scratch_.get() + static_cast<std::size_t>(thread) * scratch_bytes_);
      } catch (...) {
        const std::lock_guard lock(failing);
        if (!failure) failure = std::current_exception();
      }
    });
    if (failure) std::rethrow_exception(failure);
  }

 private:
  std::size_t scratch_bytes_;
  cpu::ThreadPool pool_;
  cpu::LargeBuffer scratch_;
};

class Selection {
 public:
  Selection(const Shape& shape, bool real, std::int64_t k, int threads)
      : cells_(CellGrid(shape).cells()),
        k_(k),
        passes_(spectrum_passes(shape, real)),
        workers_(thread_count(threads, shape.points()), passes_->scratch_bytes()),
        between_(cpu::make_large_buffer(passes_->between_bytes())) {}

  LargestElements of(const void* samples, ElementType type) {
    workers_.run(passes_->first_parts(), [&](std::int64_t part, std::byte* scratch) {
      passes_->first(part, samples, type, between_.get(), scratch);
    });
    LargestElements largest(cells_, k_);
    const std::int64_t parts = passes_->second_parts();
    for (std::int64_t done = 0, together = 1; done < parts; done += together) {
      if (done > 0) together = std::min({done, kMostTogether, parts - done});
      std::vector<PartialSelection> partial(static_cast<std::size_t>(together), largest.begin_part());
      workers_.run(together, [&](std::int64_t part, std::byte* scratch) {
        passes_->second(done + part, between_.get(), scratch, partial[static_cast<std::size_t>(part)]);
      });
      for (PartialSelection& part : partial) largest.take(std::move(part));
      largest.raise_level();
    }
    largest.finish();
    return largest;
  }

 private:
  std::size_t cells_;
  std::int64_t k_;
  std::shared_ptr<const SpectrumPasses> passes_;
  Workers workers_;
  cpu::LargeBuffer between_;
};

/// Whether no power or sum of powers has left the range of double precision.
bool ordinary(const LargestElements& largest) {
  double top = 0;
  double sum = std::accumulate(largest.sums().begin(), largest.sums().end(), 0.0);
  for (const SpectrumElement& element : largest.largest()) {
    top = std::max(top, element.power);
    sum += element.power;
  }
  return std::isfinite(sum) && top > kSmallestPower && top < kLargestPower;
}

}  // namespace

Learned learn_largest(const SignalView& frame, std::int64_t k, int threads) {
  const bool real = !is_complex(frame.type());
  Learned learned;
  learned.layout = {frame.shape(), real};
  Selection selection(frame.shape(), real, k, threads);
  std::vector<std::byte> copy;
  const void* samples = frame.data();
  if (!frame.contiguous()) {
    copy.resize(frame.bytes());
    copy_elements(frame, copy.data());
    samples = copy.data();
  }
  LargestElements largest = selection.of(samples, frame.type());
  const bool twice = frame.type() == ElementType::f64 || frame.type() == ElementType::c128;
  // All-zero frames need no scale; they are rare enough to be scanned twice.
  if (twice && !ordinary(largest)) {
    learned.exponent = scale_exponent({&frame, 1});
    if (learned.exponent != 0)
      largest = selection.of(scaled_samples(frame, learned.exponent).data(), frame.type());
  }
  check_finite(largest.mean(), 0);
  learned.chosen.reserve(largest.largest().size());
  learned.values.reserve(largest.largest().size());
  for (const SpectrumElement& element : largest.largest()) {
    learned.chosen.push_back({element.index, element.power});
    learned.values.push_back(element.value);
  }
  learned.tail = largest.sums();
  learned.largest_outside = largest.largest_outside();
  return learned;
}

}  // namespace sfft::detail
