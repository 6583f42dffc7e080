// SPDX-License-Identifier: Apache-2.0
// Tests compact plans on a GPU: conversions bit by bit against the host's, results of every engine against
// plans in double on the CPU, and the choice of the engine.
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "kernels/base/storage/half.hpp"
#include "kernels/cuda/stages/stored_values.hpp"
#include "tests/support/compact.hpp"
#include "tests/support/dense_device.hpp"
#include "tests/support/dense_reference.hpp"
#include "tests/support/throws.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::test::compact_cuda_test {
namespace {

using dense::CompactPlan;
using dense::Engine;
using dense::Storage;
using detail::Direction;

class CompactCuda : public GpuTest {};

unsigned host_bits(float value, Storage storage) {
  return storage == Storage::f16 ? detail::to_f16(value).bits : detail::to_bf16(value).bits;
}

TEST_F(CompactCuda, ConversionsAreThoseOfTheHost) {
  std::vector<unsigned short> all(65536 - 1);  // an odd number
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<unsigned short>(i + 1);
  std::vector<float> floats;
  std::mt19937 random(1);
  for (unsigned exponent = 0; exponent < 256; ++exponent) {
    for (int i = 0; i < 2000; ++i) {
      const unsigned bits = static_cast<unsigned>(random()) % 2 << 31 | exponent << 23 |
                            static_cast<unsigned>(random()) % 0x800000u;
      float value;
      std::memcpy(&value, &bits, sizeof value);
      floats.push_back(value);
    }
  }
  for (const Storage storage : {Storage::f16, Storage::bf16}) {
    const OnDevice<unsigned short> patterns(all);
    const OnDevice<float> widened(all.size());
    detail::cuda::launch_widen(patterns.get(), storage, static_cast<std::int64_t>(all.size()), widened.get(),
                               nullptr);
    const std::vector<float> values = widened.read();
    for (std::size_t i = 0; i < all.size(); ++i) {
      const float expected =
          storage == Storage::f16 ? to_float(detail::F16{all[i]}) : to_float(detail::Bf16{all[i]});
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(values[i])) << i;
      } else {
        ASSERT_EQ(std::memcmp(&values[i], &expected, sizeof expected), 0) << i;
      }
    }
    // Midpoints and their neighbours, and floats of every exponent.
    std::vector<float> input = floats;
    for (const float value : values) {
      if (!std::isfinite(value)) continue;
      input.insert(input.end(), {value, std::nextafter(value, 0.0f), std::nextafter(value, 1e30f)});
    }
    for (std::size_t i = 0; i + 1 < values.size(); ++i) {
      const float middle = values[i] / 2 + values[i + 1] / 2;
      if (std::isfinite(middle)) input.push_back(middle);
    }
    const OnDevice<float> from(input);
    const OnDevice<unsigned short> narrowed(input.size());
    detail::cuda::launch_narrow(from.get(), static_cast<std::int64_t>(input.size()), 1, storage,
                                narrowed.get(), nullptr);
    const std::vector<unsigned short> bits = narrowed.read();
    for (std::size_t i = 0; i < input.size(); ++i)
      ASSERT_EQ(bits[i], host_bits(input[i], storage)) << input[i];
  }
}

struct Case {
  Shape shape;
  bool real;
  std::int64_t batch;
  Storage signal = Storage::f16, spectrum = Storage::f16, between = Storage::f32;
};

