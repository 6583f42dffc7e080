// SPDX-License-Identifier: Apache-2.0
// Tests transforms in slabs whose planes are CUDA graphs against direct sums: many arrays one after the
// other, each more than once.
#include <gtest/gtest.h>

#include "kernels/dense/request/several/cuda_slabs.hpp"
#include "tests/support/dense_reference.hpp"
#include "tests/support/slab_memory.hpp"

namespace sfft::test::slab_graphs_cuda_test {
namespace {

class SlabGraphsCuda : public GpuTest {};

template <class Real, class Sample>
void check(const Shape& shape, const std::vector<int>& devices, const detail::SlabTrial& trial) {
  using Value = std::complex<Real>;
  constexpr bool kReal = std::is_same_v<Sample, Real>;
  constexpr std::size_t kArrays = 10;  // more arrays than graphs
  SCOPED_TRACE(shape.to_string() + (kReal ? " real" : " complex"));
  const detail::DenseRequest request = detail::make_request(shape, kReal, {.device = Device::gpus(devices)});
  const detail::CudaSlabs<Real> slabs(request, detail::choose_devices<Real>(request), trial);
  SCOPED_TRACE(slabs.explain());
  EXPECT_EQ(slabs.explain().find("one graph") != std::string::npos, !trial.staged);
  using Memory = SlabMemory<Real, Sample>;
  const auto bytes = [&](std::size_t s) { return slabs.workspace_bytes(s); };
  std::vector<std::unique_ptr<Memory>> arrays;
  std::vector<std::vector<Sample>> signals;
  const auto points = static_cast<std::size_t>(shape.points());
  for (unsigned i = 0; i < kArrays; ++i) {
    arrays.push_back(std::make_unique<Memory>(slabs.signal_slabs(), slabs.spectrum_slabs(), bytes));
    signals.push_back(as_samples<Sample>(random_signal(points, 91 + i)));
    detail::copy_to_slabs(signals.back().data(), shape, sizeof(Sample), slabs.signal_slabs(),
                          arrays.back()->places());
  }
  // All calls run in the streams of the first, whose order separates them, and the host waits for none.
  const Memory& first = *arrays[0];
  const auto workspaces = first.workspace_data();
  constexpr ElementType kType = element_type_of<Sample>::value;
  for (const std::size_t i : {0, 0, 1, 0, 2, 3, 4, 5, 6, 7, 8, 9, 1, 1, 0})
    slabs.enqueue({detail::Direction::forward, arrays[i]->inputs(), kType, arrays[i]->spectrum_places(),
                   workspaces, first.streams()});
  first.finish();
  const double bound = 4 * fft_bound<Real>(static_cast<double>(points));
  for (std::size_t i = 0; i < kArrays; ++i) {
    const ComplexSignal sums = expected_spectra(signals[i], shape, kReal);
    std::vector<Value> result(sums.size());
    const auto results = arrays[i]->results();
    const std::vector<const void*> parts(results.begin(), results.end());
    detail::copy_from_slabs(result.data(), detail::spectrum_shape(shape, kReal), sizeof(Value),
                            slabs.spectrum_slabs(), parts);
    EXPECT_LE(relative_l2(result, sums), bound) << i;
  }
  // Each spectrum is transformed back into the next signal's memory, and then forward again.
  for (int times = 0; times < 2; ++times)
    for (std::size_t i = 0; i < kArrays; ++i)
      slabs.enqueue({detail::Direction::inverse, arrays[i]->spectrum_inputs(), kType,
                     arrays[(i + 1) % kArrays]->places(), workspaces, first.streams()});
  first.finish();
  for (std::size_t i = 0; i < kArrays; ++i) {
    std::vector<Sample> again(points);
    detail::copy_from_slabs(again.data(), shape, sizeof(Sample), slabs.signal_slabs(),
                            arrays[(i + 1) % kArrays]->inputs());
    EXPECT_LE(relative_l2(again, signals[i]), bound) << i;
  }
}

/// Several chunks, whose planes alternate between two streams. Without peer access there are no graphs.
template <class Real, class Sample>
void check_by_turns(const Shape& shape) {
  detail::SlabTrial trial{.cuts = detail::SlabCuts{3, 2, 0.5}, .turns = detail::PlaneGroups{2, 2}};
  for (const auto& devices : device_lists()) {
    for (const bool staged : {false, true}) {
      trial.staged = staged;
      check<Real, Sample>(shape, devices, trial);
    }
  }
}

TEST_F(SlabGraphsCuda, VolumesOfManyArraysEqualSums) {
  check_by_turns<float, std::complex<float>>({24, 16, 18});
}

TEST_F(SlabGraphsCuda, OthersOfManyArraysEqualSums) {
  check_by_turns<float, float>({24, 16, 18});
  check_by_turns<double, std::complex<double>>({26, 15});
  for (const auto& devices : device_lists())
    check<double, double>({24, 12, 20}, devices, {.cuts = detail::SlabCuts{2, 1}});
}

}  // namespace
}  // namespace sfft::test::slab_graphs_cuda_test
