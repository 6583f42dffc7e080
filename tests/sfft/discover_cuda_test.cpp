// SPDX-License-Identifier: Apache-2.0
// Tests discovery of signals in GPU memory against the truth and against discovery of the same samples on the
// host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <thread>

#include "bench/known_signals.hpp"
#include "kernels/cuda/runtime/runtime.hpp"
#include "sfft/sfft.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/throws.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::discover_cuda_test {
namespace {

using test::code_of;
using test::OnDevice;
using test::SparseSignal;

constexpr double kSingle = 1e-6;
constexpr double kDouble = 1e-12;

class DiscoverGpu : public test::GpuTest {};

template <class T>
DeviceView signal_of(const OnDevice<T>& samples, const Shape& shape) {
  return {samples.get(), element_type_of<T>::value, shape};
}

template <class T>
double rounding() {
  return element_type_of<T>::value == ElementType::f64 || element_type_of<T>::value == ElementType::c128
             ? kDouble
             : kSingle;
}

/// Expects results that differ only by the location of the samples.
void expect_same(const Discovery& gpu, const Discovery& host, double bound) {
  EXPECT_EQ(gpu.spectrum.backend, Backend::cuda);
  EXPECT_EQ(gpu.spectrum.path, host.spectrum.path);
  EXPECT_EQ(gpu.verified, host.verified) << gpu.reason;
  EXPECT_EQ(gpu.spectrum.quality.finite, host.spectrum.quality.finite);
  EXPECT_EQ(gpu.support_learned_densely, host.support_learned_densely);
  EXPECT_EQ(gpu.samples, host.samples);
  EXPECT_EQ(gpu.rounds, host.rounds);
  EXPECT_EQ(gpu.reason, host.reason);
  ASSERT_EQ(*gpu.spectrum.support, *host.spectrum.support);
  EXPECT_LE(test::relative_l2(gpu.spectrum.values, host.spectrum.values), bound);
  EXPECT_LE(std::abs(gpu.spectrum.quality.tail_energy - host.spectrum.quality.tail_energy),
            1e-9 * host.spectrum.quality.tail_energy);
}

/// Discovers on both, compares the results, and returns the GPU's.
template <class T>
Discovery compare(const std::vector<T>& x, const Shape& shape, DiscoverOptions options) {
  options.check =
      DiscoverOptions::Check::scattered;  // in host memory a short signal's energy would be checked as well
  const OnDevice<T> there(x);
  Discovery gpu = discover(signal_of(there, shape), options);
  expect_same(gpu, discover(SignalView(x, shape), options), rounding<T>());
  return gpu;
}

std::vector<std::complex<float>> with_noise(const std::vector<std::complex<double>>& x, double power,
                                            unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal(0, std::sqrt(power / 2));
  std::vector<std::complex<float>> noisy;
  for (const std::complex<double>& sample : x) {
    const double re = sample.real() + normal(generator);
    noisy.emplace_back(static_cast<float>(re), static_cast<float>(sample.imag() + normal(generator)));
  }
  return noisy;
}

std::vector<std::complex<float>> white_noise(std::int64_t count, unsigned seed) {
  return with_noise(std::vector<std::complex<double>>(static_cast<std::size_t>(count)), 2, seed);
}

TEST_F(DiscoverGpu, ComplexSignalsOfAnyShape) {
  for (const Shape& shape : {Shape{65536}, Shape{1 << 20}, Shape{65521}, Shape{50000}, Shape{128, 256},
                             Shape{211, 193}, Shape{32, 48, 40}, Shape{29, 31, 37}}) {
    for (unsigned seed = 1; seed <= 3; ++seed) {
      const SparseSignal signal = SparseSignal::random(shape, false, 12, seed);
      const DiscoverOptions options{.k = 12, .dense_fallback = false, .seed = seed};
      SCOPED_TRACE(shape.to_string());
      for (const bool twice : {false, true}) {
        const Discovery found = twice ? compare(signal.samples(), shape, options)
                                      : compare(signal.as<std::complex<float>>(), shape, options);
        EXPECT_TRUE(found.verified) << found.reason;
        ASSERT_EQ(*found.spectrum.support, signal.support);
        EXPECT_LE(test::relative_l2(found.spectrum.values, signal.values), twice ? kDouble : kSingle);
      }
    }
  }
}

TEST_F(DiscoverGpu, RealSignalsGiveOneOfEachPair) {
  for (const Shape& shape : {Shape{32768}, Shape{32749}, Shape{128, 256}, Shape{32, 32, 48}}) {
    const SparseSignal signal = SparseSignal::random(shape, true, 8, 4);
    const DiscoverOptions options{.k = 8, .dense_fallback = false};
    SCOPED_TRACE(shape.to_string());
    for (const bool twice : {false, true}) {
      const Discovery found =
          twice ? compare(signal.as<double>(), shape, options) : compare(signal.as<float>(), shape, options);
      EXPECT_TRUE(found.verified) << found.reason;
      ASSERT_EQ(found.spectrum.support->size(), signal.support.size());
      std::vector<std::complex<double>> expected;
      for (const std::int64_t f : *found.spectrum.support) {
        const auto own = std::find(signal.support.begin(), signal.support.end(), f);
        const auto pair = std::find(signal.support.begin(), signal.support.end(), test::negated(shape, f));
        const bool stored = own != signal.support.end();
        ASSERT_TRUE(stored || pair != signal.support.end());
        const auto i = static_cast<std::size_t>((stored ? own : pair) - signal.support.begin());
        expected.push_back(stored ? signal.values[i] : std::conj(signal.values[i]));
      }
      EXPECT_LE(test::relative_l2(found.spectrum.values, expected), twice ? kDouble : kSingle);
    }
  }
}

TEST_F(DiscoverGpu, IntegersAreTakenAtFaceValue) {
  // The signal has period 64: all its power is at multiples of N/64.
  const Shape shape{1 << 16};
  std::vector<std::uint8_t> bytes;
  std::vector<std::uint16_t> words;
  for (int i = 0; i < (1 << 16); ++i) {
    bytes.push_back(static_cast<std::uint8_t>(i % 64 < 20 ? 200 : 13));
    words.push_back(static_cast<std::uint16_t>(i % 16 < 5 ? 60000 : 7));
  }
  compare(bytes, shape, {.k = 33, .dense_fallback = false});
  compare(words, shape, {.k = 9, .dense_fallback = false});
}

TEST_F(DiscoverGpu, AnUnknownNumberOfFrequenciesIsFoundOut) {
  for (const std::int64_t k : {1, 7, 60, 400}) {
    const SparseSignal signal = SparseSignal::random(Shape{1 << 18}, false, k, 11);
    SCOPED_TRACE(k);
    const Discovery found =
        compare(signal.as<std::complex<float>>(), signal.shape, {.dense_fallback = false});
    EXPECT_TRUE(found.verified) << found.reason;
    EXPECT_EQ(*found.spectrum.support, signal.support);
  }
}

TEST_F(DiscoverGpu, ReadsFewSamplesWithTheDefaults) {
  const SparseSignal signal = SparseSignal::random(Shape{1 << 20}, false, 50, 4);
  const OnDevice<std::complex<float>> there(signal.as<std::complex<float>>());
  const Discovery found = discover(signal_of(there, signal.shape), {.k = 50});
  EXPECT_TRUE(found.verified) << found.reason;
  EXPECT_EQ(found.spectrum.path, Path::comb);
  EXPECT_EQ(found.spectrum.backend, Backend::cuda);
  EXPECT_LE(found.samples, (1 << 20) / 64);
  EXPECT_EQ(*found.spectrum.support, signal.support);
  EXPECT_LE(test::relative_l2(found.spectrum.values, signal.values), kSingle);
}

TEST_F(DiscoverGpu, LooksLongEnoughForAnUnknownNumber) {
  for (const std::int64_t k : {20, 500}) {
    const SparseSignal signal = SparseSignal::random(Shape{1 << 20}, false, k, 4);
    const OnDevice<std::complex<float>> there(signal.as<std::complex<float>>());
    const Discovery found = discover(signal_of(there, signal.shape));
    EXPECT_FALSE(found.support_learned_densely) << found.reason;
    EXPECT_EQ(*found.spectrum.support, signal.support);
  }
}

TEST_F(DiscoverGpu, NoisySignals) {
  for (const Shape& shape : {Shape{1 << 16}, Shape{256, 512}, Shape{65537}}) {
    for (unsigned seed = 1; seed <= 3; ++seed) {
      const SparseSignal signal = SparseSignal::random(shape, false, 10, seed);
      const auto n = static_cast<double>(shape.points());
      double power = 0;
      for (const auto& value : signal.values) power += std::norm(value) / (n * n);
      const auto x = with_noise(signal.samples(), power / 100, seed);
      SCOPED_TRACE(shape.to_string());
      const Discovery found = compare(x, shape, {.k = 10, .dense_fallback = false});
      EXPECT_TRUE(found.verified) << found.reason;
      EXPECT_EQ(*found.spectrum.support, signal.support);
      // Whether verified or dense, the frequencies are the same.
      const OnDevice<std::complex<float>> there(x);
      EXPECT_EQ(*discover(signal_of(there, shape), {.k = 10}).spectrum.support, signal.support);
    }
  }
}

TEST_F(DiscoverGpu, WhiteNoiseIsNotVerifiedAndTransformedDenselyOnTheGpu) {
  for (const Shape& shape : {Shape{1 << 16}, Shape{65521}, Shape{200, 300}}) {
    SCOPED_TRACE(shape.to_string());
    const auto x = white_noise(shape.points(), 5);
    EXPECT_FALSE(compare(x, shape, {.k = 50, .dense_fallback = false}).verified);
    const OnDevice<std::complex<float>> there(x);
    const Discovery found = discover(signal_of(there, shape), {.k = 50});
    EXPECT_EQ(found.spectrum.path, Path::dense);
    EXPECT_EQ(found.spectrum.backend, Backend::cuda);
    EXPECT_TRUE(found.support_learned_densely);
    EXPECT_EQ(found.samples, shape.points());
    const Template tmpl = learn(SignalView(x, shape), {.keep = Largest{50}});
    ASSERT_TRUE(std::equal(tmpl.support().begin(), tmpl.support().end(), found.spectrum.support->begin(),
                           found.spectrum.support->end()));
    EXPECT_LE(test::relative_l2(found.spectrum.values, tmpl.values()), kDouble);
    EXPECT_NEAR(found.spectrum.quality.tail_energy / tmpl.tail_energy(), 1, 1e-10);
  }
}

/// Discovers signals of every type by the dense transform, which the options request.
template <class T>
void compare_dense(const Shape& shape) {
  std::mt19937 generator(9);
  std::vector<T> x;
  for (std::int64_t i = 0; i < shape.points(); ++i) {
    const auto value = static_cast<double>(generator() % 256);
    if constexpr (is_complex(element_type_of<T>::value)) {
      using Real = typename T::value_type;
      x.emplace_back(static_cast<Real>(value), static_cast<Real>(generator() % 99));
    } else {
      x.push_back(static_cast<T>(value));
    }
  }
  const OnDevice<T> there(x);
  const Discovery gpu = discover(signal_of(there, shape), {.k = 5, .path = Path::dense});
  const Discovery host = discover(SignalView(x, shape), {.k = 5, .path = Path::dense});
  EXPECT_EQ(gpu.spectrum.backend, Backend::cuda);
  ASSERT_EQ(*gpu.spectrum.support, *host.spectrum.support);
  EXPECT_LE(test::relative_l2(gpu.spectrum.values, host.spectrum.values), kDouble);
}

TEST_F(DiscoverGpu, DenseOfEveryType) {
  for (const Shape& shape :
       {Shape{16}, Shape{101}, Shape{4096}, Shape{12, 1}, Shape{30, 40}, Shape{5, 6, 7}}) {
    SCOPED_TRACE(shape.to_string());
    compare_dense<std::uint8_t>(shape);
    compare_dense<std::uint16_t>(shape);
    compare_dense<float>(shape);
    compare_dense<double>(shape);
    compare_dense<std::complex<float>>(shape);
    compare_dense<std::complex<double>>(shape);
  }
}

TEST_F(DiscoverGpu, WorksInTheOrderOfItsStream) {
  const SparseSignal signal = SparseSignal::random(Shape{1 << 18}, false, 20, 6);
  const auto x = signal.as<std::complex<float>>();
  const OnDevice<std::complex<float>> source(x);
  const OnDevice<std::complex<float>> target(x.size());  // NaN
  const detail::cuda::Queue stream;
  for (const Path path : {Path::automatic, Path::dense}) {
    ASSERT_EQ(cudaMemsetAsync(target.get(), 0xff, x.size() * sizeof x[0], stream.get()), cudaSuccess);
    for (int i = 0; i < 20; ++i)
      detail::cuda::copy_on_device(target.get(), source.get(), x.size() * sizeof x[0], stream.get());
    const Discovery found = discover(signal_of(target, signal.shape), {.k = 20, .path = path}, stream.get());
    EXPECT_TRUE(found.spectrum.quality.finite);
    EXPECT_EQ(*found.spectrum.support, signal.support);
  }
}

TEST_F(DiscoverGpu, ThreadsShareNothing) {
  const SparseSignal signal = SparseSignal::random(Shape{1 << 18}, false, 20, 6);
  const OnDevice<std::complex<float>> there(signal.as<std::complex<float>>());
  const Discovery expected = discover(signal_of(there, signal.shape), {.k = 20});
  std::vector<std::thread> threads;
  std::vector<int> equal(6, 0);
  for (std::size_t t = 0; t < equal.size(); ++t) {
    threads.emplace_back([&, t] {
      const detail::cuda::Queue stream;
      for (int i = 0; i < 40; ++i) {
        const Discovery found = discover(signal_of(there, signal.shape), {.k = 20}, stream.get());
        equal[t] += *found.spectrum.support == *expected.spectrum.support &&
                            found.spectrum.values == expected.spectrum.values
                        ? 1
                        : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int count : equal) EXPECT_EQ(count, 40);
}

TEST_F(DiscoverGpu, SamplesThatAreNotFinite) {
  std::vector<std::complex<float>> x(1 << 16, std::numeric_limits<float>::quiet_NaN());
  const Shape shape{1 << 16};
  const OnDevice<std::complex<float>> there(x);
  const Discovery marked = discover(signal_of(there, shape), {.k = 5, .dense_fallback = false});
  EXPECT_FALSE(marked.verified);
  EXPECT_FALSE(marked.spectrum.quality.finite);
  EXPECT_EQ(code_of([&] { discover(signal_of(there, shape), {.k = 5}); }), ErrorCode::invalid_argument);
}

TEST_F(DiscoverGpu, RefusesWhatItCannotRead) {
  const Shape shape{1 << 14};
  const std::vector<float> host(1 << 14, 1.0F);
  const OnDevice<float> there(host);
  const auto code = [&](DeviceView signal, const DiscoverOptions& options) {
    return code_of([&] { discover(signal, options); });
  };
  const DeviceView good = signal_of(there, shape);
  DeviceView bad = good;
  bad.data = host.data();
  EXPECT_EQ(code(bad, {.k = 2}), ErrorCode::invalid_argument);
  bad.data = reinterpret_cast<const std::byte*>(there.get()) + 1;
  EXPECT_EQ(code(bad, {.k = 2}), ErrorCode::invalid_argument);
  for (const int device : {-1, 99}) {
    bad = good;
    bad.gpu = device;
    EXPECT_EQ(code(bad, {.k = 2}), ErrorCode::backend_unavailable);
  }
  EXPECT_EQ(code(good, {.k = -1}), ErrorCode::invalid_argument);
  EXPECT_EQ(code(good, {.k = 1 << 14}), ErrorCode::invalid_argument);
  EXPECT_EQ(code(good, {.k = 2, .path = Path::direct}), ErrorCode::invalid_argument);
  EXPECT_EQ(code(good, {.k = 2}), std::nullopt);
}

TEST_F(DiscoverGpu, EveryFailedAllocationLeavesNothingBehind) {
  namespace cuda = detail::cuda;
  const Shape shape{1 << 14};
  const OnDevice<std::complex<float>> there(white_noise(shape.points(), 2));
  const DeviceView signal = signal_of(there, shape);
  const Discovery expected = discover(signal, {.k = 9});
  const std::int64_t held = cuda::allocated_bytes();
  bool done = false;
  for (std::int64_t n = 1; !done && n < 1000; ++n) {
    cuda::fail_allocation(n);
    try {
      discover(signal, {.k = 9});
      done = true;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
    }
    cuda::fail_allocation(0);
    EXPECT_EQ(cuda::allocated_bytes(), held) << "allocation " << n;
    EXPECT_EQ(*discover(signal, {.k = 9}).spectrum.support, *expected.spectrum.support);
  }
  EXPECT_TRUE(done);
}

TEST(DiscoverDeviceSignal, RefusesNullAndUnknownTypesEverywhere) {
  const DiscoverOptions options{.k = 2};
  EXPECT_EQ(code_of([&] {
              discover(DeviceView{nullptr, ElementType::f32, Shape{64}}, options);
            }),
            ErrorCode::invalid_argument);
  const float sample = 0;
  EXPECT_EQ(code_of([&] {
              discover(DeviceView{&sample, static_cast<ElementType>(99), Shape{1}}, options);
            }),
            ErrorCode::invalid_argument);
}

TEST(DiscoverDeviceSignal, SaysWhyThereIsNoGpu) {
  const std::string problem = detail::cuda::unavailable();
  if (problem.empty()) return;
  const std::vector<float> x(64, 1.0F);
  try {
    discover(DeviceView{x.data(), ElementType::f32, Shape{64}}, {.k = 2});
    FAIL() << "discovered without a GPU";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::backend_unavailable);
    EXPECT_EQ(error.what(), problem);
  }
}

}  // namespace
}  // namespace sfft::discover_cuda_test
