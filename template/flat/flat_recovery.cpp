// SPDX-License-Identifier: Apache-2.0
// Whitens the noise of neighbouring buckets, loads the responses of the frequencies in a run of buckets into
// a FlatSystem, and turns the rows that it finds into weights.
#include "template/flat/flat_recovery.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>

#include "kernels/base/math/index.hpp"
#include "kernels/base/math/lattice_line.hpp"
#include "kernels/cpu/stages/flat_hash.hpp"

namespace sfft::detail {

std::int64_t line_period(const Shape& shape) {
  std::int64_t period = 1;
  for (const std::int64_t extent : shape.extents()) period = std::lcm(period, extent);
  return period;
}

FlatLineSource::FlatLineSource(const Shape& shape, std::uint64_t seed)
    : shape_(shape), period_(line_period(shape)), generator_(seed) {}

std::int64_t FlatLineSource::below(std::int64_t limit) {
  return static_cast<std::int64_t>(generator_() % static_cast<std::uint64_t>(limit));
}

/// A start on the line that visits every sample, chosen so that `count` pieces do not overlap if there is
/// room.
std::array<std::int64_t, 3> FlatLineSource::piece(std::int64_t number, std::int64_t count,
                                                  const FlatLines& lines) {
  const std::int64_t share = period_ / count;
  const std::int64_t start = number * share + below(std::max<std::int64_t>(1, share - lines.taps + 1));
  std::array<std::int64_t, 3> delay{0, 0, 0};
  for (std::size_t d = 0; d < shape_.extents().size(); ++d) {
    const std::int64_t extent = shape_.extents()[d];
    delay[d] = multiply_mod(start % extent, lines.sigma[d], extent);
  }
  return delay;
}

/// The smallest index on the whole line through `delay`: delays with the same name are equivalent.
std::int64_t FlatLineSource::name(const std::array<std::int64_t, 3>& delay, const FlatLines& lines) const {
  std::int64_t min = shape_.points();
  walk_line(shape_.extents().data(), shape_.rank(), lines.sigma, delay, period_,
            [&](std::int64_t flat) { min = std::min(min, flat); });
  return min;
}

void FlatLineSource::draw(std::int64_t count, FlatLines& lines) {
  // Coprime steps have the longest period; random ones also spread the frequencies outside the template.
  lines.sigma = {0, 0, 0};
  for (std::size_t d = 0; d < shape_.extents().size(); ++d) {
    const std::int64_t extent = shape_.extents()[d];
    do {
      lines.sigma[d] = below(extent);
    } while (std::gcd(lines.sigma[d], extent) != 1);
  }
  lines.delays.clear();
  const std::int64_t cosets = shape_.points() / period_;
  // The comparison pays off only if two draws are likely to coincide.
  const bool compare = lines.full_period && count > 1 && cosets <= 16 * count;
  std::vector<std::int64_t> names;
  while (static_cast<std::int64_t>(lines.delays.size()) < count) {
    std::array<std::int64_t, 3> delay{0, 0, 0};
    if (cosets == 1) {
      delay = piece(static_cast<std::int64_t>(lines.delays.size()), count, lines);
    } else {
      for (std::size_t d = 0; d < shape_.extents().size(); ++d) delay[d] = below(shape_.extents()[d]);
    }
    if (compare) {
      const std::int64_t own = name(delay, lines);
      if (std::find(names.begin(), names.end(), own) != names.end()) continue;
      names.push_back(own);
    }
    lines.delays.push_back(delay);
  }
}

std::int64_t count_samples(const Shape& shape, const FlatLines& lines) {
  std::vector<std::int64_t> samples;
  samples.reserve(lines.delays.size() * static_cast<std::size_t>(lines.taps));
  for (const auto& delay : lines.delays) {
    walk_line(shape.extents().data(), shape.rank(), lines.sigma, delay, lines.taps,
              [&](std::int64_t flat) { samples.push_back(flat); });
  }
  std::sort(samples.begin(), samples.end());
  return std::unique(samples.begin(), samples.end()) - samples.begin();
}

namespace {

/// Capacity for the buckets of a row, far above what the smallest leakage needs.
constexpr std::int64_t kMaxRowBuckets = 32;

std::size_t index(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

FlatRecovery::FlatRecovery(const Shape& shape, std::span<const FlatMember> members,
                           const KaiserWindow& kaiser, FlatLines lines)
    : lines_(std::move(lines)),
      points_(shape.points()),
      leakage_(kaiser.leakage),
      system_(index(lines_.row_buckets), lines_.delays.size()) {
  if (!lines_.full_period) {
    reach_ = kaiser.half_width * static_cast<double>(lines_.buckets) / static_cast<double>(lines_.taps);
  }
  make_window(kaiser);
  whiten();
  hash_members(shape, members, kaiser);
}

void FlatRecovery::make_window(const KaiserWindow& kaiser) {
  const std::int64_t taps = lines_.taps;
  const double share = 1 / static_cast<double>(taps);
  window_.assign(index(taps), share);
  if (lines_.full_period) return;
  for (std::int64_t m = 0; m < (taps + 1) / 2; ++m) {
    const double tap = share * kaiser.tap(static_cast<double>(2 * m + 1 - taps) * share);
    window_[index(m)] = tap;
    window_[index(taps - 1 - m)] = tap;
  }
}

/// For white samples, the covariance of two buckets is the spectrum of the squared window at their distance.
void FlatRecovery::whiten() {
  const std::int64_t p = lines_.row_buckets;
  std::vector<double> covariance(index(p), 0.0);
  const double step = 2 * std::numbers::pi / static_cast<double>(lines_.buckets);
  for (std::int64_t m = 0; m < lines_.taps; ++m) {
    const double twice =
        2 * std::cos(step * (static_cast<double>(m) - 0.5 * static_cast<double>(lines_.taps - 1)));
    const double power = window_[index(m)] * window_[index(m)];
    // Chebyshev's recurrence for cos(q x), from q = 0 and q = -1.
    double cosine = power;
    double before = 0.5 * power * twice;
    for (std::int64_t q = 0; q < p; ++q) {
      covariance[index(q)] += cosine;
      const double next = twice * cosine - before;
      before = cosine;
      cosine = next;
    }
  }
  std::vector<double> lower(index(p * p), 0.0);
  whitener_.assign(index(p * p), 0.0);
  for (std::int64_t i = 0; i < p; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      double sum = covariance[index(i - j)];
      for (std::int64_t l = 0; l < j; ++l) sum -= lower[index(i * p + l)] * lower[index(j * p + l)];
      lower[index(i * p + j)] = i == j ? std::sqrt(sum) : sum / lower[index(j * p + j)];
    }
    whitener_[index(i * p + i)] = 1 / lower[index(i * p + i)];
    for (std::int64_t j = 0; j < i; ++j) {
      double sum = 0;
      for (std::int64_t l = j; l < i; ++l) sum -= lower[index(i * p + l)] * whitener_[index(l * p + j)];
      whitener_[index(i * p + j)] = sum / lower[index(i * p + i)];
    }
  }
}

void FlatRecovery::hash_members(const Shape& shape, std::span<const FlatMember> members,
                                const KaiserWindow& kaiser) {
  const cpu::FlatHash hash(shape, lines_.sigma);
  std::vector<FlatPosition> positions;
  positions.reserve(members.size());
  for (const FlatMember& member : members) positions.push_back(hash.position(member.f, lines_.buckets));
  std::vector<std::size_t> order(members.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (positions[a].bucket != positions[b].bucket) return positions[a].bucket < positions[b].bucket;
    return positions[a].offset < positions[b].offset;
  });

