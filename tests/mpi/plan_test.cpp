// SPDX-License-Identifier: Apache-2.0
// Distributed transforms against direct sums in double, and large ones against a dense plan of one process.
#include <gtest/gtest.h>

#include <stop_token>

#include "sfft/mpi.hpp"
#include "sfft/sfft.hpp"
#include "tests/mpi/parts.hpp"
#include "tests/support/direct_dft.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::mpi {
namespace {

using test::part_of;
using test::relative_l2;

const std::vector<Shape> kShapes{{6, 5, 4},   {8, 8, 8}, {1, 7, 3},  {16, 2, 3}, {2, 3, 16}, {5, 1, 9},
                                 {13, 11, 7}, {3, 4, 1}, {1, 1, 1},  {4, 6},     {1, 9},     {9, 1},
                                 {17, 32},    {2, 2},    {10, 3, 2}, {12, 10, 9}};

std::vector<Engine> engines() {
  std::vector<Engine> all{Engine::built_in};
  if (availability(Engine::fftw)) all.push_back(Engine::fftw);
  return all;
}

/// The half spectrum of a real signal, or the whole one of a complex signal.
std::vector<std::complex<double>> reference(const Shape& shape,
                                            const std::vector<std::complex<double>>& signal, bool real) {
  const std::vector<std::complex<double>> whole = test::direct_dft(signal, shape.extents());
  if (!real) return whole;
  const std::int64_t last = shape[shape.rank() - 1];
  std::vector<std::complex<double>> half;
  for (std::int64_t row = 0; row < shape.points() / last; ++row)
    half.insert(half.end(), whole.begin() + row * last, whole.begin() + row * last + last / 2 + 1);
  return half;
}

template <class Real, class Signal>
void check(const Communicator& world, const Shape& shape, const Options& options) {
  const bool real = std::is_same_v<Signal, Real>;
  SCOPED_TRACE(shape.to_string() + (real ? " real " : " complex ") + to_string(options.engine) + " " +
               to_string(options.decomposition) + " rank " + std::to_string(world.rank()));
  const Plan<Real> plan(world, shape, real ? Domain::real : Domain::complex, options);
  SCOPED_TRACE(plan.explain());
  const auto signal = test::random_signal<Signal>(shape);
  const auto exact = reference(shape, test::in_double(signal), real);
  const Box whole_signal = test::whole_box(shape, false);
  const Box whole_spectrum = test::whole_box(shape, real);

  std::vector<Signal> own = part_of(signal, whole_signal, plan.signal_box());
  const std::vector<std::complex<double>> own_exact = part_of(exact, whole_spectrum, plan.spectrum_box());
  std::vector<std::complex<Real>> spectrum(own_exact.size());
  plan.forward(std::span<const Signal>(own), std::span<std::complex<Real>>(spectrum));

  // Gathered, so that the error is that of the whole: a part may be next to nothing.
  std::vector<std::complex<Real>> all(world.rank() == 0 ? exact.size() : 0);
  plan.gather_spectrum(spectrum, all);
  const double bound = 2 * test::fft_bound<Real>(static_cast<double>(shape.points()));
  if (world.rank() == 0) {
    EXPECT_LE(relative_l2(test::in_double(all), exact), bound);
  }

  std::vector<Signal> again(own.size());
  plan.inverse(std::span<const std::complex<Real>>(spectrum), std::span<Signal>(again));
  std::vector<Signal> all_again(world.rank() == 0 ? signal.size() : 0);
  plan.gather_signal(again, all_again);
  if (world.rank() == 0) {
    EXPECT_LE(relative_l2(all_again, signal), 2 * bound);
  }
}

/// FFTW's transposed transforms have no plans where one of the two dimensions has one element.
bool refused_by_fftw(const Communicator& world, const Shape& shape, const Options& options) {
  if (options.engine != Engine::fftw || (shape[0] > 1 && shape[1] > 1)) return false;
  EXPECT_THROW(Plan<float>(world, shape, Domain::real, options), Error);
  EXPECT_THROW(Plan<double>(world, shape, Domain::complex, options), Error);
  return true;
}

template <class Real>
void check_all(const Communicator& world) {
  for (const Shape& shape : kShapes) {
    for (const Engine engine : engines()) {
      for (const Decomposition decomposition :
           {Decomposition::automatic, Decomposition::slabs, Decomposition::pencils}) {
        const bool pencils = decomposition == Decomposition::pencils;
        if (pencils && (shape.rank() < 3 || engine != Engine::built_in)) continue;
        Options options;
        options.engine = engine;
        options.decomposition = decomposition;
        if (refused_by_fftw(world, shape, options)) continue;
        check<Real, Real>(world, shape, options);
        check<Real, std::complex<Real>>(world, shape, options);
      }
    }
  }
}

TEST(MpiPlan, FloatEqualsDirectSums) {
  check_all<float>(Communicator::world());
}

TEST(MpiPlan, DoubleEqualsDirectSums) {
  check_all<double>(Communicator::world());
}

TEST(MpiPlan, CufftMpEqualsDirectSums) {
  const Communicator world = Communicator::world();
  const std::string missing = availability(Engine::cufftmp).reason + sfft::availability(Device::gpu()).reason;
  if (!missing.empty()) GTEST_SKIP() << missing;
  Options options;
  options.engine = Engine::cufftmp;
  const std::int64_t n = world.size();
  try {
    Plan<float>(world, {n, n, 2}, Domain::real, options);
  } catch (const Error& error) {
    if (std::string(error.what()).find("a GPU for every process") == std::string::npos) throw;
    GTEST_SKIP() << error.what();
  }
  for (const Shape& shape : {Shape{4 * n, 6 * n, 8}, Shape{2 * n, 2 * n, 30}, Shape{12 * n, 5 * n, 2}}) {
    check<float, float>(world, shape, options);
    check<float, std::complex<float>>(world, shape, options);
    check<double, double>(world, shape, options);
    check<double, std::complex<double>>(world, shape, options);
  }
  check<float, std::complex<float>>(world, {8 * n, 9 * n}, options);
  check<double, double>(world, {8 * n, 2 * (3 * n - 1)}, options);  // 3n columns of the half spectrum
  options.decomposition = Decomposition::slabs;
  EXPECT_THROW(Plan<float>(world, {4 * n, 4 * n, 7}, Domain::real, options),
               Error);  // an odd row of real values
  if (n > 1) {
    EXPECT_THROW(Plan<float>(world, {4 * n + 1, 4 * n, 8}, Domain::complex, options), Error);
  }
}

TEST(MpiPlan, EveryGridOfPencils) {
  const Communicator world = Communicator::world();
  for (int p = 1; p <= world.size(); ++p) {
    if (world.size() % p != 0) continue;
    Options options;
    options.grid = {p, 0};
    check<double, double>(world, {7, 6, 10}, options);
    options.grid = {0, p};
    check<double, std::complex<double>>(world, {3, 12, 5}, options);
  }
}

TEST(MpiPlan, EveryNormalization) {
  const Communicator world = Communicator::world();
  const Shape shape{6, 8, 5};
  const double n = 6 * 8 * 5;
  const std::vector<std::pair<dense::Options::Normalization, double>> factors{
      {dense::Options::Normalization::none, 1},
      {dense::Options::Normalization::inverse_by_n, 1},
      {dense::Options::Normalization::forward_by_n, 1 / n},
      {dense::Options::Normalization::unitary, 1 / std::sqrt(n)}};
  for (const Engine engine : engines()) {
    for (const auto& [normalization, factor] : factors) {
      Options options;
      options.engine = engine;
      options.normalization = normalization;
      const Plan<double> plan(world, shape, Domain::real, options);
      const std::vector<double> ones(static_cast<std::size_t>(plan.signal_box().points()), 1.0);
      std::vector<std::complex<double>> spectrum(static_cast<std::size_t>(plan.spectrum_box().points()));
      plan.forward(std::span<const double>(ones), spectrum);
      const Box box = plan.spectrum_box();
      const bool has_zero = box.points() > 0 && box.begin == std::array<std::int64_t, 3>{0, 0, 0};
      if (has_zero) {
        EXPECT_NEAR(spectrum[0].real(), n * factor, 1e-12 * n);
      }
      std::vector<double> back(ones.size());
      plan.inverse(spectrum, std::span<double>(back));
      const double expected = normalization == dense::Options::Normalization::none ? n : 1;
      for (const double value : back) EXPECT_NEAR(value, expected, 1e-12 * n);
    }
  }
}

TEST(MpiPlan, LargerOnesEqualADensePlan) {
  const Communicator world = Communicator::world();
  for (const Shape& shape : {Shape{64, 60, 48}, Shape{31, 100, 37}, Shape{300, 512}}) {
    for (const Decomposition decomposition : {Decomposition::slabs, Decomposition::pencils}) {
      if (shape.rank() == 2 && decomposition == Decomposition::pencils) continue;
      Options options;
      options.decomposition = decomposition;
      options.threads = 2;
      const Plan<float> plan(world, shape, Domain::real, options);
      const auto signal = test::random_signal<float>(shape);
      std::vector<std::complex<double>> exact(
          static_cast<std::size_t>(test::whole_box(shape, true).points()));
      dense::Plan<double>(shape, Domain::real).forward(SignalView(signal, shape), exact);
      const auto own = part_of(signal, test::whole_box(shape, false), plan.signal_box());
      const auto own_exact = part_of(exact, test::whole_box(shape, true), plan.spectrum_box());
      std::vector<std::complex<float>> spectrum(own_exact.size());
      plan.forward(std::span<const float>(own), spectrum);
      EXPECT_LE(relative_l2(test::in_double(spectrum), own_exact),
                2 * test::fft_bound<float>(static_cast<double>(shape.points())));
    }
  }
}

TEST(MpiPlan, GoesOnWhenOneProcessIsToStop) {
  const Communicator world = Communicator::world();
  std::stop_source source;
  if (world.rank() == 0) source.request_stop();
  run_with_control(source.get_token(), {}, [&] {
    check<float, std::complex<float>>(world, Shape{24, 32}, {.engine = Engine::built_in});
    check<double, double>(world, Shape{12, 10, 9}, {.engine = Engine::built_in});
  });
}

TEST(MpiPlan, TheFastestIsMeasured) {
  const Communicator world = Communicator::world();
  Options options;
  options.planning = dense::Options::Planning::measure;
  const Plan<float> plan(world, {24, 20, 16}, Domain::complex, options);
  EXPECT_NE(plan.explain().find("measured: "), std::string::npos) << plan.explain();
  EXPECT_NE(plan.reason().find("fastest"), std::string::npos);
  check<float, float>(world, {24, 20, 16}, options);
}

TEST(MpiPlan, ExplainsItsChoice) {
  const Communicator world = Communicator::world();
  const Plan<double> slabs(world, {64, 64, 64}, Domain::complex);
  EXPECT_EQ(slabs.decomposition(), Decomposition::slabs);
  EXPECT_EQ(slabs.grid(), (std::array<int, 2>{world.size(), 1}));
  EXPECT_NE(slabs.reason().find("one exchange"), std::string::npos) << slabs.reason();
  const Plan<double> pencils(world, {1, 64, 64}, Domain::complex);
  EXPECT_EQ(pencils.decomposition(), world.size() == 1 ? Decomposition::slabs : Decomposition::pencils);
  EXPECT_EQ(pencils.engine(), Engine::built_in);
  std::int64_t points = 0;
  for (int rank = 0; rank < world.size(); ++rank) points += pencils.spectrum_box(rank).points();
  EXPECT_EQ(points, 64 * 64);
}

}  // namespace
}  // namespace sfft::mpi
