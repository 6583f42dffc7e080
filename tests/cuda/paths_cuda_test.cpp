// One plan on both backends: the fused and the staged kernels give the CPU executor's answers.
#include <random>

#include "kernels/cpu/comb_executor.hpp"
#include "kernels/cpu/flat_executor.hpp"
#include "kernels/cuda/samples.hpp"
#include "kernels/cuda/sparse_executor.hpp"
#include "sfft/sfft.hpp"
#include "template/comb_planner.hpp"
#include "template/flat_planner.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/signals.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::detail::cuda {
namespace {

class PathsCuda : public test::GpuTest {};

std::vector<std::uint8_t> flags_of(const SupportSet& support) {
  std::vector<std::uint8_t> flags(static_cast<std::size_t>(support.k), 0);
  for (const SupportMember& member : support.members) {
    if (member.conjugate) flags[static_cast<std::size_t>(member.coefficient)] |= kDistinctConjugate;
  }
  if (support.mean_coefficient >= 0) flags[static_cast<std::size_t>(support.mean_coefficient)] |= kMean;
  return flags;
}

template <class Real, class T>
void compare(const cpu::Executor<Real>& host, const SparseExecutor<Real>& device,
             const std::vector<T>& frames, const Shape& shape, ElementType type, std::size_t k,
             bool with_reference, const std::string& what) {
  const auto points = static_cast<std::size_t>(shape.points());
  const std::size_t count = frames.size() / points;
  // CPU
  std::vector<Real> reference(host.reference_reals());
  host.gather_reference(frames.data(), type, reference.data());
  std::vector<std::byte> scratch(host.scratch_bytes() + 64);
  void* start = scratch.data();
  std::size_t room = scratch.size();
  std::align(64, host.scratch_bytes(), start, room);
  std::vector<std::complex<Real>> truth(count * k);
  std::vector<Real> truth_error(count * k);
  std::vector<double> tails;
  for (std::size_t i = 0; i < count; ++i) {
    cpu::ExecutionStats stats;
    host.execute(frames.data() + i * points, type, with_reference ? reference.data() : nullptr,
                 {truth.data() + i * k, k}, {truth_error.data() + i * k, k}, stats,
                 static_cast<std::byte*>(start));
    tails.push_back(stats.tail_energy);
  }
  // GPU, whole frames and compact ones
  const test::OnDevice<T> there(frames);
  const auto known = reference_samples<Real>(frames.data(), static_cast<Element>(type),
                                             device.sample_indices(), device.taps());
  const test::OnDevice<Complex<Real>> known_there(known);
  const std::vector<std::int64_t>& indices = device.sample_indices();
  std::vector<T> compact(indices.size() * count);
  for (std::size_t i = 0; i < count; ++i) {
    copy_samples({frames.data() + i * points, points, type, shape}, indices, 0, indices.size(),
                 compact.data() + i * indices.size());
  }
  const test::OnDevice<T> compact_there(compact);
  const auto state = device.make_state(static_cast<int>(count));
  for (const bool whole : {true, false}) {
    const test::OnDevice<std::complex<Real>> values(count * k);
    const test::OnDevice<Real> errors(count * k);
    const test::OnDevice<DeviceAccount> accounts(count);
    Batch<Real> batch;
    batch.frames = whole ? there.get() : compact_there.get();
    batch.type = static_cast<Element>(type);
    batch.frame_pitch = static_cast<std::int64_t>(whole ? points : indices.size());
    batch.count = static_cast<int>(count);
    batch.reference_samples = with_reference ? known_there.get() : nullptr;
    batch.values = reinterpret_cast<Complex<Real>*>(values.get());
    batch.standard_error = errors.get();
    batch.accounts = accounts.get();
    for (int repeat = 0; repeat < 2; ++repeat) {
      if (whole) {
        device.enqueue(batch, *state, nullptr);
      } else {
        device.enqueue_compact(batch, *state, nullptr);
      }
      ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess) << what;
    }
    const double bound = 60 * std::numeric_limits<Real>::epsilon();
    const auto got = values.read();
    EXPECT_LE(test::relative_l2(got, truth), bound) << what << (whole ? " whole" : " compact");
    const auto got_errors = errors.read();
    EXPECT_LE(test::relative_l2(got_errors, truth_error), 1e-3) << what;
    const auto got_accounts = accounts.read();
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_LE(std::abs(got_accounts[i].tail_energy - tails[i]), 1e-3 * tails[i] + 1e-30) << what;
      EXPECT_EQ(got_accounts[i].finite, 1) << what;
    }
  }
}