  const auto half = static_cast<std::int64_t>(std::ceil(reach_));
  response_width_ = 2 * half + 2;
  sorted_of_.resize(members.size());
  turns_.reserve(members.size() * lines_.delays.size());
  for (std::size_t s = 0; s < order.size(); ++s) {
    const FlatPosition& at = positions[order[s]];
    sorted_of_[order[s]] = s;
    bucket_.push_back(at.bucket);
    offset_.push_back(at.offset);
    position_.push_back(static_cast<double>(at.bucket) + at.offset);
    const double resolution = static_cast<double>(lines_.taps / lines_.buckets);
    for (std::int64_t m = -half; m <= half + 1; ++m) {
      const double distance = at.offset - static_cast<double>(m);
      response_.push_back(lines_.full_period ? (m == 0 ? 1.0 : 0.0) : kaiser.response(distance * resolution));
    }
    for (const auto& delay : lines_.delays) {
      Complex turn = 1;
      for (int d = 0; d < shape.rank(); ++d) {
        turn *= phase(members[order[s]].f[index(d)], delay[index(d)], shape[d]);
      }
      turns_.push_back(turn);
    }
  }
}

std::int64_t FlatRecovery::run_start(std::size_t sorted) const noexcept {
  return bucket_[sorted] - (lines_.row_buckets - 1) / 2;
}

/// The whitened response of one member in the run that begins at bucket `start`. Phases common to rows and
/// columns are omitted (append_weights restores them); what remains is the sign that (M−1)/2 turns give to a
/// distance taken the short way around the circle.
void FlatRecovery::load_column(std::size_t sorted, std::int64_t start) {
  const std::int64_t p = lines_.row_buckets;
  const std::int64_t circle = lines_.buckets;
  const std::int64_t half = response_width_ / 2 - 1;
  double response[kMaxRowBuckets];
  for (std::int64_t q = 0; q < p; ++q) {
    const std::int64_t straight = start + q - bucket_[sorted];
    const std::int64_t folded = floor_mod(straight + circle / 2, circle) - circle / 2;
    const std::int64_t turns = (straight - folded) / circle;
    const bool seen = folded >= -half && folded <= half + 1;
    const double value = seen ? response_[sorted * index(response_width_) + index(folded + half)] : 0;
    response[q] = ((lines_.taps - 1) * turns) % 2 != 0 ? -value : value;
  }
  double shape[kMaxRowBuckets];
  for (std::int64_t q = 0; q < p; ++q) {
    shape[q] = 0;
    for (std::int64_t l = 0; l <= q; ++l) shape[q] += whitener_[index(q * p + l)] * response[l];
  }
  system_.add(shape, &turns_[sorted * lines_.delays.size()]);
}

/// Loads every member in the run, `last` (sorted, or -1) after the others. False if there are too many for
/// the run's dimensions.
bool FlatRecovery::load(std::int64_t start, std::int64_t last) {
  system_.clear();
  const auto circle = static_cast<double>(lines_.buckets);
  const std::size_t count = position_.size();
  const double span = static_cast<double>(lines_.row_buckets - 1) + 2 * reach_;
  double low = static_cast<double>(start) - reach_;
  low -= std::floor(low / circle) * circle;
  const bool everything = span >= circle;
  auto s =
      static_cast<std::size_t>(std::lower_bound(position_.begin(), position_.end(), low) - position_.begin());
  for (std::size_t i = 0; i < count; ++i, ++s) {
    const bool wrapped = s >= count;
    const std::size_t member = wrapped ? s - count : s;
    if (!everything && position_[member] + (wrapped ? circle : 0) > low + span) break;
    if (static_cast<std::int64_t>(member) == last) continue;
    load_column(member, start);
    if (system_.size() >= system_.dimensions()) return false;
  }
  if (last >= 0) load_column(index(last), start);
  return true;
}

double FlatRecovery::gain(std::size_t i) {
  const std::size_t sorted = sorted_of_[i];
  if (!load(run_start(sorted), static_cast<std::int64_t>(sorted)))
    return std::numeric_limits<double>::infinity();
  return system_.gain();
}

void FlatRecovery::append_row(std::size_t i, FlatPlanData& data) {
  const std::size_t sorted = sorted_of_[i];
  const std::int64_t start = run_start(sorted);
  data.noise_gain.push_back(gain(i));
  const double centre = static_cast<double>(bucket_[sorted] - start) + offset_[sorted];
  const double angle =
      -std::numbers::pi * centre * static_cast<double>(lines_.taps - 1) / static_cast<double>(lines_.buckets);
  append_weights(start, system_.row(leakage_), std::polar(1.0, angle), data);
}

std::int64_t FlatRecovery::append_probes(std::int64_t start, std::int64_t count, std::uint64_t seed,
                                         FlatPlanData& data) {
  if (!load(start, -1)) return 0;
  system_.start_discovery_rows();
  count = std::min(count, static_cast<std::int64_t>(system_.dimensions() - system_.size()));
  std::mt19937_64 generator(seed);
  // Standard distributions differ between libraries, but plans must not.
  const auto uniform = [&] { return static_cast<double>(generator() >> 11) * 0x1p-52 - 1; };
  for (std::int64_t i = 0; i < count; ++i) {
    std::vector<Complex> vector(system_.dimensions());
    for (Complex& weight : vector) {
      const double re = uniform();
      weight = {re, uniform()};
    }
    append_weights(start, system_.discovery_row(std::move(vector)), 1.0, data);
  }
  return count;
}

/// Undoes the whitening, restores the phase of the window's centre in each bucket, and scales to X.
void FlatRecovery::append_weights(std::int64_t start, const std::vector<Complex>& row, Complex scale,
                                  FlatPlanData& data) const {
  const std::int64_t p = lines_.row_buckets;
  const std::size_t r = lines_.delays.size();
  data.first_bucket.push_back(floor_mod(start, lines_.buckets));
  for (std::int64_t q = 0; q < p; ++q) {
    // (M−1)q/B half turns, reduced in integers.
    const std::int64_t half_turns = floor_mod((lines_.taps - 1) * q, 2 * lines_.buckets);
    const Complex factor = scale * static_cast<double>(points_) * unit_root(half_turns, 2 * lines_.buckets);
    for (std::size_t l = 0; l < r; ++l) {
      Complex sum = 0;
      for (std::int64_t i = q; i < p; ++i) sum += whitener_[index(i * p + q)] * row[index(i) * r + l];
      data.weights.push_back(sum * factor);
    }
  }
}

}  // namespace sfft::detail
