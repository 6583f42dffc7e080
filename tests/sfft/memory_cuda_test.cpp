// SPDX-License-Identifier: Apache-2.0
// Tests calls that run out of GPU memory: every allocation fails in turn, and all fail on a GPU that is
// really full. Such a call throws out_of_memory, leaves no memory allocated, and works the next time.
#include <functional>
#include <string>
#include <vector>

#include "bench/known_signals.hpp"
#include "sfft/dense_selective.hpp"
#include "sfft/sfft.hpp"
#include "tests/support/dense_device.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/throws.hpp"

namespace sfft::memory_cuda_test {
namespace {

using dense::Engine;
using test::code_of;
using test::OnDevice;
using test::SparseSignal;

class MemoryCuda : public test::GpuTest {};

struct Work {
  std::string name;
  std::function<void()> run;
};

template <class Real>
void add_plans(std::vector<Work>& works) {
  const std::string precision = sizeof(Real) == 4 ? " float" : " double";
  const Shape lines{1 << 14}, prime{65537};
  const Shape film{120, 160};
  const SparseSignal signal = SparseSignal::random(lines, false, 40, 5);
  const SparseSignal other = SparseSignal::random(prime, false, 12, 6);
  const auto plan_of = [&works, precision](const Template& tmpl, const SparseSignal& from, Path path) {
    works.push_back({std::string(to_string(path)) + " plan" + precision, [=] {
                       const auto samples = from.as<std::complex<Real>>();
                       const Plan<Real> plan(tmpl, {.device = Device::gpu(), .path = path});
                       auto workspace = plan.make_workspace();
                       auto spectrum = plan.make_spectrum();
                       plan.execute(SignalView(samples, from.shape), spectrum, workspace);
                     }});
  };
  for (const Path path : {Path::direct, Path::comb, Path::flat_window, Path::dense})
    plan_of(Template::from_support(lines, Domain::complex, signal.support), signal, path);
  plan_of(Template::from_support(prime, Domain::complex, other.support), other, Path::flat_window);
  const auto first = test::film_frame(120, 160, 0);
  const Template tmpl = learn(SignalView(first, film), {.keep = Largest{60}, .reference = true});
  works.push_back({"tracker" + precision, [=] {
                     TrackerOptions options;
                     options.plan.device = Device::gpu();
                     options.learn.device = Device::gpu();
                     Tracker<Real> tracker(tmpl, options);
                     for (int t = 1; t < 6; ++t) {  // the scene changes, so that the tracker learns again
                       const auto frame = test::film_frame(120, 160, t, t < 3 ? 1 : 2);
                       static_cast<void>(tracker.push(SignalView(frame, film)));
                     }
                   }});
}

void add_dense(std::vector<Work>& works) {
  for (const Engine engine : test::gpu_engines()) {
    const std::string name = dense::to_string(engine);
    works.push_back(
        {name + " plan, forward and inverse", [=] {
           const std::vector<std::complex<float>> x(3 * 36 * 40, {1, 2});
           auto spectra = x;
           const dense::Plan<float> plan(Shape({36, 40}), Domain::complex, {.engine = engine, .batch = 3});
           plan.forward(x.data(), ElementType::c64, spectra);
           plan.inverse(spectra, std::span(spectra));
         }});
    works.push_back({name + " selective plans", [=] {
                       const std::vector<float> x(36 * 40, 1);
                       const std::vector<std::int64_t> support{0, 5, 70};
                       std::vector<std::complex<float>> values(support.size());
                       const auto at = dense::SelectivePlan<float>::at(Shape({36, 40}), Domain::real, support,
                                                                       {.engine = engine});
                       at.forward_at(x.data(), ElementType::f32, values);
                       const auto above = dense::SelectivePlan<float>::above(Shape({36, 40}), Domain::real,
                                                                             {.engine = engine});
                       static_cast<void>(above.forward_above(x.data(), ElementType::f32, 1.0F));
                     }});
  }
}

/// Everything that allocates on a GPU. Each work creates the objects that it uses.
std::vector<Work> all_works() {
  std::vector<Work> works;
  add_plans<float>(works);
  add_plans<double>(works);
  add_dense(works);
  works.push_back({"learning from three frames", [] {
                     std::vector<std::vector<std::uint8_t>> frames;
                     std::vector<SignalView> views;
                     for (int t = 0; t < 3; ++t) frames.push_back(test::film_frame(120, 160, t));
                     for (const auto& frame : frames) views.emplace_back(frame, Shape{120, 160});
                     static_cast<void>(learn(views, {.keep = Energy{0.9}, .device = Device::gpu()}));
                   }});
  works.push_back({"learning from a frame in GPU memory", [] {
                     const OnDevice<std::uint8_t> frame(test::film_frame(120, 160, 0));
                     static_cast<void>(learn(DeviceView{frame.get(), ElementType::u8, Shape{120, 160}},
                                             {.keep = Largest{50}}));
                   }});
  works.push_back(
      {"discovery", [] {
         const SparseSignal signal = SparseSignal::random(Shape{1 << 16}, false, 9, 4);
         const OnDevice<std::complex<float>> there(signal.as<std::complex<float>>());
         static_cast<void>(discover(DeviceView{there.get(), ElementType::c64, Shape{1 << 16}}, {.k = 9}));
       }});
  return works;
}

/// Not every engine and path supports everything. Work that is refused for a reason other than memory is
/// skipped.
bool possible(const Work& work) {
  const auto code = code_of(work.run);
  EXPECT_TRUE(!code || *code == ErrorCode::not_sparse || *code == ErrorCode::backend_unavailable)
      << work.name;
  return !code;
}

TEST_F(MemoryCuda, EveryAllocationFailsOnce) {
  namespace cuda = detail::cuda;
  int worked = 0;
  for (const Work& work : all_works()) {
    if (!possible(work)) continue;  // this also makes the objects that a process creates once
    ++worked;
    const std::int64_t held = cuda::allocated_bytes();
    int failures = 0, in_a_row = 0;
    for (std::int64_t n = 1; in_a_row < 4 && n < 3000; ++n) {  // a fallback survives some failures
      cuda::fail_allocation(n);
      const auto code = code_of(work.run);
      cuda::fail_allocation(0);
      ASSERT_EQ(cuda::allocated_bytes(), held) << work.name << ", allocation " << n;
      in_a_row = code ? 0 : in_a_row + 1;
      if (!code) continue;
      ++failures;
      ASSERT_EQ(*code, ErrorCode::out_of_memory) << work.name << ", allocation " << n;
      ASSERT_EQ(code_of(work.run), std::nullopt) << work.name << ", after allocation " << n;
    }
    EXPECT_EQ(in_a_row, 4) << work.name;
    EXPECT_GE(failures, 1) << work.name;  // discovery allocates GPU memory once
    RecordProperty(work.name, failures);
  }
  EXPECT_GE(worked, 12);
}

std::size_t free_bytes() {
  std::size_t free = 0, total = 0;
  EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  return free;
}

/// Allocates all of the GPU's memory except about `left` bytes.
class Filled {
 public:
  explicit Filled(std::size_t left) {
    for (std::size_t chunk = std::size_t{1} << 33; chunk >= (std::size_t{1} << 20); chunk /= 2) {
      while (free_bytes() > left + chunk) {
        void* data = nullptr;
        if (cudaMalloc(&data, chunk) != cudaSuccess) break;
        chunks_.push_back(data);
      }
      static_cast<void>(cudaGetLastError());
    }
  }
  ~Filled() {
    for (void* const chunk : chunks_) EXPECT_EQ(cudaFree(chunk), cudaSuccess);
  }
  Filled(const Filled&) = delete;
  Filled& operator=(const Filled&) = delete;

