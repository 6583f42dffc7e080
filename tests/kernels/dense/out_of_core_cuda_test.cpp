// SPDX-License-Identifier: Apache-2.0
// Tests out-of-core transforms on a GPU with small budgets against direct sums, and against the plan that
// keeps its arrays on the device.
#include <gtest/gtest.h>

#include <thread>

#include "kernels/cuda/runtime/runtime.hpp"
#include "sfft/dense.hpp"
#include "sfft/page_locked.hpp"
#include "tests/support/dense_device.hpp"
#include "tests/support/dense_reference.hpp"
#include "tests/support/throws.hpp"

namespace sfft::test::out_of_core_cuda_test {
namespace {

using dense::Options;
using dense::Plan;

class OutOfCoreCuda : public GpuTest {};

constexpr std::int64_t kMegabyte = 1 << 20;

/// A negative share: the plan chooses it.
Options with(std::int64_t budget, double share) {
  Options options{.threads = 3, .device = Device::gpu(), .device_memory = budget};
  if (share >= 0) options.host_share = share;
  return options;
}

template <class Real>
void check(const Shape& shape, std::int64_t budget, double share, bool page_locked) {
  SCOPED_TRACE(shape.to_string() + " budget " + std::to_string(budget) + " share " + std::to_string(share));
  using Value = std::complex<Real>;
  const auto points = static_cast<std::size_t>(shape.points());
  const auto signal = as_samples<Value>(random_signal(points, 51));
  const ComplexSignal sums = expected_spectra(signal, shape, false);
  const double bound = 2 * fft_bound<Real>(static_cast<double>(points));
  const Plan<Real> plan(shape, Domain::complex, with(budget, share));
  SCOPED_TRACE(plan.explain());
  std::vector<Value> apart(points), own = signal;
  const std::shared_ptr<std::byte> locked = allocate_page_locked(page_locked ? points * sizeof(Value) : 0);
  Value* const values = page_locked ? reinterpret_cast<Value*>(locked.get()) : own.data();
  std::copy(signal.begin(), signal.end(), values);
  const std::span<Value> in_place(values, points);
  plan.forward(signal.data(), element_type_of<Value>::value, apart);
  EXPECT_LE(relative_l2(apart, sums), bound);
  plan.forward(values, element_type_of<Value>::value, in_place);
  EXPECT_LE(relative_l2(in_place, sums), bound);
  plan.inverse(in_place, in_place);
  EXPECT_LE(relative_l2(in_place, signal), bound);
}

TEST_F(OutOfCoreCuda, EqualsSumsInAnyBudget) {
  for (const Shape& shape : {Shape({64, 96}), Shape({61, 50}), Shape({50, 127}), Shape({2, 300}),
                             Shape({300, 2}), Shape({12, 20, 18}), Shape({13, 1, 31})}) {
    for (const double share : {0.0, 0.4, 1.0, -1.0}) {
      for (const bool page_locked : {false, true}) {
        check<float>(shape, 300'000, share, page_locked);
        check<double>(shape, kMegabyte, share, page_locked);
      }
    }
  }
}

TEST_F(OutOfCoreCuda, EqualsThePlanInDeviceMemoryWithManyPieces) {
  for (const Shape& shape : {Shape({1024, 1536}), Shape({96, 128, 160})}) {
    const auto points = static_cast<std::size_t>(shape.points());
    const auto signal = as_samples<std::complex<float>>(random_signal(points, 52));
    std::vector<std::complex<float>> expected(points), values = signal;
    Plan<float>(shape, Domain::complex, {.device = Device::gpu()})
        .forward(signal.data(), ElementType::c64, expected);
    for (const double share : {0.0, 0.25}) {
      const Plan<float> plan(shape, Domain::complex, with(4 * kMegabyte, share));
      SCOPED_TRACE(plan.explain());
      values = signal;
      plan.forward(values.data(), ElementType::c64, values);
      EXPECT_LE(relative_l2(values, expected), 2 * fft_bound<float>(static_cast<double>(points)));
    }
  }
}

/// Values cross the bus in block16; each trip adds an error of 3e-5 for Gaussian values.
template <class Sample>
void check_packed(const Shape& shape, std::int64_t budget, double share) {
  constexpr bool kReal = std::is_same_v<Sample, float>;
  const auto points = static_cast<std::size_t>(shape.points());
  const auto signal = as_samples<Sample>(random_signal(points, 53));
  const ComplexSignal sums = expected_spectra(signal, shape, kReal);
  Options options = with(budget, share);
  options.exchange = dense::Storage::block16;
  const Plan<float> plan(shape, kReal ? Domain::real : Domain::complex, options);
  SCOPED_TRACE(shape.to_string() + "\n" + plan.explain());
  EXPECT_NE(plan.explain().find("block16"), std::string::npos);
  std::vector<std::complex<float>> spectrum(sums.size());
  plan.forward(signal.data(), element_type_of<Sample>::value, spectrum);
  EXPECT_LE(relative_l2(spectrum, sums), 2e-4);
  EXPECT_GE(relative_l2(spectrum, sums), 5e-6) << "nothing was packed";
  std::vector<Sample> back(points);
  plan.inverse(spectrum, back);
  EXPECT_LE(relative_l2(back, signal), 4e-4);
}

TEST_F(OutOfCoreCuda, PackedValuesKeepFifteenBits) {
  for (const Shape& shape : {Shape({64, 96}), Shape({61, 50}), Shape({50, 126}), Shape({12, 20, 18}),
                             Shape({13, 1, 32}), Shape({256, 320})}) {
    for (const double share : {0.0, 0.4}) {
      check_packed<std::complex<float>>(shape, kMegabyte, share);
      check_packed<float>(shape, kMegabyte, share);
    }
  }
  Options options = with(kMegabyte, 0);
  options.exchange = dense::Storage::block16;
  EXPECT_EQ(code_of([&] {
              Plan<double>(Shape{256, 256}, Domain::complex, options);
            }),
            ErrorCode::invalid_argument);
}

/// Runs on the first GPU named twice and, if there is another one, on both.
TEST_F(OutOfCoreCuda, SeveralGpusShareAnArray) {
  std::vector<std::vector<int>> lists{{0, 0}};
  if (detail::cuda::device_count() > 1) lists.push_back({0, 1});
  const auto check_on = [](const std::vector<int>& devices, const Shape& shape, double share,
                           bool page_locked) {
    SCOPED_TRACE(shape.to_string());
    const auto points = static_cast<std::size_t>(shape.points());
    const auto signal = as_samples<std::complex<float>>(random_signal(points, 59));
    const double bound = 2 * fft_bound<float>(static_cast<double>(points));
    std::vector<std::complex<float>> expected(points), apart(points), own = signal;
    Plan<float>(shape, Domain::complex, {.device = Device::gpu()})
        .forward(signal.data(), ElementType::c64, expected);
    Options options = with(2 * kMegabyte, share);
    options.device = Device::gpus(devices);
    const Plan<float> plan(shape, Domain::complex, options);
    SCOPED_TRACE(plan.explain());
    EXPECT_NE(plan.explain().find("2 × "), std::string::npos);
    const std::shared_ptr<std::byte> locked = allocate_page_locked(page_locked ? points * sizeof(own[0]) : 0);
    auto* const values = page_locked ? reinterpret_cast<std::complex<float>*>(locked.get()) : own.data();
    std::copy(signal.begin(), signal.end(), values);
    const std::span<std::complex<float>> in_place(values, points);
    plan.forward(values, ElementType::c64, apart);
    EXPECT_LE(relative_l2(apart, expected), bound);
    plan.forward(values, ElementType::c64, in_place);
    EXPECT_LE(relative_l2(in_place, expected), bound);
    plan.inverse(in_place, in_place);
    EXPECT_LE(relative_l2(in_place, signal), bound);
  };
  for (const auto& devices : lists) {
    for (const Shape& shape :
         {Shape({1024, 768}), Shape({60, 100, 126}), Shape({7, 512, 300}), Shape(std::int64_t{1} << 20)}) {
      for (const double share : {0.0, 0.3, -1.0})
        for (const bool page_locked : {false, true}) check_on(devices, shape, share, page_locked);
    }
    Options options = with(kMegabyte, 0);
    options.device = Device::gpus(devices);
    options.exchange = dense::Storage::block16;
    const Shape shape({256, 1000});
    const std::vector<float> real(256 * 1000, 0.5F);
    std::vector<std::complex<float>> spectrum(256 * 501);
    const Plan<float> packed(shape, Domain::real, options);
    packed.forward(real.data(), ElementType::f32, spectrum);
    EXPECT_NEAR(spectrum[0].real(), 128000, 128000 * 2e-4) << packed.explain();
    options.planning = dense::Options::Planning::measure;
    options.exchange = dense::Storage::f32;
    const Plan<float> measured(shape, Domain::real, options);
    measured.forward(real.data(), ElementType::f32, spectrum);
    EXPECT_NEAR(spectrum[0].real(), 128000, 1) << measured.explain();
    EXPECT_NEAR(std::abs(spectrum[777]), 0, 1);
  }
}

TEST_F(OutOfCoreCuda, StaysWithinItsBudgetAndGivesItBack) {
  const Shape shape({256, 512});
  const std::int64_t before = detail::cuda::allocated_bytes();
  {
    const Plan<double> plan(shape, Domain::complex, with(kMegabyte, 0));
    const std::shared_ptr<std::byte> locked =
        allocate_page_locked(static_cast<std::size_t>(shape.points()) * sizeof(std::complex<double>));
    const std::span values(reinterpret_cast<std::complex<double>*>(locked.get()),
                           static_cast<std::size_t>(shape.points()));
    std::fill(values.begin(), values.end(), 1.0);
    const std::int64_t with_array = detail::cuda::allocated_bytes();
    plan.forward(values.data(), ElementType::c128, values);
    EXPECT_LE(detail::cuda::allocated_bytes() - with_array, kMegabyte);
  }
  EXPECT_EQ(detail::cuda::allocated_bytes(), before);
}

TEST_F(OutOfCoreCuda, AnyThreadRecognisesPageLockedMemory) {
  const std::shared_ptr<std::byte> locked = allocate_page_locked(1 << 12);
  bool seen = false;
  std::thread([&] { seen = detail::cuda::mapped_address(locked.get()) != nullptr; }).join();
  EXPECT_TRUE(seen);
}

TEST_F(OutOfCoreCuda, FittingTransformsStayInDeviceMemory) {
  const Shape shape({64, 64});
  const Plan<float> fits(shape, Domain::complex, {.device = Device::gpu(), .device_memory = 64 * kMegabyte});
  EXPECT_GT(fits.engine_name().find("out of core"), fits.engine_name().size());
  const Plan<float> exceeds(shape, Domain::complex, {.device = Device::gpu(), .device_memory = 60'000});
  EXPECT_EQ(exceeds.engine_name().find("out of core"), 0u) << exceeds.engine_name();
  EXPECT_EQ(code_of([&] { Plan<float>(shape, Domain::complex, with(1000, 0)); }), ErrorCode::out_of_memory);
  EXPECT_EQ(code_of([&] { Plan<float>(shape, Domain::real, with(100, 0)); }), ErrorCode::out_of_memory);
}

TEST_F(OutOfCoreCuda, FailedAllocationsLeaveTheArraysAlone) {
  const Shape shape({64, 96});
  const auto signal = as_samples<std::complex<float>>(random_signal(6144, 53));
  for (int n = 1; n < 20; ++n) {
    const Plan<float> plan(shape, Domain::complex,
                           with(200'000, 0.3));  // the plan keeps what a call has allocated
    auto values = signal;
    detail::cuda::fail_allocation(n);
    bool done = false;
    const auto code = code_of([&] {
      plan.forward(values.data(), ElementType::c64, values);
      done = true;
    });
    if (detail::cuda::fail_allocation(0) > 0) break;  // the call needs no more allocations
    if (done) continue;                               // without page-locked memory, ordinary memory serves
    EXPECT_EQ(code, ErrorCode::out_of_memory);
    EXPECT_EQ(values, signal);
  }
}

/// Transforms forward and back, out of place and, if rows have room, in place.
template <class Real>
void check_real(const Shape& shape, std::int64_t batch, bool padded, std::int64_t budget, double share) {
  SCOPED_TRACE(shape.to_string() + " real batch " + std::to_string(batch) + " share " +
               std::to_string(share));
  const std::int64_t row = shape[shape.rank() - 1], pitch = padded ? 2 * (row / 2 + 1) : row,
                     rows = batch * shape.points() / row;
  Options options = with(budget, share);
  options.batch = batch;
  if (padded) {
    std::int64_t stride = pitch;
    options.signal_strides.dims[static_cast<std::size_t>(shape.rank() - 1)] = 1;
    for (int d = shape.rank() - 2; d >= 0; stride *= shape[d--])
      options.signal_strides.dims[static_cast<std::size_t>(d)] = stride;
    options.signal_strides.batch = stride;
  }
  const auto signal = as_samples<Real>(random_signal(static_cast<std::size_t>(rows * row), 54));
  const ComplexSignal sums = expected_spectra(signal, shape, true);
  const double bound = 2 * fft_bound<Real>(static_cast<double>(shape.points()));
  const Plan<Real> plan(shape, Domain::real, options);
  SCOPED_TRACE(plan.explain());
  std::vector<std::complex<Real>> spectrum(plan.spectrum_points());
  std::vector<Real> lying(std::max(static_cast<std::size_t>(rows * pitch), 2 * spectrum.size()), Real(-7));
  for (std::int64_t r = 0; r < rows; ++r)
    std::copy_n(signal.begin() + r * row, row, lying.begin() + r * pitch);
  const auto reals = [&] {
    std::vector<Real> out;
    for (std::int64_t r = 0; r < rows; ++r)
      out.insert(out.end(), lying.begin() + r * pitch, lying.begin() + r * pitch + row);
    return out;
  };
  const auto span = static_cast<std::size_t>((rows - 1) * pitch + row);
  plan.forward(lying.data(), element_type_of<Real>::value, spectrum);
  EXPECT_LE(relative_l2(spectrum, sums), bound);
  plan.inverse(spectrum, std::span(lying).first(span));
  EXPECT_LE(relative_l2(reals(), signal), bound);
  if (!padded) return;
  const std::span in_place(reinterpret_cast<std::complex<Real>*>(lying.data()), spectrum.size());
  plan.forward(lying.data(), element_type_of<Real>::value, in_place);
  EXPECT_LE(relative_l2(std::vector(in_place.begin(), in_place.end()), sums), bound);
  plan.inverse(in_place, std::span(lying).first(span));
  EXPECT_LE(relative_l2(reals(), signal), bound);
}

TEST_F(OutOfCoreCuda, RealTransformsEqualSums) {
  for (const Shape& shape : {Shape({48, 96}), Shape({37, 50}), Shape({30, 33}), Shape({8, 12, 20}),
                             Shape({7, 9, 11}), Shape(4000), Shape(1155)}) {
    for (const bool padded : {false, true}) {
      for (const double share : {0.0, 0.3}) {
        check_real<float>(shape, 1, padded, 200'000, share);
        check_real<double>(shape, 3, padded, 400'000, share);
      }
    }
  }
}

TEST_F(OutOfCoreCuda, LongLinesAndBatchesEqualSums) {
  for (const auto& [shape, batch] :
       {std::pair(Shape(4096), 1), std::pair(Shape(6000), 1), std::pair(Shape(720), 5),
        std::pair(Shape(96), 64), std::pair(Shape({24, 20}), 7), std::pair(Shape({4, 60, 64}), 1),
        std::pair(Shape({4, 6, 10}), 20)}) {
    for (const std::int64_t budget : {60'000, 800'000}) {
      for (const double share : {0.0, 0.4}) {
        SCOPED_TRACE(shape.to_string() + " batch " + std::to_string(batch) + " share " +
                     std::to_string(share));
        Options options = with(budget, share);
        options.batch = batch;
        const auto points = static_cast<std::size_t>(batch * shape.points());
        const auto signal = as_samples<std::complex<float>>(random_signal(points, 55));
        const ComplexSignal sums = expected_spectra(signal, shape, false);
        const double bound = 2 * fft_bound<float>(static_cast<double>(shape.points()));
        const Plan<float> plan(shape, Domain::complex, options);
        SCOPED_TRACE(plan.explain());
        std::vector<std::complex<float>> apart(points), values = signal;
        plan.forward(signal.data(), ElementType::c64, apart);
        EXPECT_LE(relative_l2(apart, sums), bound);
        plan.forward(values.data(), ElementType::c64, values);
        EXPECT_LE(relative_l2(values, sums), bound);
        plan.inverse(values, std::span(values));
        EXPECT_LE(relative_l2(values, signal), bound);
      }
    }
  }
}

/// Long lines, so that there are many pieces, forward and back.
TEST_F(OutOfCoreCuda, LinesApartEqualThePlanInTheDevice) {
  for (const std::int64_t n : {std::int64_t{1} << 20, std::int64_t{3} * 5 * 7 * 4096}) {
    const auto points = static_cast<std::size_t>(n);
    const auto signal = as_samples<std::complex<float>>(random_signal(points, 56));
    const std::vector<float> samples = as_samples<float>(random_signal(points, 57));
    const double bound = 2 * fft_bound<float>(static_cast<double>(n));
    for (const double share : {0.0, 0.25}) {
      const Plan<float> known(Shape(n), Domain::complex, {.device = Device::gpu()}),
          plan(Shape(n), Domain::complex, with(3 * kMegabyte, share));
      SCOPED_TRACE(plan.explain());
      std::vector<std::complex<float>> expected(points), spectrum(points), back(points);
      known.forward(signal.data(), ElementType::c64, expected);
      plan.forward(signal.data(), ElementType::c64, spectrum);
      EXPECT_LE(relative_l2(spectrum, expected), bound);
      plan.inverse(spectrum, std::span(back));
      EXPECT_LE(relative_l2(back, signal), bound);

      const Plan<float> known_real(Shape(n), Domain::real, {.device = Device::gpu()}),
          real_plan(Shape(n), Domain::real, with(3 * kMegabyte, share));
      SCOPED_TRACE(real_plan.explain());
      std::vector<std::complex<float>> half(points / 2 + 1), expected_half(points / 2 + 1);
      std::vector<float> samples_back(points);
      known_real.forward(samples.data(), ElementType::f32, expected_half);
      real_plan.forward(samples.data(), ElementType::f32, half);
      EXPECT_LE(relative_l2(half, expected_half), bound);
      real_plan.inverse(half, std::span(samples_back));
      EXPECT_LE(relative_l2(samples_back, samples), bound);
    }
  }
}

/// Covers strips that wait for each other, and arrays that the device can and cannot read.
TEST_F(OutOfCoreCuda, LinesInPlaceEqualThePlanInTheDevice) {
  for (const std::int64_t n : {std::int64_t{1} << 20, std::int64_t{1} << 21, std::int64_t{15} * 15 * 4096}) {
    const auto points = static_cast<std::size_t>(n);
    const auto signal = as_samples<std::complex<float>>(random_signal(points, 58));
    const double bound = 2 * fft_bound<float>(static_cast<double>(n));
    std::vector<std::complex<float>> expected(points);
    Plan<float>(Shape(n), Domain::complex, {.device = Device::gpu()})
        .forward(signal.data(), ElementType::c64, expected);
    for (const double share : {0.0, -1.0, 0.25}) {
      for (const std::int64_t budget : {n * 4, n * 6, n * 12}) {
        for (const bool page_locked : {false, true}) {
          const Plan<float> plan(Shape(n), Domain::complex, with(budget, share));
          SCOPED_TRACE(plan.explain());
          std::vector<std::complex<float>> own = signal;
          const std::shared_ptr<std::byte> locked =
              allocate_page_locked(page_locked ? points * sizeof(own[0]) : 0);
          auto* const values =
              page_locked ? reinterpret_cast<std::complex<float>*>(locked.get()) : own.data();
          std::copy(signal.begin(), signal.end(), values);
          const std::span<std::complex<float>> in_place(values, points);
          plan.forward(values, ElementType::c64, in_place);
          EXPECT_LE(relative_l2(in_place, expected), bound);
          plan.inverse(in_place, in_place);
          EXPECT_LE(relative_l2(in_place, signal), bound);
        }
      }
    }
  }
}

TEST_F(OutOfCoreCuda, MeasuredSharesAreRemembered) {
  dense::forget_wisdom();
  const Shape shape({256, 512});
  Options options = with(kMegabyte, -1);  // half of what would let it stay on the device
  EXPECT_NE(Plan<float>(shape, Domain::complex, options).reason().find("assumed"), std::string::npos);
  options.planning = dense::Options::Planning::measure;
  EXPECT_NE(Plan<float>(shape, Domain::complex, options).reason().find("measured"), std::string::npos);
  options.planning = dense::Options::Planning::estimate;
  EXPECT_NE(Plan<float>(shape, Domain::complex, options).reason().find("wisdom"), std::string::npos);
  dense::forget_wisdom();
}

}  // namespace
}  // namespace sfft::test::out_of_core_cuda_test
