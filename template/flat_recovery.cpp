#include "template/flat_recovery.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>

#include "kernels/common/index.hpp"
#include "kernels/cpu/flat_hash.hpp"

namespace sfft::detail {

namespace {

/// Added to the unit diagonal of Gram matrices, above their rounding. Columns at the end of the window's reach
/// are small and nearly parallel; with this they make no large weights, and a second pass takes away what it
/// leaves of the larger ones (iterated Tikhonov regularisation).
constexpr double kRidge = 2e-14;
/// What remains of a column after orthogonalisation is rounding below this share.
constexpr double kRounding = 1e-14;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

FlatRecovery::FlatRecovery(const Shape& shape, std::span<const FlatMember> members, const KaiserWindow& kaiser,
                           FlatLines lines)
    : lines_(std::move(lines)), points_(shape.points()), leakage_(kaiser.leakage) {
  if (!lines_.full_period) {
    reach_ = kaiser.half_width * static_cast<double>(lines_.buckets) / static_cast<double>(lines_.taps);
  }
  line_.resize(2 * index(lines_.row_buckets) * lines_.delays.size() + 2);
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

/// White samples make buckets whose covariance is that of the squared window at the buckets' distance.
void FlatRecovery::whiten() {
  const std::int64_t p = lines_.row_buckets;
  std::vector<double> covariance(index(p), 0.0);
  const double step = 2 * std::numbers::pi / static_cast<double>(lines_.buckets);
  for (std::int64_t m = 0; m < lines_.taps; ++m) {
    const double twice = 2 * std::cos(step * (static_cast<double>(m) - 0.5 * static_cast<double>(lines_.taps - 1)));
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

void FlatRecovery::hash_members(const Shape& shape, std::span<const FlatMember> members, const KaiserWindow& kaiser) {
  const cpu::FlatHash hash(shape, lines_.sigma);
  std::vector<cpu::FlatPosition> positions;
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
    const cpu::FlatPosition& at = positions[order[s]];
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

/// The whitened response of one member in the run that begins at bucket `start`. Phases that rows and columns
/// have in common are left out (append_weights puts them back); only the sign that (M−1)/2 turns make of a
/// distance that was taken the short way around the circle remains.
void FlatRecovery::load_column(std::size_t sorted, std::int64_t start) {
  const std::int64_t p = lines_.row_buckets;
  const std::int64_t circle = lines_.buckets;
  const std::int64_t half = response_width_ / 2 - 1;
  double response[64];
  for (std::int64_t q = 0; q < p; ++q) {
    const std::int64_t straight = start + q - bucket_[sorted];
    const std::int64_t folded = floor_mod(straight + circle / 2, circle) - circle / 2;
    const std::int64_t turns = (straight - folded) / circle;
    const bool seen = folded >= -half && folded <= half + 1;
    const double value = seen ? response_[sorted * index(response_width_) + index(folded + half)] : 0;
    response[q] = ((lines_.taps - 1) * turns) % 2 != 0 ? -value : value;
  }
  double norm2 = 0;
  const std::size_t at = shapes_.size();
  for (std::int64_t q = 0; q < p; ++q) {
    double sum = 0;
    for (std::int64_t l = 0; l <= q; ++l) sum += whitener_[index(q * p + l)] * response[l];
    shapes_.push_back(sum);
    norm2 += sum * sum;
  }
  if (norm2 == 0) {
    shapes_.resize(at);
    return;
  }
  const double norm = std::sqrt(norm2 * static_cast<double>(lines_.delays.size()));
  for (std::size_t q = at; q < shapes_.size(); ++q) shapes_[q] /= norm;
  visible_.push_back(sorted);
  norms_.push_back(norm);
}

/// Loads every member that shows in the run, `last` (sorted, or -1) after the others. False when there are
/// more than the run has dimensions.
bool FlatRecovery::load(std::int64_t start, std::int64_t last) {
  visible_.clear();
  shapes_.clear();
  norms_.clear();
  const auto circle = static_cast<double>(lines_.buckets);
  const std::size_t count = position_.size();
  const std::size_t room = index(lines_.row_buckets) * lines_.delays.size();
  const double span = static_cast<double>(lines_.row_buckets - 1) + 2 * reach_;
  double low = static_cast<double>(start) - reach_;
  low -= std::floor(low / circle) * circle;
  const bool everything = span >= circle;
  auto s = static_cast<std::size_t>(std::lower_bound(position_.begin(), position_.end(), low) - position_.begin());
  for (std::size_t i = 0; i < count; ++i, ++s) {
    const bool wrapped = s >= count;
    const std::size_t member = wrapped ? s - count : s;
    if (!everything && position_[member] + (wrapped ? circle : 0) > low + span) break;
    if (static_cast<std::int64_t>(member) == last) continue;
    load_column(member, start);
    if (visible_.size() >= room) return false;
  }
  if (last >= 0) load_column(index(last), start);
  return true;
}

/// The lower half of the Gram matrix of the loaded columns: over (q, j) it is the product of two small Gram
/// matrices, of the shapes and of the turns. All loops here and in factor() run along rows without a running
/// sum, so that they vectorise in strict arithmetic.
void FlatRecovery::make_gram() {
  const std::size_t size = visible_.size();
  const std::size_t p = index(lines_.row_buckets);
  const std::size_t r = lines_.delays.size();
  transposed_.resize((p + 2 * r) * size);
  double* turns_re = &transposed_[p * size];
  double* turns_im = turns_re + r * size;
  for (std::size_t v = 0; v < size; ++v) {
    for (std::size_t q = 0; q < p; ++q) transposed_[q * size + v] = shapes_[v * p + q];
    for (std::size_t l = 0; l < r; ++l) {
      turns_re[l * size + v] = turns_[visible_[v] * r + l].real();
      turns_im[l * size + v] = turns_[visible_[v] * r + l].imag();
    }
  }
  factor_re_.assign(size * size, 0.0);
  factor_im_.assign(size * size, 0.0);
  for (std::size_t i = 0; i < size; ++i) {
    double* __restrict re = &factor_re_[i * size];
    double* __restrict im = &factor_im_[i * size];
    for (std::size_t l = 0; l < r; ++l) {
      const double* own_re = turns_re + l * size;
      const double* own_im = turns_im + l * size;
      for (std::size_t j = 0; j <= i; ++j) {
        re[j] += own_re[i] * own_re[j] + own_im[i] * own_im[j];
        im[j] += own_re[i] * own_im[j] - own_im[i] * own_re[j];
      }
    }
    double* __restrict shape = line_.data();
    std::fill_n(shape, i + 1, 0.0);
    for (std::size_t q = 0; q < p; ++q) {
      const double* row = &transposed_[q * size];
      for (std::size_t j = 0; j <= i; ++j) shape[j] += row[i] * row[j];
    }
    for (std::size_t j = 0; j <= i; ++j) {
      re[j] *= shape[j];
      im[j] *= shape[j];
    }
    re[i] += kRidge;
  }
}

/// Cholesky factorisation in place.
void FlatRecovery::factor() {
  make_gram();
  const std::size_t size = visible_.size();
  double* __restrict pivots_re = line_.data();
  double* __restrict pivots_im = pivots_re + size;
  for (std::size_t j = 0; j < size; ++j) {
    const double diagonal = std::sqrt(std::max(factor_re_[j * size + j], kRidge));
    factor_re_[j * size + j] = diagonal;
    for (std::size_t i = j + 1; i < size; ++i) {
      pivots_re[i] = factor_re_[i * size + j] /= diagonal;
      pivots_im[i] = factor_im_[i * size + j] /= diagonal;
    }
    for (std::size_t i = j + 1; i < size; ++i) {
      double* __restrict re = &factor_re_[i * size];
      double* __restrict im = &factor_im_[i * size];
      const double a = pivots_re[i];
      const double b = pivots_im[i];
      for (std::size_t l = j + 1; l <= i; ++l) {
        re[l] -= a * pivots_re[l] + b * pivots_im[l];
        im[l] -= b * pivots_re[l] - a * pivots_im[l];
      }
    }
  }
}

/// Solves Gram · x = right side in place.
void FlatRecovery::solve(std::vector<Complex>& x) const {
  const std::size_t size = visible_.size();
  const auto at = [&](std::size_t i, std::size_t j) {
    return Complex(factor_re_[i * size + j], factor_im_[i * size + j]);
  };
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < i; ++j) x[i] -= at(i, j) * x[j];
    x[i] /= factor_re_[i * size + i];
  }
  for (std::size_t i = size; i-- > 0;) {
    x[i] /= factor_re_[i * size + i];
    for (std::size_t j = 0; j < i; ++j) x[j] -= std::conj(at(i, j)) * x[i];
  }
}

/// What a row over (q, j) reads of each loaded column, conjugated. Along columns, as make_gram() left them.
std::vector<std::complex<double>> FlatRecovery::leak(const std::vector<Complex>& row) {
  const std::size_t size = visible_.size();
  const std::size_t p = index(lines_.row_buckets);
  const std::size_t r = lines_.delays.size();
  sums_.assign(4 * size, 0.0);
  double* __restrict reads_re = sums_.data();
  double* __restrict reads_im = reads_re + size;
  double* __restrict sum_re = reads_im + size;
  double* __restrict sum_im = sum_re + size;
  for (std::size_t q = 0; q < p; ++q) {
    std::fill_n(sum_re, 2 * size, 0.0);
    for (std::size_t l = 0; l < r; ++l) {
      const double a = row[q * r + l].real();
      const double b = row[q * r + l].imag();
      const double* turns_re = &transposed_[(p + l) * size];
      const double* turns_im = turns_re + r * size;
      for (std::size_t v = 0; v < size; ++v) {
        sum_re[v] += a * turns_re[v] - b * turns_im[v];
        sum_im[v] += a * turns_im[v] + b * turns_re[v];
      }
    }
    const double* shape = &transposed_[q * size];
    for (std::size_t v = 0; v < size; ++v) {
      reads_re[v] += shape[v] * sum_re[v];
      reads_im[v] -= shape[v] * sum_im[v];
    }
  }
  std::vector<Complex> reads(size);
  for (std::size_t v = 0; v < size; ++v) reads[v] = {reads_re[v], reads_im[v]};
  return reads;
}

/// row −= conj(columns · coefficients).
void FlatRecovery::remove(const std::vector<Complex>& coefficients, std::vector<Complex>& row) const {
  const std::size_t p = index(lines_.row_buckets);
  const std::size_t r = lines_.delays.size();
  for (std::size_t v = 0; v < visible_.size(); ++v) {
    for (std::size_t q = 0; q < p; ++q) {
      const Complex scaled = coefficients[v] * shapes_[v * p + q];
      for (std::size_t l = 0; l < r; ++l) row[q * r + l] -= std::conj(scaled * turns_[visible_[v] * r + l]);
    }
  }
}

double FlatRecovery::gain(std::size_t i) {
  const std::size_t sorted = sorted_of_[i];
  if (!load(run_start(sorted), static_cast<std::int64_t>(sorted))) return std::numeric_limits<double>::infinity();
  factor();
  // The last diagonal element is the sine of the angle between the last column and all others.
  const double own = factor_re_.back() * norms_.back();
  return 1 / (own * own);
}

void FlatRecovery::append_row(std::size_t i, FlatPlanData& data) {
  const std::size_t sorted = sorted_of_[i];
  const std::int64_t start = run_start(sorted);
  data.noise_gain.push_back(gain(i));
  // Least norm with unit reading of the last column and none of the others.
  std::vector<Complex> row(index(lines_.row_buckets) * lines_.delays.size());
  for (int pass = 0; pass < 2; ++pass) {
    std::vector<Complex> excess = leak(row);
    excess.back() -= 1.0;
    solve(excess);
    remove(excess, row);
  }
  // The Gram matrix squares the condition number: about one row in a hundred needs the longer way.
  if (!(largest_leak(row) <= leakage_)) {
    row = column(visible_.size() - 1);
    make_basis(visible_.size() - 1);
    project(row);
    double norm2 = 0;
    for (const Complex& weight : row) norm2 += std::norm(weight);
    for (Complex& weight : row) weight = std::conj(weight) / norm2;
  }
  const double centre = static_cast<double>(bucket_[sorted] - start) + offset_[sorted];
  const double angle = -std::numbers::pi * centre * static_cast<double>(lines_.taps - 1) / static_cast<double>(lines_.buckets);
  append_weights(start, row, std::polar(1 / norms_.back(), angle), data);
}

std::vector<std::complex<double>> FlatRecovery::column(std::size_t v) const {
  std::vector<Complex> values;
  const std::size_t r = lines_.delays.size();
  for (std::size_t q = 0; q < index(lines_.row_buckets); ++q) {
    for (std::size_t l = 0; l < r; ++l) {
      values.push_back(shapes_[v * index(lines_.row_buckets) + q] * turns_[visible_[v] * r + l]);
    }
  }
  return values;
}

/// How much a row reads of the columns that it should not, relative to its own.
double FlatRecovery::largest_leak(const std::vector<Complex>& row) {
  const std::vector<Complex> reads = leak(row);
  double largest = 0;
  for (std::size_t v = 0; v + 1 < reads.size(); ++v) {
    largest = std::max(largest, std::abs(reads[v]) * norms_[v] / norms_.back());
  }
  return largest;
}

/// An orthonormal basis of the first `count` columns by Gram–Schmidt, large ones first.
void FlatRecovery::make_basis(std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return norms_[a] > norms_[b]; });
  basis_.clear();
  for (const std::size_t v : order) {
    std::vector<Complex> vector = column(v);
    project(vector);
    double norm2 = 0;
    for (const Complex& value : vector) norm2 += std::norm(value);
    if (norm2 <= kRounding * kRounding) continue;
    for (Complex& value : vector) value /= std::sqrt(norm2);
    basis_.push_back(std::move(vector));
  }
}

/// Removes from a column what lies in the basis. Twice is enough (Giraud, Langou and Rozložník 2005).
void FlatRecovery::project(std::vector<Complex>& vector) const {
  for (int pass = 0; pass < 2; ++pass) {
    for (const auto& other : basis_) {
      Complex overlap = 0;
      for (std::size_t l = 0; l < vector.size(); ++l) overlap += std::conj(other[l]) * vector[l];
      for (std::size_t l = 0; l < vector.size(); ++l) vector[l] -= overlap * other[l];
    }
  }
}

std::int64_t FlatRecovery::append_probes(std::int64_t start, std::int64_t count, std::uint64_t seed,
                                         FlatPlanData& data) {
  if (!load(start, -1)) return 0;
  make_basis(visible_.size());
  const std::size_t size = index(lines_.row_buckets) * lines_.delays.size();
  count = std::min(count, static_cast<std::int64_t>(size - visible_.size()));
  std::mt19937_64 generator(seed);
  // Not a standard distribution: those differ between libraries, and plans should not.
  const auto uniform = [&] { return static_cast<double>(generator() >> 11) * 0x1p-52 - 1; };
  for (std::int64_t i = 0; i < count; ++i) {
    std::vector<Complex> row(size);
    for (Complex& weight : row) {
      const double re = uniform();
      weight = {re, uniform()};
    }
    project(row);
    double norm2 = 0;
    for (const Complex& weight : row) norm2 += std::norm(weight);
    for (Complex& weight : row) weight /= std::sqrt(norm2);
    // The next ones are orthogonal to it, so that their readings are independent.
    basis_.push_back(row);
    for (Complex& weight : row) weight = std::conj(weight);
    append_weights(start, row, 1.0, data);
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
