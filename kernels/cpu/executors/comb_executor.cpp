// SPDX-License-Identifier: Apache-2.0
// Gathers, subtracts and transforms slab by slab while the data are in cache, then recovers. Threads that
// share a frame take slabs, so its result does not depend on their number.
#include "kernels/cpu/executors/executor.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/base/tables/comb_data.hpp"
#include "kernels/base/tables/lane_weights.hpp"
#include "kernels/cpu/platform/thread_pool.hpp"
#include "kernels/cpu/small_fft/small_fft.hpp"
#include "kernels/cpu/stages/hash.hpp"
#include "kernels/cpu/stages/permute.hpp"
#include "kernels/cpu/stages/recover.hpp"

namespace sfft::detail::cpu {

namespace {

/// Writes α and β of RecoverKernels for one coefficient.
template <class Real>
void pack_weights(const std::complex<double>* weights, std::int64_t lanes, bool real, Real* out) {
  for (std::int64_t l = 0; l < lanes; ++l) {
    const std::int64_t delay = real ? 2 * l : l;
    std::complex<double> alpha = weights[delay];
    if (real) {
      const LaneWeights pair = real_lane_weights(weights[delay], weights[delay + 1]);
      alpha = pair.alpha;
      out[2 * lanes + l] = static_cast<Real>(pair.beta.real());
      out[3 * lanes + l] = static_cast<Real>(pair.beta.imag());
    }
    out[l] = static_cast<Real>(alpha.real());
    out[lanes + l] = static_cast<Real>(alpha.imag());
  }
}

std::array<std::int64_t, 3> row_major_strides(const Shape& shape) {
  std::array<std::int64_t, 3> strides{1, 1, 1};
  for (int d = shape.rank() - 2; d >= 0; --d)
    strides[static_cast<std::size_t>(d)] = strides[static_cast<std::size_t>(d + 1)] * shape[d + 1];
  return strides;
}

std::span<const std::int64_t> grid_of(const CombData& data) {
  return {data.buckets.data(), static_cast<std::size_t>(data.shape.rank())};
}

/// Transforms all delays together: each lane carries one delay of a complex frame, or two of a real one.
template <class Real>
class CombExecutor final : public Executor<Real> {
 public:
  explicit CombExecutor(const CombData& data);

  std::size_t scratch_bytes() const noexcept override;
  std::size_t reference_reals() const noexcept override;
  void gather_reference(const void* frame, ElementType type, Real* reference) const noexcept override;
  void execute(FrameData frame, ElementType type, const Real* reference, std::span<std::complex<Real>> values,
               ExecutionStats& stats, std::byte* scratch) const noexcept override;
  void execute_shared(FrameData frame, ElementType type, const Real* reference,
                      std::span<std::complex<Real>> values, ExecutionStats& stats, std::byte* scratch,
                      ThreadPool& pool) const noexcept override;

 private:
  /// The positions of a frame's samples.
  struct Layout {
    std::array<std::int64_t, 2> steps;  ///< elements to the next bucket of the first two dimensions
    const std::int64_t* offsets;        ///< linear sample offset of each delay
    Real unit = 1;                      ///< FrameData::unit
  };
  /// Buckets of a part of a line.
  static constexpr std::int64_t kLinePart = 256;

  std::int64_t offset(std::size_t delay, const std::array<std::int64_t, 3>& strides) const noexcept;
  /// For a region, the offsets are written to `scratch`.
  Layout layout(FrameData frame, Real* scratch) const noexcept;
  /// The parts of a frame that threads can read at the same time: slabs, one for each m of the slowest
  /// dimension, or parts of a line. Each is contiguous in the grid, from part_begin() on.
  std::int64_t parts() const noexcept;
  std::int64_t part_begin(std::int64_t part) const noexcept;
  void gather_part(std::int64_t part, const void* frame, ElementType type, const Layout& layout, Real* re,
                   Real* im) const noexcept;
  /// Gathers a part, subtracts the reference and scales.
  void read_part(std::int64_t part, const void* frame, ElementType type, const Layout& layout,
                 const Real* reference, Real* scratch) const noexcept;
  void transform_slab(std::int64_t slab, Real* scratch) const noexcept;
  /// Transforms along the first dimension and recovers the values.
  void recover(std::span<std::complex<Real>> values, ExecutionStats& stats, Real* scratch) const noexcept;