/// Every kernel that can run a plan, against the host's executor.
template <class Real, class T>
void compare_kernels(const cpu::Executor<Real>& host, const auto& data, const SupportSet& support,
                     const std::vector<std::int64_t>& frequencies, const std::vector<T>& frames,
                     ElementType type, bool with_reference, const std::string& what) {
  const DeviceInfo& info = device_info(0);
  const auto tables = [&] {
    if constexpr (requires { data.buckets[0]; }) {
      return BinningTables<Real>(data, frequencies, flags_of(support));
    } else {
      return BinningTables<Real>(data, flags_of(support));
    }
  };
  using Kernels = typename SparseExecutor<Real>::Kernels;
  const auto count = static_cast<int>(frames.size() / static_cast<std::size_t>(support.shape.points()));
  {
    const SparseExecutor<Real> staged(tables(), info, count, Kernels::staged);
    compare<Real, T>(host, staged, frames, support.shape, type, static_cast<std::size_t>(support.k),
                     with_reference, what + " staged");
  }
  for (const int frames_hint : {1, 1000}) {
    if (!choose_fused_policy(tables().view(), info, frames_hint)) continue;
    const SparseExecutor<Real> fused(tables(), info, frames_hint, Kernels::fused);
    compare<Real, T>(host, fused, frames, support.shape, type, static_cast<std::size_t>(support.k),
                     with_reference, what + " " + fused.describe());
  }
  // Every policy that fits, not only the chosen ones.
  SparseExecutor<Real> fused(tables(), info, 1);
  const int lanes = fused.tables().view().lanes;
  for (const int cluster : {1, 2, 3, 4, 5, 8, 11, 16}) {
    if (cluster > 1 && (cluster > info.largest_cluster || fused.tables().view().flat())) continue;
    for (const int side : {1, 2, 3, lanes}) {
      FusedPolicy policy;
      policy.cluster = cluster;
      policy.lanes_per_group = cluster > 1 ? (lanes + cluster - 1) / cluster : side;
      policy.groups = cluster > 1 ? 1 : (lanes + side - 1) / side;
      policy.threads = side == 2 ? 96 : 256;
      policy.overlap = info.overlap && side != 3;
      if (policy.lanes_per_group > lanes || (cluster - 1) * policy.lanes_per_group >= lanes) continue;
      if (fused_shared_bytes(fused.tables().view(), policy) > info.shared_bytes_per_block) continue;
      fused.set_policy(policy);
      compare<Real, T>(host, fused, frames, support.shape, type, static_cast<std::size_t>(support.k),
                       with_reference,
                       what + " cluster " + std::to_string(cluster) + " side " + std::to_string(side));
    }
  }
}

template <class T>
std::vector<T> random_frames(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<T> out(count);
  for (T& sample : out) {
    if constexpr (std::is_integral_v<T>) {
      sample = static_cast<T>(random());
    } else if constexpr (std::is_floating_point_v<T>) {
      sample = static_cast<T>(normal(random));
    } else {
      sample = {static_cast<typename T::value_type>(normal(random)),
                static_cast<typename T::value_type>(normal(random))};
    }
  }
  return out;
}

template <class Real, class T>
void check_comb(const Shape& shape, std::int64_t k, int count) {
  const bool real = !is_complex(element_type_of<T>::value);
  const auto signal = test::SparseSignal::random(shape, real, k, 11);
  const Template tmpl = Template::from_support(shape, real, signal.support);
  const SupportSet support(*tmpl.data());
  CombRequest request;
  request.max_samples = shape.points();
  request.epsilon = std::numeric_limits<Real>::epsilon();
  request.limit_us = 1e9;
  std::vector<Rejection> rejected;
  const auto plan = plan_comb(support, make_prior(*tmpl.data(), support, false), request, rejected);
  ASSERT_TRUE(plan) << shape.to_string();
  const cpu::CombExecutor<Real> host(plan->data, 1);
  const auto frames =
      random_frames<T>(static_cast<std::size_t>(shape.points()) * static_cast<std::size_t>(count), 5);
  for (const bool with_reference : {false, true}) {
    compare_kernels<Real, T>(host, plan->data, support, signal.support, frames, element_type_of<T>::value,
                             with_reference, shape.to_string() + " " + to_string(element_type_of<T>::value));
  }
}