void expect_right(const Case& c, Engine engine) {
  SCOPED_TRACE(c.shape.to_string() + (c.real ? " real " : " complex ") + to_string(c.signal) + " " +
               to_string(c.spectrum) + " " + to_string(c.between) + " " + dense::to_string(engine));
  dense::Options options{.engine = engine,
                         .device = Device::gpu(),
                         .batch = c.batch,
                         .formats = {.signal = c.signal, .spectrum = c.spectrum, .between = c.between}};
  const double peak = c.signal == Storage::f16 ? 65504 : 0x1p15, wide = 0x1p30;
  options.formats.signal_peak = peak;
  if (c.spectrum != Storage::f16) options.formats.spectrum_peak = wide;
  std::optional<CompactPlan> plan;
  try {
    plan.emplace(c.shape, c.real ? Domain::real : Domain::complex, options);
  } catch (const Error& error) {
    ASSERT_EQ(error.code(), ErrorCode::backend_unavailable) << error.what();
    ASSERT_TRUE(engine == Engine::tuned || (engine == Engine::vkfft && c.shape.points() == 1))
        << error.what();
    return;
  }
  // Gaussian values that fill the range below the peak.
  ComplexSignal noise = random_signal(static_cast<std::size_t>(c.batch * c.shape.points()), 9);
  for (auto& value : noise) value *= std::ldexp(1.0, 11);
  const CompactArray array = stored(parts_of(noise, c.real), static_cast<std::size_t>(c.batch), c.signal);
  CompactArray plain = array;  // the same bits with one exponent
  for (auto& scale : plain.scales) scale = {};
  const std::vector<double> exact = loaded(plain, c.signal);
  const dense::Plan<double> reference(c.shape, c.real ? Domain::real : Domain::complex, {.batch = c.batch});
  ComplexSignal expected(reference.spectrum_points());
  reference.forward(exact.data(), c.real ? ElementType::f64 : ElementType::c128, expected);

  CompactArray spectrum{on_device(*plan, Direction::forward, array.bytes), plain.scales,
                        plan->spectrum_values()};
  for (auto& scale : spectrum.scales) scale.exponent = plan->forward_info().exponent;
  const double error = relative_l2(complex_of(loaded(spectrum, c.spectrum), false), expected);
  // Predictions for block16 depend on how the largest of 32 values fill an octave.
  const double within = c.signal == Storage::block16 || c.spectrum == Storage::block16 ? 1.5 : 1.25;
  EXPECT_LE(error, within * plan->forward_info().predicted_error + 2e-6);
  CompactArray back{on_device(*plan, Direction::inverse, spectrum.bytes), plain.scales, plain.values};
  for (auto& scale : back.scales)
    scale.exponent = plan->forward_info().exponent + plan->inverse_info().exponent;
  EXPECT_LE(
      relative_l2(loaded(back, c.signal), exact),
      within * std::hypot(plan->forward_info().predicted_error, plan->inverse_info().predicted_error) + 2e-6);
}

TEST_F(CompactCuda, EveryEngineAndFormat) {
  for (const Engine engine : gpu_engines()) {
    for (const bool real : {false, true}) {
      for (const Shape& shape :
           {Shape(64), Shape(360), Shape(1021), Shape(4096), Shape(8192), Shape({60, 64}), Shape({33, 25}),
            Shape({1080, 1920}), Shape({20, 24, 32}), Shape({5, 7, 9})}) {
        expect_right({shape, real, 3}, engine);
        expect_right({shape, real, 2, Storage::f16, Storage::bf16}, engine);
      }
      expect_right({Shape(1000), real, 5, Storage::bf16, Storage::f16}, engine);
      expect_right({Shape(1000), real, 5, Storage::f32, Storage::f16}, engine);
      expect_right({Shape(1000), real, 5, Storage::f16, Storage::f32}, engine);
      expect_right({Shape(1000), real, 5, Storage::block16, Storage::block16}, engine);
      expect_right({Shape({33, 25}), real, 3, Storage::block16, Storage::f16}, engine);
    }
    expect_right({Shape(1), false, 3}, engine);
  }
}

/// Runs one of each kind: lines within a warp and beyond, packed and fused, convolutions, blocks, grids, long
/// lines. They are few enough for sanitizers.
TEST_F(CompactCuda, KindsOfKernels) {
  for (const Shape& shape : {Shape(8), Shape(60), Shape(63), Shape(100), Shape(127), Shape(194), Shape(1024),
                             Shape(1021), Shape(2048), Shape(3000)})
    expect_right({shape, false, 7}, Engine::tuned);
  for (const Shape& shape : {Shape(100), Shape(256), Shape(1021)}) {
    expect_right({shape, false, 5, Storage::block16, Storage::block16}, Engine::tuned);
    expect_right({shape, false, 3, Storage::f16, Storage::block16}, Engine::tuned);
  }
  for (const Shape& shape : {Shape(1 << 15), Shape({32, 48})})
    expect_right({shape, false, 3, Storage::block16, Storage::block16}, Engine::tuned);
  for (const Shape& shape : {Shape(1 << 20), Shape({24, 32, 64})})
    expect_right({shape, false, 1, Storage::block16, Storage::block16}, Engine::tuned);
  expect_right({Shape({24, 80}), true, 3, Storage::block16, Storage::f16}, Engine::tuned);
  expect_right({Shape(256), true, 5, Storage::f16, Storage::bf16}, Engine::tuned);
  expect_right({Shape({24, 80}), true, 3, Storage::f16, Storage::f16, Storage::f16}, Engine::tuned);
  expect_right({Shape({33, 25}), false, 3, Storage::bf16, Storage::bf16, Storage::bf16}, Engine::tuned);
  expect_right({Shape({16, 32, 16}), false, 2, Storage::f16, Storage::f16, Storage::f16}, Engine::tuned);
  expect_right({Shape(1 << 15), false, 2, Storage::f16, Storage::f16, Storage::f16}, Engine::tuned);
}

