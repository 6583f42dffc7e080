// SPDX-License-Identifier: Apache-2.0
// FFTW plans with FFTW_ESTIMATE on all threads. Direct sums take twiddle factors from a table of exactly
// reduced angles.
#include "bench/technologies/reference.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>

#include "bench/technologies/fftw_api.hpp"

namespace sfft::technologies {

namespace {

using Wide = std::complex<double>;

/// The random number of an index, so that every signal is a prefix of the same sequence.
float uniform(std::uint64_t index) {
  std::uint64_t x = (index + 1) * 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  x ^= x >> 31;
  return static_cast<float>(x >> 40) * 0x1p-23F - 1.0F;
}

std::vector<Wide> roots_of(std::int64_t length) {
  std::vector<Wide> roots(static_cast<std::size_t>(length));
  for (std::int64_t i = 0; i < length; ++i) {
    const double turn = 2 * std::acos(-1.0) * static_cast<double>(i) / static_cast<double>(length);
    roots[static_cast<std::size_t>(i)] = {std::cos(turn), -std::sin(turn)};
  }
  return roots;
}

/// Transforms `count` values, `stride` apart, in place by the definition.
void sum_directly(Wide* values, std::int64_t count, std::int64_t stride) {
  const std::vector<Wide> roots = roots_of(count);
  std::vector<Wide> sums(static_cast<std::size_t>(count));
  for (std::int64_t f = 0; f < count; ++f) {
    Wide sum = 0;
    for (std::int64_t t = 0; t < count; ++t)
      sum += values[t * stride] * roots[static_cast<std::size_t>(f * t % count)];
    sums[static_cast<std::size_t>(f)] = sum;
  }
  for (std::int64_t f = 0; f < count; ++f) values[f * stride] = sums[static_cast<std::size_t>(f)];
}

/// With t = columns t1 + t2 and f = f1 + rows f2: sums over t1, twiddle factors, then sums over t2.
void transform(Wide* values, int bits) {
  constexpr int kDirectBits = 9;
  const std::int64_t length = std::int64_t{1} << bits;
  if (bits <= kDirectBits) return sum_directly(values, length, 1);
  const std::int64_t rows = std::int64_t{1} << (bits / 2), columns = length / rows;
  const std::vector<Wide> roots = roots_of(length);
  for (std::int64_t t2 = 0; t2 < columns; ++t2) {
    sum_directly(values + t2, rows, columns);
    for (std::int64_t f1 = 0; f1 < rows; ++f1)
      values[f1 * columns + t2] *= roots[static_cast<std::size_t>(f1 * t2)];
  }
  for (std::int64_t f1 = 0; f1 < rows; ++f1) sum_directly(values + f1 * columns, columns, 1);
  std::vector<Wide> ordered(static_cast<std::size_t>(length));
  for (std::int64_t f1 = 0; f1 < rows; ++f1) {
    for (std::int64_t f2 = 0; f2 < columns; ++f2)
      ordered[static_cast<std::size_t>(f1 + rows * f2)] = values[f1 * columns + f2];
  }
  std::copy(ordered.begin(), ordered.end(), values);
}

void transpose(std::vector<Wide>& values, std::int64_t length) {
  for (std::int64_t y = 0; y < length; ++y) {
    for (std::int64_t x = 0; x < y; ++x)
      std::swap(values[static_cast<std::size_t>(y * length + x)],
                values[static_cast<std::size_t>(x * length + y)]);
  }
}

}  // namespace

std::vector<Wide> direct_spectrum(const Problem& problem, const Complex* signal) {
  constexpr std::int64_t kMax = std::int64_t{1} << 20;
  if (problem.points() > kMax)
    throw Failure("the reference of " + problem.name() + " needs FFTW in double precision");
  std::vector<Wide> values(signal, signal + problem.points());
  const auto rows = [&] {
    for (std::int64_t at = 0; at < problem.points(); at += problem.length())
      transform(values.data() + at, problem.bits);
  };
  rows();
  if (problem.rank == 2) {
    transpose(values, problem.length());
    rows();
    transpose(values, problem.length());
  }
  return values;
}

std::int64_t Material::bytes(const std::vector<Problem>& problems) {
  std::int64_t longest = 0, total = 0;
  for (const Problem& problem : problems) {
    longest = std::max(longest, problem.points());
    total += problem.points() * static_cast<std::int64_t>(sizeof(Wide));
  }
  return total + longest * static_cast<std::int64_t>(sizeof(Complex));
}

Material::Material(std::vector<Problem> problems) : problems_(std::move(problems)) {
  std::size_t points = 0;
  for (const Problem& problem : problems_) {
    offsets_.push_back(points);
    points += static_cast<std::size_t>(problem.points());
  }
  mapped_bytes_ = static_cast<std::size_t>(bytes(problems_));
  mapped_ =
      mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped_ == MAP_FAILED) throw Failure("no memory for the references");
  spectra_ = static_cast<Wide*>(mapped_);
  signal_ = reinterpret_cast<Complex*>(spectra_ + points);
}

Material::~Material() {
  munmap(mapped_, mapped_bytes_);
}

void Material::fill_signal() {
  std::int64_t longest = 0;
  for (const Problem& problem : problems_) longest = std::max(longest, problem.points());
  for (std::int64_t i = 0; i < longest; ++i) {
    const auto index = static_cast<std::uint64_t>(i);
    signal_[i] = {uniform(2 * index), uniform(2 * index + 1)};
  }
}

void Material::fill_spectrum(std::size_t number) {
  const Problem& problem = problems_.at(number);
  Wide* spectrum = spectra_ + offsets_[number];
  try {
    static const FftwApi<double> fftw(host_threads());
    std::copy_n(signal_, problem.points(), spectrum);
    auto* values = reinterpret_cast<double*>(spectrum);
    const auto plan =
        fftw.plan(problem, values, values, true);  // in place; FFTW_ESTIMATE does not overwrite the values
    fftw.execute(plan, values, values);
    fftw.destroy(plan);
  } catch (const Failure&) {
    const std::vector<Wide> sums = direct_spectrum(problem, signal_);
    std::copy(sums.begin(), sums.end(), spectrum);
  }
}

double Material::error(std::size_t number, bool inverse, const Complex* computed) const {
  const Problem& problem = problems_.at(number);
  const Wide* spectrum = spectra_ + offsets_[number];
  const std::int64_t length = problem.length(), points = problem.points();
  double difference = 0, norm = 0;
  for (std::int64_t i = 0; i < points; ++i) {
    Wide wanted = spectrum[i];
    if (inverse) {
      // The inverse transform is the forward one at the negated frequency, scaled.
      const std::int64_t row = i / length, column = (length - i % length) % length;
      const std::int64_t source = problem.rank == 2 ? (length - row) % length : row;
      const double scale = 1.0 / static_cast<double>(problem.rank == 2 ? points : length);
      wanted = spectrum[source * length + column] * scale;
    }
    difference += std::norm(Wide(computed[i]) - wanted);
    norm += std::norm(wanted);
  }
  return std::sqrt(difference / norm);
}

}  // namespace sfft::technologies
