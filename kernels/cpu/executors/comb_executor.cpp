// SPDX-License-Identifier: Apache-2.0
// Gathers, subtracts and transforms slab by slab while the data are in cache, then recovers from all
// groups of lanes.
#include "kernels/cpu/executors/comb_executor.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/base/lane_weights.hpp"
#include "kernels/cpu/platform/thread_pool.hpp"
#include "kernels/cpu/stages/hash.hpp"
#include "kernels/cpu/stages/permute.hpp"
#include "kernels/cpu/stages/recover.hpp"

namespace sfft::detail::cpu {

namespace {

/// α and β of RecoverKernels for one coefficient.
template <class Real>
void pack_weights(const std::complex<double>* weights, std::int64_t first, std::int64_t lanes, bool real,
                  Real* out) {
  for (std::int64_t l = 0; l < lanes; ++l) {
    const std::int64_t delay = first + (real ? 2 * l : l);
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

std::int64_t grid_rank(const Shape& shape) {
  return shape.rank();
}

std::array<std::int64_t, 3> row_major_strides(const Shape& shape) {
  std::array<std::int64_t, 3> strides{1, 1, 1};
  for (int d = shape.rank() - 2; d >= 0; --d)
    strides[static_cast<std::size_t>(d)] = strides[static_cast<std::size_t>(d + 1)] * shape[d + 1];
  return strides;
}

}  // namespace

template <class Real>
CombExecutor<Real>::CombExecutor(const CombData& data, int groups) : data_(data) {
  const std::int64_t per_lane = data.real ? 2 : 1;
  const std::int64_t lanes = data.delay_count() / per_lane;
  const std::int64_t buckets = data.bucket_count();
  const auto k = static_cast<std::int64_t>(data.bucket.size());
  for (const std::int64_t b : data.bucket) {
    bucket_.push_back(static_cast<std::int32_t>(b));
    if (data.real) mirror_.push_back(static_cast<std::int32_t>(mirror_bucket(b, data.buckets)));
  }
  power_unit_ = *std::max_element(data.bucket_weight.begin(), data.bucket_weight.end());
  const double per_unit = power_unit_ > 0 ? 1 / power_unit_ : 0;

  const std::array<std::int64_t, 3> strides = row_major_strides(data.shape);
  const std::int64_t group_count = std::clamp<std::int64_t>(groups, 1, lanes);
  std::size_t reference_offset = 0;
  for (std::int64_t g = 0, first_lane = 0; g < group_count; ++g) {
    const std::int64_t end_lane = lanes * (g + 1) / group_count;
    const std::int64_t own = end_lane - first_lane;
    Group group{own,
                first_lane * per_lane,
                {},
                {},
                {},
                SmallFft<Real>({data.buckets.data(), static_cast<std::size_t>(grid_rank(data.shape))}, own),
                0,
                scratch_reals_,
                reference_offset};
    for (std::int64_t j = first_lane * per_lane; j < end_lane * per_lane; ++j) {
      group.offsets.push_back(offset(static_cast<std::size_t>(j), strides));
    }
    const std::int64_t block = own * per_lane * 2;
    group.weights.resize(static_cast<std::size_t>(k * block));
    for (std::int64_t i = 0; i < k; ++i) {
      pack_weights(&data.weights[static_cast<std::size_t>(i * data.delay_count())], first_lane * per_lane,
                   own, data.real, &group.weights[static_cast<std::size_t>(i * block)]);
    }
    group.power_weight.reserve(static_cast<std::size_t>(buckets * own));
    for (std::int64_t b = 0; b < buckets; ++b) {
      // A real frame's pair of lanes: |Z[b]|² + |Z[−b]|² = 2(|Y_2l[b]|² + |Y_2l+1[b]|²), and −b is empty when
      // b is.
      const auto weight = static_cast<Real>(data.bucket_weight[static_cast<std::size_t>(b)] * per_unit);
      group.power_weight.insert(group.power_weight.end(), static_cast<std::size_t>(own), weight);
    }
    const std::size_t reals = std::max(group.fft.buffer_reals(), static_cast<std::size_t>(buckets * own));
    group.buffer_reals = (reals + 15) / 16 * 16;
    // Four arrays at the same page offset would compete for the same cache sets.
    group.buffer_reals += 16;
    scratch_reals_ += 4 * group.buffer_reals;
    reference_offset += static_cast<std::size_t>(2 * buckets * own);
    groups_.push_back(std::move(group));
    first_lane = end_lane;
  }
  data_.weights.clear();
}

template <class Real>
std::size_t CombExecutor<Real>::scratch_bytes() const noexcept {
  return scratch_reals_ * sizeof(Real) + data_.delays.size() * sizeof(std::int64_t);
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
    // The offsets follow the groups' buffers.
    offsets = reinterpret_cast<std::int64_t*>(scratch + scratch_reals_);
    for (std::size_t j = 0; j < data_.delays.size(); ++j) offsets[j] = offset(j, strides);
  }
  return {
      {data_.stride(0) * strides[0], data_.stride(1) * strides[1]}, offsets, static_cast<Real>(frame.unit)};
}

template <class Real>
void CombExecutor<Real>::gather_slab(const Group& group, const void* frame, ElementType type,
                                     const Layout& layout, std::int64_t m0, Real* re,
                                     Real* im) const noexcept {
  // A slab is one m of the slowest dimension (all of a 1D grid): rows along the last dimension.
  const auto gather = permute_kernels<Real>().gather[static_cast<std::size_t>(type)];
  const Shape& shape = data_.shape;
  const int last = shape.rank() - 1;
  const std::int64_t row_buckets = data_.buckets[static_cast<std::size_t>(last)];
  const std::int64_t rows = shape.rank() == 3 ? data_.buckets[1] : 1;
  const auto bytes = static_cast<std::int64_t>(element_bytes(type));
  const std::int64_t* offsets =
      layout.offsets == nullptr ? group.offsets.data() : layout.offsets + group.first_delay;
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t start = 0;
    if (shape.rank() >= 2) start = m0 * layout.steps[0];
    if (shape.rank() == 3) start += row * layout.steps[1];
    gather(static_cast<const std::byte*>(frame) + start * bytes, row_buckets, data_.stride(last), offsets,
           group.lanes, re + row * row_buckets * group.lanes, im + row * row_buckets * group.lanes);
  }
}

template <class Real>
void CombExecutor<Real>::transform_group(const Group& group, const void* frame, ElementType type,
                                         const Layout& layout, const Real* reference,
                                         Real* scratch) const noexcept {
  Real* re = scratch + group.scratch_offset;
  Real* im = re + group.buffer_reals;
  Real* other_re = im + group.buffer_reals;
  Real* other_im = other_re + group.buffer_reals;
  const std::int64_t slabs = data_.shape.rank() == 1 ? 1 : data_.buckets[0];
  const std::int64_t slab_reals = data_.bucket_count() / slabs * group.lanes;
  const auto subtract = permute_kernels<Real>().subtract;
  for (std::int64_t m = 0; m < slabs; ++m) {
    const std::int64_t at = m * slab_reals;
    gather_slab(group, frame, type, layout, m, re + at, im + at);
    if (reference != nullptr) {
      const Real* from = reference + group.reference_offset + 2 * at;
      subtract(re + at, from, slab_reals);
      subtract(im + at, from + slab_reals, slab_reals);
    }
    if (layout.unit != 1) {
      for (std::int64_t i = at; i < at + slab_reals; ++i) {
        re[i] *= layout.unit;
        im[i] *= layout.unit;
      }
    }
    group.fft.slab(m, re, im, other_re, other_im);
  }
  group.fft.columns(re, im, other_re, other_im);
}

template <class Real>
void CombExecutor<Real>::gather_reference(const void* frame, ElementType type,
                                          Real* reference) const noexcept {
  const Layout rows = layout(frame, nullptr);
  const std::int64_t slabs = data_.shape.rank() == 1 ? 1 : data_.buckets[0];
  for (const Group& group : groups_) {
    const std::int64_t slab_reals = data_.bucket_count() / slabs * group.lanes;
    for (std::int64_t m = 0; m < slabs; ++m) {
      Real* to = reference + group.reference_offset + 2 * m * slab_reals;
      gather_slab(group, frame, type, rows, m, to, to + slab_reals);
    }
  }
}

template <class Real>
void CombExecutor<Real>::recover(std::span<std::complex<Real>> values, ExecutionStats& stats,
                                 const Real* scratch) const noexcept {
  const RecoverKernels<Real>& kernels = recover_kernels<Real>();
  const auto k = static_cast<std::int64_t>(bucket_.size());
  double power = 0;
  bool accumulate = false;
  for (const Group& group : groups_) {
    const Real* re =
        scratch + group.scratch_offset + (group.fft.result_in_scratch() ? 2 * group.buffer_reals : 0);
    const Real* im = re + group.buffer_reals;
    power += kernels.weighted_power(re, im, group.power_weight.data(), data_.bucket_count() * group.lanes);
    Real* out = reinterpret_cast<Real*>(values.data());
    if (data_.real) {
      kernels.recover_real(re, im, group.lanes, bucket_.data(), mirror_.data(), group.weights.data(), k,
                           accumulate, out);
    } else {
      kernels.recover_complex(re, im, group.lanes, bucket_.data(), group.weights.data(), k, accumulate, out);
    }
    accumulate = true;
  }
  const double scale = power * power_unit_;
  stats.finite = std::isfinite(scale);
  stats.scale = scale;
}

template <class Real>
void CombExecutor<Real>::execute(FrameData frame, ElementType type, const Real* reference,
                                 std::span<std::complex<Real>> values, ExecutionStats& stats,
                                 std::byte* scratch) const noexcept {
  Real* reals = reinterpret_cast<Real*>(scratch);
  const Layout rows = layout(frame, reals);
  for (const Group& group : groups_) transform_group(group, frame.data, type, rows, reference, reals);
  recover(values, stats, reals);
}

template <class Real>
void CombExecutor<Real>::execute_shared(FrameData frame, ElementType type, const Real* reference,
                                        std::span<std::complex<Real>> values, ExecutionStats& stats,
                                        std::byte* scratch, ThreadPool& pool) const noexcept {
  Real* reals = reinterpret_cast<Real*>(scratch);
  const Layout rows = layout(frame, reals);
  pool.run(static_cast<std::int64_t>(groups_.size()), [&](std::int64_t g, int) {
    transform_group(groups_[static_cast<std::size_t>(g)], frame.data, type, rows, reference, reals);
  });
  recover(values, stats, reals);
}

template class CombExecutor<float>;
template class CombExecutor<double>;

}  // namespace sfft::detail::cpu
