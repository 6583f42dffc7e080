// SPDX-License-Identifier: Apache-2.0
// Tests transforms in slabs, and partitioned batches, against direct sums. They run on one GPU that is named
// several times.
#include <gtest/gtest.h>

#include "kernels/dense/request/several/cuda_slabs.hpp"
#include "kernels/dense/wisdom/wisdom.hpp"
#include "sfft/dense_slabs.hpp"
#include "tests/support/dense_reference.hpp"
#include "tests/support/slab_memory.hpp"

namespace sfft::test::slab_cuda_test {
namespace {

using dense::Options;
using dense::Plan;
using dense::SlabPlan;

class SlabCuda : public GpuTest {};

/// Transforms forward and back in slabs, with two transforms enqueued one after the other.
template <class Real, class Sample>
void check(const Shape& shape, const Options& options) {
  const bool real = !is_complex(element_type_of<Sample>::value);
  SCOPED_TRACE(shape.to_string() + (real ? " real" : " complex"));
  using Value = std::complex<Real>;
  const auto points = static_cast<std::size_t>(options.batch * shape.points());
  const auto signal = as_samples<Sample>(random_signal(points, 81));
  const auto other = as_samples<Sample>(random_signal(points, 82));
  const ComplexSignal sums = expected_spectra(signal, shape, real);
  const double bound = 4 * fft_bound<Real>(static_cast<double>(shape.points()));
  const SlabPlan<Real> plan(shape, real ? Domain::real : Domain::complex, options);
  SCOPED_TRACE(plan.explain());
  EXPECT_EQ(plan.signal_slabs().size(), options.device.gpus().size());
  const auto bytes = [&](std::size_t s) { return plan.device_workspace_bytes(s); };
  SlabMemory<Real, Sample> a(plan.signal_slabs(), plan.spectrum_slabs(), bytes);
  SlabMemory<Real, Sample> b(plan.signal_slabs(), plan.spectrum_slabs(), bytes);
  plan.scatter_signal(signal.data(), element_type_of<Sample>::value, a.places());
  plan.scatter_signal(other.data(), element_type_of<Sample>::value, b.places());
  for (auto* memory : {&a, &b}) {
    plan.enqueue_forward(memory->inputs(), element_type_of<Sample>::value, memory->spectra(), a.workspaces(),
                         a.streams());  // the second waits for the first
  }
  a.finish();
  ComplexSignal::size_type spectrum = sums.size();
  std::vector<Value> result(spectrum);
  plan.gather_spectrum(b.results(), result.data());
  EXPECT_LE(relative_l2(result, expected_spectra(other, shape, real)), bound);
  plan.gather_spectrum(a.results(), result.data());
  EXPECT_LE(relative_l2(result, sums), bound);
  std::vector<Sample> again(points);
  plan.gather_signal(a.inputs(), element_type_of<Sample>::value, again.data());
  EXPECT_EQ(again, signal) << "the input was changed";
  // The inverse writes into memory of another call.
  const std::vector<Value> rounded(sums.begin(), sums.end());
  plan.scatter_spectrum(rounded.data(), a.spectra());
  plan.enqueue_inverse(a.results(), b.signals(), a.workspaces(), a.streams());
  a.finish();
  plan.gather_signal(b.inputs(), element_type_of<Sample>::value, again.data());
  EXPECT_LE(relative_l2(again, signal), bound);
  plan.gather_spectrum(a.results(), result.data());
  EXPECT_EQ(result, rounded) << "the input was changed";
}

TEST_F(SlabCuda, OneTransformInSlabsEqualsSums) {
  for (const Shape& shape : {Shape{64, 96}, Shape{61, 50}, Shape{13, 127}, Shape{12, 20, 18},
                             Shape{13, 9, 31}, Shape{32, 32, 64}, Shape{4, 5, 1}, Shape{8, 4, 2}}) {
    for (const auto& devices : device_lists()) {
      const Options options{.planning = Options::Planning::estimate, .device = Device::gpus(devices)};
      if (detail::SlabGrid::max_devices(shape, true) < static_cast<int>(devices.size())) continue;
      check<float, std::complex<float>>(shape, options);
      check<float, float>(shape, options);
      check<double, std::complex<double>>(shape, options);
      check<double, double>(shape, options);
    }
  }
}

TEST_F(SlabCuda, ScalesAsRequested) {
  for (const auto normalization :
       {dense::Options::Normalization::forward_by_n, dense::Options::Normalization::unitary}) {
    const Shape shape{16, 12, 10};
    const auto signal = as_samples<std::complex<float>>(random_signal(1920, 83));
    std::vector<std::complex<float>> expected(1920), result(1920), again(1920);
    Plan<float>(shape, Domain::complex, {.normalization = normalization})
        .forward(signal.data(), ElementType::c64, expected);
    const Plan<float> plan(shape, Domain::complex,
                           {.normalization = normalization, .device = Device::gpus(kFour)});
    plan.forward(signal.data(), ElementType::c64, result);
    plan.inverse(result, again);
    EXPECT_LE(relative_l2(result, expected), 4 * fft_bound<float>(1920));
    EXPECT_LE(relative_l2(again, signal), 4 * fft_bound<float>(1920));
  }
}

TEST_F(SlabCuda, SharedBatchesEqualSums) {
  for (const Shape& shape : {Shape{60}, Shape{24, 18}, Shape{6, 10, 8}}) {
    for (const std::int64_t batch : {4, 7}) {
      for (const auto& devices : device_lists()) {
        if (static_cast<std::int64_t>(devices.size()) > batch) continue;
        const Options options{
            .planning = Options::Planning::estimate, .device = Device::gpus(devices), .batch = batch};
        check<float, std::complex<float>>(shape, options);
        check<double, double>(shape, options);
      }
    }
  }
}

TEST_F(SlabCuda, OneDeviceHoldsAll) {
  check<float, std::complex<float>>(Shape{24, 18, 10}, {.device = Device::gpus({0})});
  check<float, float>(Shape{100}, {.device = Device::gpus({0})});
}

/// Transforms samples of any type from and to host memory.
template <class Sample>
void check_host(const Shape& shape, const Options& options) {
  const bool real = !is_complex(element_type_of<Sample>::value);
  SCOPED_TRACE(shape.to_string() + (real ? " real" : " complex"));
  const auto points = static_cast<std::size_t>(options.batch * shape.points());
  ComplexSignal samples = random_signal(points, 84);
  if (std::is_integral_v<Sample>) {
    for (auto& value : samples) value = std::floor(std::abs(value.real()) * 40);
  }
  const auto signal = as_samples<Sample>(samples);
  const ComplexSignal sums = expected_spectra(signal, shape, real);
  const double bound = 4 * fft_bound<float>(static_cast<double>(shape.points()));
  const Plan<float> plan(shape, real ? Domain::real : Domain::complex, options);
  SCOPED_TRACE(plan.explain());
  std::vector<std::complex<float>> result(sums.size());
  for (int call = 0; call < 2; ++call) {
    std::fill(result.begin(), result.end(), 0);
    plan.forward(signal.data(), element_type_of<Sample>::value, result);
    EXPECT_LE(relative_l2(result, sums), bound);
  }
  if (real) {
    std::vector<float> again(points);
    plan.inverse(result, std::span<float>(again));
    EXPECT_LE(relative_l2(again, signal), 2 * bound);
  } else {
    std::vector<std::complex<float>> again(points);
    plan.inverse(result, std::span<std::complex<float>>(again));
    EXPECT_LE(relative_l2(again, signal), 2 * bound);
  }
}

TEST_F(SlabCuda, PlansTakeHostMemory) {
  for (const Shape& shape : {Shape{40, 36}, Shape{9, 14, 11}}) {
    for (const std::int64_t batch : {1, 5}) {
      const Options options{
          .planning = Options::Planning::estimate, .device = Device::gpus(kThree), .batch = batch};
      check_host<std::complex<float>>(shape, options);
      check_host<float>(shape, options);
      check_host<std::uint8_t>(shape, options);
      check_host<std::uint16_t>(shape, options);
    }
  }
}

/// Runs as if the GPUs could not access each other (`staged`), and with values that are sent in other
/// formats.
template <class Real>
void check_slots(const Shape& shape, bool real, const std::vector<int>& devices, bool staged,
                 dense::Storage exchange = dense::Storage::f32) {
  using Value = std::complex<Real>;
  SCOPED_TRACE(shape.to_string());
  const auto points = static_cast<std::size_t>(shape.points());
  const bool packed = exchange == dense::Storage::block16;
  detail::DenseRequest request =
      detail::make_request(shape, real, {.device = Device::gpus(devices), .exchange = exchange});
  const detail::CudaSlabs<Real> slabs(request, detail::choose_devices<Real>(request), {.staged = staged});
  EXPECT_EQ(slabs.explain().find("page-locked") != std::string::npos, staged) << slabs.explain();
  EXPECT_EQ(slabs.explain().find("block16") != std::string::npos, packed) << slabs.explain();
  SlabMemory<Real, Value> memory(slabs.signal_slabs(), slabs.spectrum_slabs(),
                                 [&](std::size_t s) { return slabs.workspace_bytes(s); });
  const auto signal = random_signal(points, 85);
  const auto own = real ? element_type_of<Real>::value : element_type_of<Value>::value;
  const auto samples = as_samples<Value>(signal);
  const auto reals = as_samples<Real>(signal);
  const void* whole = real ? static_cast<const void*>(reals.data()) : samples.data();
  detail::copy_to_slabs(whole, shape, element_bytes(own), slabs.signal_slabs(), memory.places());
  const auto workspaces = memory.workspace_data();
  for (int i = 0; i < 3; ++i)
    slabs.enqueue({detail::Direction::forward, memory.inputs(), own, memory.spectrum_places(), workspaces,
                   memory.streams()});
  memory.finish();
  const ComplexSignal sums =
      real ? expected_spectra(reals, shape, true) : expected_spectra(samples, shape, false);
  std::vector<Value> result(sums.size());
  const auto results = memory.results();
  const std::vector<const void*> parts(results.begin(), results.end());
  detail::copy_from_slabs(result.data(), detail::spectrum_shape(shape, real), sizeof(Value),
                          slabs.spectrum_slabs(), parts);
  // Gaussian values in block16 have an error of 3.1e-5; only a part of them is sent.
  const double bound = packed ? 1e-4 : 4 * fft_bound<Real>(static_cast<double>(points));
  EXPECT_LE(relative_l2(result, sums), bound);
  if (packed) {
    EXPECT_GE(relative_l2(result, sums), 1e-6) << "nothing was packed";
  }
  for (int i = 0; i < 3; ++i)
    slabs.enqueue({detail::Direction::inverse, memory.spectrum_inputs(), own, memory.places(), workspaces,
                   memory.streams()});
  memory.finish();
  std::vector<Value> again(points);
  std::vector<Real> again_real(points);
  void* back = real ? static_cast<void*>(again_real.data()) : again.data();
  detail::copy_from_slabs(back, shape, element_bytes(own), slabs.signal_slabs(), memory.inputs());
  EXPECT_LE(real ? relative_l2(again_real, reals) : relative_l2(again, samples), bound);
}

TEST_F(SlabCuda, StagedThroughTheHost) {
  for (const Shape& shape : {Shape{48, 40}, Shape{16, 12, 14}}) {
    for (const auto& devices : device_lists()) {
      check_slots<float>(shape, false, devices, true);
      check_slots<float>(shape, true, devices, true);
      check_slots<double>(shape, true, devices, true);
    }
  }
}

TEST_F(SlabCuda, PackedValuesKeepFifteenBits) {
  // Rows have odd and even lengths, of less than a block and of many blocks. 64³ runs the kernels of volumes.
  for (const Shape& shape : {Shape{48, 40}, Shape{13, 9}, Shape{16, 12, 14}, Shape{64, 64, 64}}) {
    for (const auto& devices : device_lists()) {
      for (const bool staged : {false, true}) {
        check_slots<float>(shape, false, devices, staged, dense::Storage::block16);
        check_slots<float>(shape, true, devices, staged, dense::Storage::block16);
      }
    }
  }
}

TEST_F(SlabCuda, PackedExchangeIsForFloats) {
  EXPECT_THROW(SlabPlan<double>(Shape{16, 16}, Domain::complex,
                                {.device = Device::gpus(kFour), .exchange = dense::Storage::block16}),
               Error);
}

/// Checks a transform whose streams all take part in a capture, before (`capture_first`) or after a call
/// outside the capture.
void check_captured(const Shape& shape, const std::vector<int>& devices, bool staged = false,
                    dense::Storage exchange = dense::Storage::f32, bool capture_first = false) {
  using Value = std::complex<float>;
  SCOPED_TRACE(shape.to_string());
  const auto points = static_cast<std::size_t>(shape.points());
  detail::DenseRequest request =
      detail::make_request(shape, false, {.device = Device::gpus(devices), .exchange = exchange});
  const detail::CudaSlabs<float> slabs(request, detail::choose_devices<float>(request), {.staged = staged});
  SlabMemory<float, Value> memory(slabs.signal_slabs(), slabs.spectrum_slabs(),
                                  [&](std::size_t s) { return slabs.workspace_bytes(s); });
  const auto workspaces = memory.workspace_data();
  const auto forward = [&] {
    slabs.enqueue({detail::Direction::forward, memory.inputs(), ElementType::c64, memory.spectrum_places(),
                   workspaces, memory.streams()});
  };
  const auto results = memory.results();
  const std::vector<const void*> parts(results.begin(), results.end());
  const double bound =
      exchange == dense::Storage::f32 ? 4 * fft_bound<float>(static_cast<double>(points)) : 1e-4;
  const auto check = [&](unsigned seed, const auto& transform) {
    const auto signal = as_samples<Value>(random_signal(points, seed));
    detail::copy_to_slabs(signal.data(), shape, sizeof(Value), slabs.signal_slabs(), memory.places());
    transform();
    memory.finish();
    std::vector<Value> result(points);
    detail::copy_from_slabs(result.data(), shape, sizeof(Value), slabs.spectrum_slabs(), parts);
    EXPECT_LE(relative_l2(result, expected_spectra(signal, shape, false)), bound);
  };
  if (!capture_first) check(87, forward);
  const auto first = memory.streams()[0];
  const detail::cuda::DeviceScope on_first(slabs.signal_slabs()[0].gpu);
  detail::cuda::Event fork;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  fork.record(first);
  for (CUstream_st* stream : memory.streams().subspan(1)) fork.block(stream);
  for (int i = 0; i < 2; ++i) forward();
  std::vector<detail::cuda::Event> joins;
  for (std::size_t s = 1; s < memory.streams().size(); ++s) {
    const detail::cuda::DeviceScope scope(slabs.signal_slabs()[s].gpu);
    joins.emplace_back();
    joins.back().record(memory.streams()[s]);
    joins.back().block(first);
  }
  ASSERT_EQ(cudaStreamEndCapture(first, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  for (unsigned seed = 88; seed < 90; ++seed)
    check(seed, [&] { EXPECT_EQ(cudaGraphLaunch(executable, first), cudaSuccess); });
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  check(90, forward);
}

TEST_F(SlabCuda, CanBeCapturedIntoAGraph) {
  for (const auto& devices : device_lists()) {
    check_captured(Shape{24, 18, 20}, devices);
    check_captured(Shape{24, 16, 20}, devices);
  }
}

TEST_F(SlabCuda, SlotsCanBeCapturedIntoAGraph) {
  for (const auto& devices : device_lists()) {
    for (const bool capture_first : {true, false}) {
      check_captured(Shape{24, 18, 20}, devices, true, dense::Storage::f32, capture_first);
      for (const bool staged : {true, false})
        check_captured(Shape{64, 64, 64}, devices, staged, dense::Storage::block16, capture_first);
    }
  }
}

/// Transforms more than one chunk (several megabytes per device), and compares a few outputs with sums.
template <class Sample>
void check_samples(const Shape& shape, const std::vector<int>& devices) {
  constexpr bool kReal = std::is_same_v<Sample, float>;
  SCOPED_TRACE(shape.to_string() + (kReal ? " real" : " complex"));
  const auto points = static_cast<std::size_t>(shape.points());
  const std::int64_t kept = kReal ? shape[2] / 2 + 1 : shape[2];
  const auto signal = as_samples<Sample>(random_signal(points, 86));
  const Plan<float> plan(shape, kReal ? Domain::real : Domain::complex, {.device = Device::gpus(devices)});
  SCOPED_TRACE(plan.explain());
  EXPECT_EQ(plan.explain().find("in 1 chunks"), std::string::npos) << plan.explain();
  std::vector<std::complex<float>> result(static_cast<std::size_t>(shape[0] * shape[1] * kept));
  std::vector<Sample> again(points);
  plan.forward(signal.data(), element_type_of<Sample>::value, result);
  for (const auto& f : {std::array<std::int64_t, 3>{0, 0, 0},
                        {shape[0] - 1, shape[1] - 1, kept - 1},
                        {shape[0] / 2, shape[1] / 2, 7},
                        {3, shape[1] / 2 + 1, shape[2] / 2},
                        {200, shape[1] / 2 - 1, 1}}) {
    std::complex<double> sum = 0;
    std::vector<std::complex<double>> roots;
    for (std::int64_t k = 0; k < shape[2]; ++k)
      roots.push_back(std::polar(
          1.0, -2 * M_PI * static_cast<double>(k * f[2] % shape[2]) / static_cast<double>(shape[2])));
    for (std::int64_t i = 0; i < shape[0]; ++i) {
      for (std::int64_t j = 0; j < shape[1]; ++j) {
        std::complex<double> row = 0;
        for (std::int64_t k = 0; k < shape[2]; ++k) {
          const auto at = static_cast<std::size_t>((i * shape[1] + j) * shape[2] + k);
          row += std::complex<double>(signal[at]) * roots[static_cast<std::size_t>(k)];
        }
        const double turn = static_cast<double>(i * f[0] % shape[0]) / static_cast<double>(shape[0]) +
                            static_cast<double>(j * f[1] % shape[1]) / static_cast<double>(shape[1]);
        sum += row * std::polar(1.0, -2 * M_PI * turn);
      }
    }
    const auto at = static_cast<std::size_t>((f[0] * shape[1] + f[1]) * kept + f[2]);
    const double typical = std::sqrt(2 * static_cast<double>(points));
    EXPECT_LE(std::abs(std::complex<double>(result[at]) - sum),
              8 * fft_bound<float>(static_cast<double>(points)) * typical);
  }
  plan.inverse(result, std::span<Sample>(again));
  EXPECT_LE(relative_l2(again, signal), 2 * fft_bound<float>(static_cast<double>(points)));
}

/// Covers rows in blocks of 16 and one by one, and real planes by tuned kernels and by others.
TEST_F(SlabCuda, ManyChunksAtSampledOutputs) {
  std::vector<std::vector<int>> lists{kTwo};
  if (detail::cuda::device_count() > 1) lists.insert(lists.end(), {{0, 1}, {1, 0}});
  for (const auto& devices : lists) {
    for (const Shape& shape : {Shape{256, 384, 320}, Shape{262, 386, 310}})
      check_samples<std::complex<float>>(shape, devices);
    for (const Shape& shape : {Shape{256, 384, 576}, Shape{262, 386, 502}})
      check_samples<float>(shape, devices);
  }
}

/// Uses a problem for which two GPUs are predicted to be faster than one.
TEST_F(SlabCuda, OneGpuIsTakenWhereItWasMeasuredToBeFaster) {
  if (detail::cuda::device_count() < 2) return;
  const Shape shape{384, 380, 400};
  const Options options{.planning = Options::Planning::estimate, .device = Device::gpus({0, 1})};
  EXPECT_EQ(SlabPlan<float>(shape, Domain::complex, options).signal_slabs().size(), 2u);
  const detail::DenseRequest request = detail::make_request(shape, false, options);
  detail::Wisdom::global().add(detail::gpu_platform(0), detail::wisdom_problem<float>(request.problem),
                               {"cufft", "", 1.0});
  const SlabPlan<float> plan(shape, Domain::complex, options);
  EXPECT_EQ(plan.signal_slabs().size(), 1u);
  EXPECT_NE(plan.explain().find("1 of 2 devices: measured"), std::string::npos) << plan.explain();
}

}  // namespace
}  // namespace sfft::test::slab_cuda_test