template <class Real, class T>
void check_flat(const Shape& shape, std::int64_t k, int count) {
  const bool real = !is_complex(element_type_of<T>::value);
  const auto signal = test::SparseSignal::random(shape, real, k, 12);
  const Template tmpl = Template::from_support(shape, real, signal.support);
  const SupportSet support(*tmpl.data());
  FlatOptions options;
  options.leakage = sizeof(Real) == 4 ? 1e-8 : 1e-14;
  const FlatPlanResult plan = plan_flat_windows(shape, real, signal.support, options);
  ASSERT_TRUE(plan.ok) << plan.reason;
  const cpu::FlatExecutor<Real> host(plan.data);
  const auto frames =
      random_frames<T>(static_cast<std::size_t>(shape.points()) * static_cast<std::size_t>(count), 6);
  for (const bool with_reference : {false, true}) {
    compare_kernels<Real, T>(host, plan.data, support, signal.support, frames, element_type_of<T>::value,
                             with_reference,
                             "flat " + shape.to_string() + " " + to_string(element_type_of<T>::value));
  }
}

TEST_F(PathsCuda, CombsOfEveryElementType) {
  const Shape shape{96, 160};
  check_comb<float, std::uint8_t>(shape, 30, 3);
  check_comb<float, std::uint16_t>(shape, 30, 1);
  check_comb<float, float>(shape, 30, 3);
  check_comb<float, double>(shape, 30, 1);
  check_comb<float, std::complex<float>>(shape, 30, 3);
  check_comb<float, std::complex<double>>(shape, 30, 1);
  check_comb<double, std::uint8_t>(shape, 30, 1);
  check_comb<double, std::uint16_t>(shape, 30, 3);
  check_comb<double, float>(shape, 30, 1);
  check_comb<double, double>(shape, 30, 3);
  check_comb<double, std::complex<float>>(shape, 30, 1);
  check_comb<double, std::complex<double>>(shape, 30, 3);
}

TEST_F(PathsCuda, CombsOfManyShapes) {
  check_comb<float, std::complex<float>>(Shape{1024}, 8, 3);
  check_comb<float, std::complex<float>>(Shape{1 << 16}, 64, 3);
  check_comb<float, std::complex<float>>(Shape{1 << 16}, 1000, 1);
  check_comb<float, std::complex<float>>(Shape{1 << 18}, 5000, 1);
  check_comb<double, std::complex<double>>(Shape{1 << 16}, 1000, 1);
  check_comb<float, float>(Shape{1 << 14}, 20, 128);
  check_comb<float, std::uint8_t>(Shape{432, 768}, 200, 3);
  check_comb<float, std::uint8_t>(Shape{1080, 1920}, 500, 1);
  check_comb<float, std::complex<float>>(Shape{32, 27, 25}, 12, 3);
  check_comb<double, float>(Shape{1, 4096}, 10, 1);
  check_comb<float, float>(Shape{4096, 1}, 10, 1);
}

TEST_F(PathsCuda, FlatWindows) {
  check_flat<float, std::complex<float>>(Shape{65537}, 24, 3);
  check_flat<float, float>(Shape{65537}, 24, 1);
  check_flat<float, std::uint8_t>(Shape{101, 307}, 10, 3);
  check_flat<double, std::complex<double>>(Shape{65537}, 24, 1);
  check_flat<double, double>(Shape{30011}, 9, 1);
  check_flat<float, std::complex<float>>(Shape{31, 37, 41}, 6, 1);
  check_flat<float, std::complex<float>>(Shape{1009}, 4, 128);
}

}  // namespace
}  // namespace sfft::detail::cuda