  CombData data_;  ///< without the weights
  std::int64_t lanes_;
  SmallFft<Real> fft_;
  std::vector<std::int32_t> bucket_, mirror_;
  std::vector<std::int64_t> offsets_;  ///< linear sample offset of each delay
  std::vector<Real> weights_;          ///< k blocks in the layout of RecoverKernels
  std::vector<Real> power_weight_;     ///< bucket × lane, largest 1
  double power_unit_ = 0;              ///< unit of power_weight_
  std::size_t buffer_reals_ = 0;       ///< size of each of the four arrays in scratch
};

}  // namespace

template <class Real>
CombExecutor<Real>::CombExecutor(const CombData& data)
    : data_(data), lanes_(data.delay_count() / (data.real ? 2 : 1)), fft_(grid_of(data), lanes_) {
  const std::int64_t buckets = data.bucket_count();
  const auto k = static_cast<std::int64_t>(data.bucket.size());
  for (const std::int64_t b : data.bucket) {
    bucket_.push_back(static_cast<std::int32_t>(b));
    if (data.real) mirror_.push_back(static_cast<std::int32_t>(mirror_bucket(b, data.buckets)));
  }
  power_unit_ = *std::max_element(data.bucket_weight.begin(), data.bucket_weight.end());
  const double per_unit = power_unit_ > 0 ? 1 / power_unit_ : 0;

  const std::array<std::int64_t, 3> strides = row_major_strides(data.shape);
  for (std::size_t j = 0; j < data.delays.size(); ++j) offsets_.push_back(offset(j, strides));
  const std::int64_t block = data.delay_count() * 2;
  weights_.resize(static_cast<std::size_t>(k * block));
  for (std::int64_t i = 0; i < k; ++i) {
    pack_weights(&data.weights[static_cast<std::size_t>(i * data.delay_count())], lanes_, data.real,
                 &weights_[static_cast<std::size_t>(i * block)]);
  }
  power_weight_.reserve(static_cast<std::size_t>(buckets * lanes_));
  for (std::int64_t b = 0; b < buckets; ++b) {
    // A real frame's pair of lanes: |Z[b]|² + |Z[−b]|² = 2(|Y_2l[b]|² + |Y_2l+1[b]|²), and −b is empty when
    // b is.
    const auto weight = static_cast<Real>(data.bucket_weight[static_cast<std::size_t>(b)] * per_unit);
    power_weight_.insert(power_weight_.end(), static_cast<std::size_t>(lanes_), weight);
  }
  buffer_reals_ = (fft_.buffer_reals() + 15) / 16 * 16;
  // Four arrays at the same page offset would compete for the same cache sets.
  buffer_reals_ += 16;
  data_.weights.clear();
}

template <class Real>
std::size_t CombExecutor<Real>::scratch_bytes() const noexcept {
  return 4 * buffer_reals_ * sizeof(Real) + data_.delays.size() * sizeof(std::int64_t);
}

template <class Real>
std::size_t CombExecutor<Real>::reference_reals() const noexcept {
  return static_cast<std::size_t>(data_.samples() * (data_.real ? 1 : 2));
}

template <class Real>
std::int64_t CombExecutor<Real>::offset(std::size_t delay,
                                        const std::array<std::int64_t, 3>& strides) const noexcept {
  std::int64_t sum = 0;
  for (std::size_t d = 0; d < 3; ++d) sum += data_.delays[delay][d] * strides[d];
  return sum;
}

template <class Real>
typename CombExecutor<Real>::Layout CombExecutor<Real>::layout(FrameData frame,
                                                               Real* scratch) const noexcept {
  std::array<std::int64_t, 3> strides = row_major_strides(data_.shape);
  std::int64_t* offsets = nullptr;
  if (frame.region != nullptr) {
    for (int d = 0; d < data_.shape.rank(); ++d)
      strides[static_cast<std::size_t>(d)] = frame.region->stride(d);
    // The offsets follow the buffers.
    offsets = reinterpret_cast<std::int64_t*>(scratch + 4 * buffer_reals_);
    for (std::size_t j = 0; j < data_.delays.size(); ++j) offsets[j] = offset(j, strides);
  }
  return {{data_.stride(0) * strides[0], data_.stride(1) * strides[1]},
          offsets == nullptr ? offsets_.data() : offsets,
          static_cast<Real>(frame.unit)};
}

template <class Real>
void CombExecutor<Real>::gather_part(std::int64_t part, const void* frame, ElementType type,
                                     const Layout& layout, Real* re, Real* im) const noexcept {
  const auto gather = permute_kernels<Real>().gather[static_cast<std::size_t>(type)];
  const Shape& shape = data_.shape;
  const int last = shape.rank() - 1;
  const std::int64_t row_buckets = data_.buckets[static_cast<std::size_t>(last)];
  const auto bytes = static_cast<std::int64_t>(element_bytes(type));
  const auto* const first = static_cast<const std::byte*>(frame);
  if (last == 0) {
    const std::int64_t begin = part * kLinePart, count = std::min(kLinePart, row_buckets - begin);
    gather(first + begin * data_.stride(0) * bytes, count, data_.stride(0), layout.offsets, lanes_, re, im);
    return;
  }
  const std::int64_t rows = last == 2 ? data_.buckets[1] : 1;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t start = part * layout.steps[0] + (last == 2 ? row * layout.steps[1] : 0);
    gather(first + start * bytes, row_buckets, data_.stride(last), layout.offsets, lanes_,
           re + row * row_buckets * lanes_, im + row * row_buckets * lanes_);
  }
}

template <class Real>
std::int64_t CombExecutor<Real>::parts() const noexcept {
  return data_.shape.rank() > 1 ? data_.buckets[0] : (data_.buckets[0] + kLinePart - 1) / kLinePart;
}