 private:
  std::vector<void*> chunks_;
};

/// Here internal allocations of cuFFT, VkFFT and the driver fail as well.
TEST_F(MemoryCuda, AFullGpuIsAnErrorAndNothingStaysOnIt) {
  constexpr std::size_t kMebibyte = std::size_t{1} << 20;
  std::vector<Work> works;
  for (Work& work : all_works()) {
    if (possible(work)) works.push_back(std::move(work));
  }
  const std::size_t before = free_bytes();
  for (const std::size_t left : {0 * kMebibyte, 2 * kMebibyte, 16 * kMebibyte}) {
    int refused = 0;
    {
      const Filled filled(left);
      for (const Work& work : works) {
        const auto code = code_of(work.run);
        refused += code.has_value();
        EXPECT_TRUE(!code || *code == ErrorCode::out_of_memory)
            << work.name << ", " << left << " bytes left: " << to_string(*code);
      }
    }
    if (left == 0) {
      EXPECT_GE(refused, 1) << "the GPU was not full";
    }
    for (const Work& work : works) EXPECT_EQ(code_of(work.run), std::nullopt) << work.name;
  }
  EXPECT_GE(free_bytes() + 64 * kMebibyte, before) << "memory stays behind";
}

}  // namespace
}  // namespace sfft::memory_cuda_test