/// Runs transforms of block16 that need no conversion, and half spectra, whose rows begin within blocks.
TEST_F(CompactCuda, KernelsOfBlock16) {
  const auto engine_of = [](const Shape& shape, bool real, std::int64_t batch) {
    const CompactPlan plan(shape, real ? Domain::real : Domain::complex,
                           {.device = Device::gpu(),
                            .batch = batch,
                            .formats = {.signal = Storage::block16, .spectrum = Storage::block16}});
    return plan.engine_name();
  };
  for (const Shape& shape :
       {Shape(256), Shape(1 << 15), Shape(1 << 20), Shape({32, 48}), Shape({24, 32, 64})}) {
    const std::string name = engine_of(shape, false, 1);
    EXPECT_EQ(name.find("tuned kernels"), 0u) << shape.to_string() << ": " << name;
    EXPECT_EQ(name.find("conver"), std::string::npos) << shape.to_string() << ": " << name;
  }
  const Shape whole_blocks({24, 96});
  const std::string name = engine_of(whole_blocks, true, 3);
  EXPECT_NE(name.find("spectra converted"), std::string::npos) << name;
  expect_right({whole_blocks, true, 3, Storage::block16, Storage::block16}, Engine::automatic);
  expect_right({Shape(250), true, 7, Storage::block16, Storage::block16}, Engine::automatic);
}

TEST_F(CompactCuda, BetweenSteps) {
  for (const Storage between : {Storage::f32, Storage::f16, Storage::bf16}) {
    for (const Shape& shape : {Shape(1 << 16), Shape(1 << 20), Shape(1 << 22), Shape({128, 96}),
                               Shape({64, 64, 64}), Shape({60, 90, 100})})
      expect_right({shape, false, 2, Storage::f16, Storage::f16, between}, Engine::tuned);
    for (const Shape& shape : {Shape({128, 96}), Shape({64, 48, 80})})
      expect_right({shape, true, 2, Storage::f16, Storage::f16, between}, Engine::tuned);
  }
}

TEST_F(CompactCuda, NothingOverflows) {
  for (const Engine engine : gpu_engines()) {
    for (const Shape& shape :
         {Shape(256), Shape(1021), Shape(1 << 20), Shape({96, 128}), Shape({16, 24, 32})}) {
      for (const bool real : {false, true}) {
        for (const Storage between : {Storage::f32, Storage::f16}) {
          if (real && shape.rank() == 1 && shape.points() > (1 << 14) && engine == Engine::tuned) continue;
          const dense::Options options{
              .engine = engine, .device = Device::gpu(), .formats = {.between = between}};
          const CompactPlan plan(shape, real ? Domain::real : Domain::complex, options);
          for (const Direction direction : {Direction::forward, Direction::inverse}) {
            const std::size_t bytes =
                direction == Direction::forward ? plan.signal_bytes() : plan.spectrum_bytes();
            std::vector<std::byte> largest(bytes);
            for (std::size_t i = 0; i < bytes; ++i) largest[i] = std::byte(i % 2 == 0 ? 0xff : 0x7b);
            const std::vector<std::byte> results = on_device(plan, direction, largest);
            std::vector<float> values(results.size() / 2);
            load_compact(results, Storage::f16, {}, std::span(values));
            for (const float value : values)
              ASSERT_TRUE(std::isfinite(value)) << shape.to_string() << plan.engine_name();
          }
        }
      }
    }
  }
}

/// Returns the array with the exponents that the plan reports.
CompactArray with_exponents(const CompactPlan& plan, Direction direction, const CompactArray& from) {
  std::vector<int> own;
  for (const auto& scale : from.scales) own.push_back(scale.exponent);
  const OnDevice<int> input(own), output(own.size());
  CompactArray to{on_device(plan, direction, from.bytes, input.get(), output.get()), from.scales,
                  direction == Direction::forward ? plan.spectrum_values() : plan.signal_values()};
  const std::vector<int> reported = output.read();
  for (std::size_t b = 0; b < reported.size(); ++b) to.scales[b].exponent = reported[b];
  return to;
}

/// Returns transform b of an array as doubles.
std::vector<double> transform_of(const CompactArray& array, Storage storage, std::size_t b) {
  const std::vector<double> all = loaded(array, storage);
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(b * array.values);
  return {first, first + static_cast<std::ptrdiff_t>(array.values)};
}