template <class Real>
std::int64_t CombExecutor<Real>::part_begin(std::int64_t part) const noexcept {
  const std::int64_t reals = data_.bucket_count() * lanes_;
  return data_.shape.rank() > 1 ? part * (reals / data_.buckets[0])
                                : std::min(part * kLinePart * lanes_, reals);
}

template <class Real>
void CombExecutor<Real>::read_part(std::int64_t part, const void* frame, ElementType type,
                                   const Layout& layout, const Real* reference,
                                   Real* scratch) const noexcept {
  const std::int64_t at = part_begin(part), reals = part_begin(part + 1) - at;
  Real* const re = scratch + at;
  Real* const im = re + buffer_reals_;
  gather_part(part, frame, type, layout, re, im);
  if (reference != nullptr) {
    const auto subtract = permute_kernels<Real>().subtract;
    subtract(re, reference + 2 * at, reals);
    subtract(im, reference + 2 * at + reals, reals);
  }
  if (layout.unit != 1) {
    for (std::int64_t i = 0; i < reals; ++i) {
      re[i] *= layout.unit;
      im[i] *= layout.unit;
    }
  }
}

template <class Real>
void CombExecutor<Real>::gather_reference(const void* frame, ElementType type,
                                          Real* reference) const noexcept {
  const Layout rows = layout(frame, nullptr);
  for (std::int64_t part = 0; part < parts(); ++part) {
    Real* const to = reference + 2 * part_begin(part);
    gather_part(part, frame, type, rows, to, to + part_begin(part + 1) - part_begin(part));
  }
}

template <class Real>
void CombExecutor<Real>::transform_slab(std::int64_t slab, Real* scratch) const noexcept {
  fft_.slab(slab, scratch, scratch + buffer_reals_, scratch + 2 * buffer_reals_, scratch + 3 * buffer_reals_);
}

template <class Real>
void CombExecutor<Real>::recover(std::span<std::complex<Real>> values, ExecutionStats& stats,
                                 Real* scratch) const noexcept {
  fft_.columns(scratch, scratch + buffer_reals_, scratch + 2 * buffer_reals_, scratch + 3 * buffer_reals_);
  const RecoverKernels<Real>& kernels = recover_kernels<Real>();
  const auto k = static_cast<std::int64_t>(bucket_.size());
  const Real* re = scratch + (fft_.result_in_scratch() ? 2 * buffer_reals_ : 0);
  const Real* im = re + buffer_reals_;
  Real* out = reinterpret_cast<Real*>(values.data());
  if (data_.real) {
    kernels.recover_real(re, im, lanes_, bucket_.data(), mirror_.data(), weights_.data(), k, out);
  } else {
    kernels.recover_complex(re, im, lanes_, bucket_.data(), weights_.data(), k, out);
  }
  const double scale =
      power_unit_ * kernels.weighted_power(re, im, power_weight_.data(), data_.bucket_count() * lanes_);
  stats.finite = std::isfinite(scale);
  stats.scale = scale;
}

template <class Real>
void CombExecutor<Real>::execute(FrameData frame, ElementType type, const Real* reference,
                                 std::span<std::complex<Real>> values, ExecutionStats& stats,
                                 std::byte* scratch) const noexcept {
  Real* reals = reinterpret_cast<Real*>(scratch);
  const Layout rows = layout(frame, reals);
  for (std::int64_t part = 0; part < parts(); ++part) {
    read_part(part, frame.data, type, rows, reference, reals);
    if (data_.shape.rank() > 1) transform_slab(part, reals);
  }
  recover(values, stats, reals);
}

template <class Real>
void CombExecutor<Real>::execute_shared(FrameData frame, ElementType type, const Real* reference,
                                        std::span<std::complex<Real>> values, ExecutionStats& stats,
                                        std::byte* scratch, ThreadPool& pool) const noexcept {
  Real* reals = reinterpret_cast<Real*>(scratch);
  const Layout rows = layout(frame, reals);
  const std::int64_t part_count = parts(), tasks = std::min<std::int64_t>(part_count, 2 * pool.threads());
  const bool slabs = data_.shape.rank() > 1;
  // Slabs whose lengths have large prime factors share work space behind the grid.
  const bool independent = fft_.buffer_reals() == static_cast<std::size_t>(data_.bucket_count() * lanes_);
  pool.run(tasks, [&](std::int64_t task, int) {
    for (std::int64_t part = part_count * task / tasks; part < part_count * (task + 1) / tasks; ++part) {
      read_part(part, frame.data, type, rows, reference, reals);
      if (slabs && independent) transform_slab(part, reals);
    }
  });
  for (std::int64_t part = 0; slabs && !independent && part < part_count; ++part) transform_slab(part, reals);
  recover(values, stats, reals);
}

template <class Real>
std::unique_ptr<const Executor<Real>> make_comb_executor(const CombData& data) {
  return std::make_unique<CombExecutor<Real>>(data);
}
template std::unique_ptr<const Executor<float>> make_comb_executor(const CombData&);
template std::unique_ptr<const Executor<double>> make_comb_executor(const CombData&);

}  // namespace sfft::detail::cpu
