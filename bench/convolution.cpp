// SPDX-License-Identifier: Apache-2.0
// Convolutions of one real signal on one core, against FFTW's transforms of the whole, padded signal with a
// product between them.
//   bench_convolution [--repeat N] [--out FILE.json]
// Times are medians of CPU times of the thread, because other programs may run. Runs of the two alternate.
#include <fftw3.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "bench/command_line.hpp"
#include "bench/result_file.hpp"
#include "bench/timing.hpp"
#include "kernels/base/math/smooth.hpp"
#include "sfft/dense_convolution.hpp"
#include "sfft_commit.hpp"

namespace {

using namespace sfft;
using nlohmann::json;

/// The best that FFTW does by hand: real transforms of the next length that it likes, FFTW_MEASURE, memory of
/// its own, and the kernel transformed in advance.
class FftwConvolution {
 public:
  FftwConvolution(const Shape& shape, const Shape& taps, const std::vector<float>& kernel) : shape_(shape) {
    std::vector<int> sides;
    std::size_t points = 1;
    for (int d = 0; d < shape.rank(); ++d) {
      std::int64_t side = shape[d] + taps[d] - 1;
      while (!detail::is_smooth(side, 7)) ++side;
      sides.push_back(static_cast<int>(side));
      points *= static_cast<std::size_t>(side);
    }
    pitch_ = sides.back();
    values_ = points / static_cast<std::size_t>(pitch_) * static_cast<std::size_t>(pitch_ / 2 + 1);
    signal_ = fftwf_alloc_real(points);
    spectrum_ = fftwf_alloc_complex(values_);
    forward_ = fftwf_plan_dft_r2c(shape.rank(), sides.data(), signal_, spectrum_, FFTW_MEASURE);
    inverse_ = fftwf_plan_dft_c2r(shape.rank(), sides.data(), spectrum_, signal_, FFTW_MEASURE);
    points_ = points;
    fill(kernel, taps);
    fftwf_execute(forward_);
    for (std::size_t i = 0; i < values_; ++i)
      kernel_.emplace_back(spectrum_[i][0] / static_cast<float>(points),
                           spectrum_[i][1] / static_cast<float>(points));
  }
  ~FftwConvolution() {
    fftwf_destroy_plan(forward_);
    fftwf_destroy_plan(inverse_);
    fftwf_free(signal_);
    fftwf_free(spectrum_);
  }
  FftwConvolution(const FftwConvolution&) = delete;
  FftwConvolution& operator=(const FftwConvolution&) = delete;

  void run(const std::vector<float>& x) {
    fill(x, shape_);
    fftwf_execute(forward_);
    auto* const spectrum = reinterpret_cast<float*>(spectrum_);
    for (std::size_t i = 0; i < values_; ++i) {
      const float re = spectrum[2 * i], im = spectrum[2 * i + 1];
      spectrum[2 * i] = re * kernel_[i].real() - im * kernel_[i].imag();
      spectrum[2 * i + 1] = re * kernel_[i].imag() + im * kernel_[i].real();
    }
    fftwf_execute(inverse_);
  }
  float at(std::int64_t row, std::int64_t column) const { return signal_[row * pitch_ + column]; }

 private:
  void fill(const std::vector<float>& x, const Shape& shape) {
    std::fill_n(signal_, points_, 0.0F);
    const std::int64_t columns = shape[shape.rank() - 1];
    for (std::int64_t row = 0; row < shape.points() / columns; ++row)
      std::copy_n(x.data() + row * columns, columns, signal_ + row * pitch_);
  }

  Shape shape_;
  std::int64_t pitch_ = 0;
  std::size_t values_ = 0, points_ = 0;
  float* signal_ = nullptr;
  fftwf_complex* spectrum_ = nullptr;
  fftwf_plan forward_ = nullptr, inverse_ = nullptr;
  std::vector<std::complex<float>> kernel_;
};

void add_row(json& rows, const Shape& shape, const Shape& taps, int repeat) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  const auto drawn = [&](const Shape& one) {
    std::vector<float> x(static_cast<std::size_t>(one.points()));
    for (float& value : x) value = normal(random);
    return x;
  };
  const std::vector<float> x = drawn(shape), kernel = drawn(taps);
  const dense::ConvolutionPlan<float> plan(shape, Domain::real, SignalView(kernel, taps));
  FftwConvolution fftw(shape, taps, kernel);
  std::vector<float> y(plan.result_points());
  Workspace workspace = plan.make_workspace();
  std::vector<double> us, fftw_us;
  for (int i = 0; i < repeat; ++i) {
    us.push_back(bench::thread_cpu_us([&] { plan.forward(x, y, workspace.host()); }));
    fftw_us.push_back(bench::thread_cpu_us([&] { fftw.run(x); }));
  }
  const int last = shape.rank() - 1;
  const std::int64_t columns = shape[last] + taps[last] - 1;
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const auto theirs = static_cast<double>(fftw.at(at / columns, at % columns));
    difference += std::pow(static_cast<double>(y[i]) - theirs, 2);
    norm += theirs * theirs;
  }
  const double ours = bench::median(us), theirs = bench::median(fftw_us);
  rows.push_back({{"shape", shape.to_string()},
                  {"taps", taps.to_string()},
                  {"us", ours},
                  {"fftw_us", theirs},
                  {"ratio", theirs / ours},
                  {"relative_l2_to_fftw", std::sqrt(difference / norm)},
                  {"plan", plan.reason()}});
  fmt::print("{}\n", rows.back().dump());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    int repeat = 15;
    std::string out;
    bench::parse_options(argc, argv, {{"--repeat", repeat}, {"--out", out}});
    json file = bench::result_file(SFFT_COMMIT, bench::joined(argc, argv));
    json& rows = file["rows"];
    for (const std::int64_t taps : {65, 4097, 65537}) add_row(rows, Shape(1 << 20), Shape(taps), repeat);
    for (const std::int64_t taps : {9, 63, 511}) add_row(rows, Shape{2048, 2048}, Shape{taps, taps}, repeat);
    bench::write_json(out, file);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