/// One batch contains transforms of values of every magnitude, of zeros, and of a NaN.
void expect_found(const Shape& shape, bool real, Engine engine, Storage signal, Storage spectrum,
                  Storage between) {
  SCOPED_TRACE(shape.to_string() + (real ? " real " : " complex ") + to_string(signal) + " " +
               to_string(spectrum) + " " + to_string(between) + " " + dense::to_string(engine));
  constexpr std::array kSizes = {1.0, 1e-30, 1e30, 0.0, 3e37, 1e-36, 1.0};
  constexpr std::size_t kBatch = kSizes.size(), kSpoiled = kBatch - 1;
  const dense::Options options{.engine = engine,
                               .device = Device::gpu(),
                               .batch = kBatch,
                               .formats = {.signal = signal, .spectrum = spectrum, .between = between}};
  std::optional<CompactPlan> plan;
  try {
    plan.emplace(shape, real ? Domain::real : Domain::complex, options);
  } catch (const Error& error) {
    ASSERT_EQ(error.code(), ErrorCode::backend_unavailable) << error.what();
    return;
  }
  EXPECT_EQ(plan->forward_info().finds_exponents, signal != Storage::f16);
  EXPECT_EQ(plan->inverse_info().finds_exponents, spectrum != Storage::f16);
  const auto points = static_cast<std::size_t>(shape.points());
  ComplexSignal noise = random_signal(kBatch * points, 5);
  for (std::size_t i = 0; i < noise.size(); ++i) noise[i] *= kSizes[i / points] / 8;
  CompactArray array = stored(parts_of(noise, real), kBatch, signal);
  if (signal != Storage::block16)  // the first value of the last transform becomes a NaN
    std::memset(array.bytes.data() + kSpoiled * (array.bytes.size() / kBatch), 0xff,
                signal == Storage::f32 ? 4 : 2);
  const CompactArray spectra = with_exponents(*plan, Direction::forward, array);
  const CompactArray back = with_exponents(*plan, Direction::inverse, spectra);
  const dense::Plan<double> reference(shape, real ? Domain::real : Domain::complex, {.batch = 1});
  for (std::size_t b = 0; b < kSpoiled; ++b) {
    const std::vector<double> exact = transform_of(array, signal, b);
    const std::vector<double> found = transform_of(spectra, spectrum, b);
    const std::vector<double> again = transform_of(back, signal, b);
    if (kSizes[b] == 0) {
      // cuFFT transforms two real signals of odd length as one, so rounding errors of the other signal
      // remain.
      const double rounding = std::numeric_limits<float>::epsilon() * 0x1p15 * static_cast<double>(points);
      for (const double part : found) EXPECT_LE(std::abs(part), rounding);
      continue;
    }
    ComplexSignal expected(reference.spectrum_points());
    reference.forward(exact.data(), real ? ElementType::f64 : ElementType::c128, expected);
    const double error = plan->forward_info().predicted_error;
    EXPECT_LE(relative_l2(complex_of(found, false), expected), 1.5 * error + 2e-6) << kSizes[b];
    EXPECT_LE(relative_l2(again, exact), 1.5 * std::hypot(error, plan->inverse_info().predicted_error) + 2e-6)
        << kSizes[b];
  }
}

TEST_F(CompactCuda, FindsExponents) {
  for (const Engine engine : {Engine::cufft, Engine::tuned}) {
    for (const bool real : {false, true}) {
      for (const Storage signal : {Storage::bf16, Storage::f32, Storage::block16}) {
        for (const Storage spectrum : {Storage::f16, Storage::bf16}) {
          for (const Shape& shape : {Shape(60), Shape({33, 25}), Shape(4096)})
            expect_found(shape, real, engine, signal, spectrum, Storage::f32);
        }
      }
      expect_found(Shape({48, 64}), real, engine, Storage::bf16, Storage::bf16, Storage::f16);
      expect_found(Shape(999), real, engine, Storage::f16, Storage::block16, Storage::f32);
    }
  }
}

TEST_F(CompactCuda, MeasuringChoosesAndIsRemembered) {
  dense::Options options{
      .planning = dense::Options::Planning::measure, .device = Device::gpu(), .batch = 512};
  const CompactPlan measured(Shape(960), Domain::complex, options);
  EXPECT_NE(measured.reason().find("measured"), std::string::npos) << measured.reason();
  options.planning = dense::Options::Planning::estimate;
  const CompactPlan again(Shape(960), Domain::complex, options);
  EXPECT_EQ(again.engine(), measured.engine());
  dense::forget_wisdom();
  const CompactPlan unknown(Shape(960), Domain::complex, options);
  EXPECT_EQ(unknown.engine(), Engine::tuned) << unknown.reason();
  EXPECT_EQ(unknown.reason().find("measured"), std::string::npos) << unknown.reason();
}

}  // namespace
}  // namespace sfft::test::compact_cuda_test
