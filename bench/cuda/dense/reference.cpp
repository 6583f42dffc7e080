// SPDX-License-Identifier: Apache-2.0
// The reference is cuFFT in double on the same values. Direct sums at a few outputs check the reference
// itself.
#include "bench/cuda/dense/reference.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "bench/cuda/dense/kernels.hpp"

namespace sfft::bench {

namespace {

constexpr double kTiny = 1e-28;
constexpr int kDirectSums = 16;

PeerProblem in_double(PeerProblem problem) {
  problem.double_precision = true;
  problem.in_place = !problem.real;
  return problem;
}

/// The number of reals in the input. A complex number counts as two.
std::int64_t input_reals(const PeerProblem& problem) {
  return static_cast<std::int64_t>(problem.input_bytes() / (problem.double_precision ? 8 : 4));
}

template <class Real>
void fill_spectrum(const PeerProblem& problem, Real* out) {
  PeerProblem forward = in_double(problem);
  forward.inverse = false;
  const DeviceBuffer signal(forward.signal_bytes());
  fill_random(signal.as<double>(), forward.batch * forward.points());
  const auto peer = make_cufft(forward);
  peer->load(signal.data(), nullptr);
  peer->enqueue(nullptr);
  // The scale gives the spectrum's values the size of the signal's.
  const double scale = 1 / std::sqrt(static_cast<double>(problem.points()));
  convert(static_cast<const double*>(peer->result()), out, input_reals(problem), scale, nullptr);
  gpu(cudaDeviceSynchronize());
}

template <class Real>
void fill_input(const PeerProblem& problem, Real* out) {
  if (problem.real && problem.inverse) return fill_spectrum(problem, out);
  fill_random(out, input_reals(problem));
}

/// Linear indices into the output batch. The first is omitted, because it would outweigh the others if the
/// mean is not zero.
std::vector<std::int64_t> output_positions(const PeerProblem& problem) {
  const std::int64_t each = problem.inverse ? problem.points() : problem.spectrum_points();
  const std::int64_t total = each * problem.batch;
  std::mt19937_64 random(17);
  std::vector<std::int64_t> positions{1, total - 1};
  while (positions.size() < kDirectSums)
    positions.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(total)));
  return positions;
}

/// Returns one output as a complex number. Real outputs have imaginary part 0.
template <class Real>
std::complex<double> output_at(const PeerProblem& problem, const Real* result, std::int64_t pitch,
                               std::int64_t position) {
  const bool real = problem.real && problem.inverse;
  const std::int64_t columns = problem.output_row_reals() / (real ? 1 : 2);
  const Real* at = result + position / columns * pitch + position % columns * (real ? 1 : 2);
  const auto value = download(at, real ? 1 : 2);
  return {static_cast<double>(value[0]), real ? 0.0 : static_cast<double>(value.back())};
}

}  // namespace

DenseInput::DenseInput(const DenseCase& what) : samples_(what.input_bytes()) {
  const PeerProblem& problem = what.problem;
  const std::int64_t reals = input_reals(problem);
  if (what.input == ElementType::u8) {
    fill_random(samples_.as<std::uint8_t>(), reals);
    floats_ = DeviceBuffer(problem.input_bytes());
    convert(samples_.as<std::uint8_t>(), floats_.as<float>(), reals, 1.0, nullptr);
  } else if (problem.double_precision) {
    fill_input(problem, samples_.as<double>());
  } else {
    fill_input(problem, samples_.as<float>());
  }
  tiny_ = DeviceBuffer(problem.input_bytes());
  if (problem.double_precision) {
    convert(static_cast<const double*>(of_peers()), tiny_.as<double>(), reals, kTiny, nullptr);
  } else {
    convert(static_cast<const float*>(of_peers()), tiny_.as<float>(), reals, kTiny, nullptr);
  }
  gpu(cudaDeviceSynchronize());
}

int repetitions_in_place(const PeerProblem& problem) {
  // A transform multiplies the root mean square by sqrt(N). This many transforms take it from 1e-28 to 1e28.
  const double decades = 0.5 * std::log10(static_cast<double>(problem.points()));
  return std::max(1, static_cast<int>(-2 * std::log10(kTiny) / decades));
}

Reference::Reference(const PeerProblem& problem, const DenseInput& input)
    : problem_(problem), exact_(make_cufft(in_double(problem))), positions_(output_positions(problem)) {
  const void* wide = input.of_peers();
  if (problem.double_precision) {
    sums_ = direct_sums(problem, static_cast<const double*>(wide), positions_);
  } else {
    const auto* floats = static_cast<const float*>(wide);
    sums_ = direct_sums(problem, floats, positions_);
    widened_ = DeviceBuffer(2 * problem.input_bytes());
    convert(floats, widened_.as<double>(), input_reals(problem), 1.0, nullptr);
    wide = widened_.data();
  }
  exact_->load(wide, nullptr);
  exact_->enqueue(nullptr);
  gpu(cudaDeviceSynchronize());
}

template <class Real>
double Reference::direct_error(const Real* result, std::int64_t pitch) const {
  double error = 0, norm = 0;
  for (std::size_t i = 0; i < positions_.size(); ++i) {
    error += std::norm(output_at(problem_, result, pitch, positions_[i]) - sums_[i]);
    norm += std::norm(sums_[i]);
  }
  return std::sqrt(error / norm);
}

double Reference::direct_error() const {
  return direct_error(static_cast<const double*>(exact_->result()), exact_->result_pitch());
}

Accuracy Reference::accuracy(const void* result, std::int64_t pitch) const {
  const auto* truth = static_cast<const double*>(exact_->result());
  const std::int64_t row = problem_.output_row_reals(), rows = problem_.output_rows();
  const auto compare = [&](const auto* got) {
    const Difference found = difference(got, pitch, truth, row, rows);
    const double mean_square = found.reference_squares / static_cast<double>(row * rows);
    return Accuracy{std::sqrt(found.squares / found.reference_squares),
                    found.largest / std::sqrt(mean_square), direct_error(got, pitch)};
  };
  return problem_.double_precision ? compare(static_cast<const double*>(result))
                                   : compare(static_cast<const float*>(result));
}

double Reference::tolerance(const PeerProblem& problem) {
  return problem.double_precision ? 1e-14 : 3e-6;
}

}  // namespace sfft::bench
