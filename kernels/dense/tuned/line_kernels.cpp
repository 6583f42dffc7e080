// SPDX-License-Identifier: Apache-2.0
// Makes a one-step program for each kind of lines.
#include "kernels/dense/tuned/line_kernels.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/dense/tuned/policy/knobs.hpp"
#include "kernels/dense/tuned/policy/policy_text.hpp"
#include "kernels/dense/tuned/run/loading.hpp"
#include "kernels/dense/tuned/search/candidates.hpp"
#include "kernels/dense/tuned/search/tuner.hpp"
#include "sfft/error.hpp"

namespace sfft::detail::tuned {

namespace {

constexpr std::size_t kMeasured = 24;  ///< number of policies that are timed
constexpr int kRounds = 4;
constexpr int kFarPrefetchDistance = 35;
constexpr std::int64_t kMeasuredBytes = 256 << 20;  ///< bytes of lines that are timed

/// Whether a line's elements are so far apart that they lie in different memory pages.
bool far_apart(const Lines& lines, bool single) {
  constexpr std::int64_t kBytes = 256 << 10;
  return lines.interleaved() && lines.in.element * (single ? 8 : 16) >= kBytes;
}

/// The lines of a tile are neighbours. Memory is read fastest in runs of 128 bytes, or of 256 bytes for
/// elements far apart, even if a block then has a multiprocessor for itself (measured: lines across 512 and
/// 1024 planes).
void put_long_runs_first(bool far, bool single, std::vector<KernelPolicy>& kernels) {
  for (const int bytes : {256, 128}) {
    if (bytes == 256 && !far) continue;
    const auto found = std::find_if(kernels.begin(), kernels.end(), [&](const KernelPolicy& kernel) {
      return kernel.transforms_per_block * (single ? 8 : 16) == bytes && !kernel.half_shared;
    });
    if (found == kernels.end()) continue;
    std::rotate(kernels.begin(), found, found + 1);
    return;
  }
}

std::vector<TransformPolicy> policies_for(const Lines& lines, bool single, int device, std::size_t max) {
  LineNeed need = need_of(lines);
  Limits limits = limits_of(device);
  limits.multiplies_f16 = false;
  if (!fits(need.points, single, limits))
    throw Error(ErrorCode::backend_unavailable, fmt::format("no block holds lines of {}", lines.points));
  std::vector<TransformPolicy> all;
  std::vector<KernelPolicy> kernels = candidates(need, single, limits, kMeasured);
  if (kernels.empty()) {  // short lines, where a tile holds more lines than there are
    need.lines = 0;
    kernels = candidates(need, single, limits, kMeasured);
  }
  const bool far = far_apart(lines, single);
  if (lines.interleaved()) put_long_runs_first(far, single, kernels);
  for (KernelPolicy& kernel : kernels) {
    kernel.twiddles = Twiddles::two_roots;
    if (alone_on_multiprocessor(kernel, single)) {
      const bool short_runs = kernel.transforms_per_block * (single ? 8 : 16) < 256;
      kernel.prefetch_distance = far && short_runs ? kFarPrefetchDistance : kUsualPrefetchDistance;
      if (far || !lines.interleaved()) kernel.multiprocessor_delay = kUsualMultiprocessorDelay;
    }
    all.emplace_back().kernels = {kernel};
    if (max == 1) break;
    all.push_back(all.back());
    all.back().min_blocks_per_multiprocessor = 2;
  }
  if (all.empty())
    throw Error(ErrorCode::backend_unavailable, fmt::format("no kernel for lines of {}", lines.points));
  return all;
}

/// Times the best few policies on lines of zeros and returns the fastest.
TransformPolicy measured_policy(const Lines& lines, bool single, int device) {
  const std::vector<TransformPolicy> all = policies_for(lines, single, device, kMeasured);
  Tables tables(single);
  std::vector<Program> programs;
  for (const TransformPolicy& policy : all) programs.push_back(program_of(lines, policy));
  const auto kernels = load(programs, single, tables, cuda::device_info(device));
  const auto extent = [&](const Lines::Strides& s, std::int64_t groups) {
    return (groups - 1) * s.group + (lines.inner - 1) * s.inner + (lines.points - 1) * s.element + 1;
  };
  const std::int64_t value = single ? 8 : 16, max = kMeasuredBytes / value;
  const std::int64_t of_group = lines.inner * lines.points;
  const std::int64_t groups = std::max<std::int64_t>(1, max / of_group);
  const cuda::DeviceBuffer from(static_cast<std::size_t>(extent(lines.in, groups) * value)),
      to(static_cast<std::size_t>(extent(lines.out, groups) * value));
  const cuda::Queue stream;
  cuda::clear(from.data(), from.bytes(), stream.get());
  const Call call{from.data(), to.data(), nullptr, 1.0, 1};
  std::size_t best = 0;
  double min = 0;
  cuda::Event begin(cuda::Event::Kind::timed), end(cuda::Event::Kind::timed);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    double us = 0;
    for (int round = 0; round < kRounds; ++round) {  // the first round does not count
      begin.record(stream.get());
      kernels[k]->run_groups(call, groups, stream.get());
      end.record(stream.get());
      end.wait();
      const double once = begin.us_until(end);
      if (round > 0 && (us == 0 || once < us)) us = once;
    }
    if (min == 0 || us < min) {
      min = us;
      best = k;
    }
  }
  return all[best];
}

}  // namespace

LineKernels::LineKernels(int device, const std::vector<Lines>& lines, bool single, bool measure)
    : tables_(single) {
  cuda::nvrtc();
  std::vector<Program> programs;
  std::vector<std::pair<Lines, TransformPolicy>> known;
  for (const Lines& kind : lines) {
    // The same policy serves both directions, and all numbers of lines that fill its tiles.
    auto same = std::find_if(known.begin(), known.end(), [&](const auto& other) {
      return other.first.points == kind.points && other.first.interleaved() == kind.interleaved() &&
             other.first.in.element == kind.in.element &&
             (other.first.inner == kind.inner ||
              kind.inner % other.second.kernels[0].transforms_per_block == 0);
    });
    if (same == known.end()) {
      known.emplace_back(kind, measure ? measured_policy(kind, single, device)
                                       : policies_for(kind, single, device, 1).front());
      same = known.end() - 1;
    }
    programs.push_back(program_of(kind, same->second));
    names_.push_back(to_text(same->second));
  }
  kernels_ = load(programs, single, tables_, cuda::device_info(device));
}

void LineKernels::run(std::size_t kind, const void* from, void* to, std::int64_t groups, double scale,
                      cuda::Stream stream) const {
  const Call call{from, to, nullptr, scale, 1};
  kernels_[kind]->run_groups(call, groups, stream);
}

std::string LineKernels::name(std::size_t kind) const {
  return names_[kind];
}

}  // namespace sfft::detail::tuned
