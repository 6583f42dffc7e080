// SPDX-License-Identifier: Apache-2.0
// Neighbouring axes are merged where they can be, so that most arrays have one or two planes.
#include "kernels/dense/cpu/split_copy.hpp"

#include <algorithm>
#include <array>

#include "kernels/cpu/stages/layout.hpp"
#include "kernels/dense/cpu/convert.hpp"
#include "kernels/dense/cpu/line_stage.hpp"

namespace sfft::detail {

namespace {

/// Each axis has at least two indices, so that more would exceed memory.
constexpr std::size_t kMaxAxes = 64;
/// Shorter runs are not worth a call of a kernel.
constexpr std::int64_t kMinRun = 4;
/// Elements that are copied by a table of their offsets.
constexpr std::int64_t kMaxOffsets = 512;

}  // namespace

template <class Real>
SplitCopy<Real>::SplitCopy(const std::vector<StridedAxis>& axes) {
  for (const StridedAxis& axis : axes) {
    points_ *= axis.extent;
    if (axis.extent == 1) continue;
    if (!outer_.empty() && outer_.back().stride == axis.extent * axis.stride) {
      outer_.back() = {outer_.back().extent * axis.extent, axis.stride};
    } else {
      outer_.push_back(axis);
    }
  }
  std::int64_t split = 1;
  for (auto axis = outer_.rbegin(); axis != outer_.rend(); split *= axis++->extent) axis->split = split;
  const auto take = [&](std::size_t at) {
    const StridedAxis axis = outer_[at];
    outer_.erase(outer_.begin() + static_cast<std::ptrdiff_t>(at));
    return axis;
  };
  if (outer_.empty()) return;
  column_ = take(outer_.size() - 1);
  if (column_.stride == 1 && (column_.extent >= kMinRun || outer_.empty())) {
    if (!outer_.empty()) row_ = take(outer_.size() - 1);
    plane_ = row_.extent * column_.extent;
    return;
  }
  for (std::size_t at = 0; at < outer_.size(); ++at) {
    if (outer_[at].stride != 1 || outer_[at].extent * column_.extent < kMinRun * kMinRun) continue;
    kind_ = Plane::columns;
    row_ = take(at);
    plane_ = row_.extent * column_.extent;
    return;
  }
  kind_ = Plane::single;
  offsets_ = {0};
  for (StridedAxis axis = column_;; axis = take(outer_.size() - 1)) {
    std::vector<std::int64_t> slower;
    for (std::int64_t i = 0; i < axis.extent; ++i)
      for (const std::int64_t offset : offsets_) slower.push_back(i * axis.stride + offset);
    offsets_ = std::move(slower);
    plane_ = static_cast<std::int64_t>(offsets_.size());
    if (outer_.empty() || plane_ * outer_.back().extent > kMaxOffsets) return;
  }
}

template <class Real>
template <class Action>
void SplitCopy<Real>::over_planes(const Action& action) const {
  std::array<std::int64_t, kMaxAxes> index{};
  std::int64_t offset = 0, at = 0;
  for (std::int64_t done = 0;;) {
    action(offset, at);
    done += plane_;
    if (done == points_) return;
    for (std::size_t a = outer_.size(); a-- > 0;) {
      const StridedAxis& axis = outer_[a];
      offset += axis.stride;
      at += axis.split;
      if (++index[a] < axis.extent) break;
      offset -= axis.extent * axis.stride;
      at -= axis.extent * axis.split;
      index[a] = 0;
    }
  }
}

/// Columns without gaps, one after another, become rows of the buffers. `work` is as large as a plane.
template <class Real>
void SplitCopy<Real>::columns_to_rows(const Real* columns, Real* to, Real* work) const {
  const auto transpose = cpu::small_fft_kernels<Real>(cpu::best_isa()).transpose;
  if (row_.split == column_.extent) return transpose(columns, column_.extent, row_.extent, to);
  transpose(columns, column_.extent, row_.extent, work);
  for (std::int64_t r = 0; r < row_.extent; ++r)
    std::copy_n(work + r * column_.extent, column_.extent, to + r * row_.split);
}

template <class Real>
void SplitCopy<Real>::rows_to_columns(const Real* from, Real* columns, Real* work) const {
  const auto transpose = cpu::small_fft_kernels<Real>(cpu::best_isa()).transpose;
  if (row_.split == column_.extent) return transpose(from, row_.extent, column_.extent, columns);
  for (std::int64_t r = 0; r < row_.extent; ++r)
    std::copy_n(from + r * row_.split, column_.extent, work + r * column_.extent);
  transpose(work, row_.extent, column_.extent, columns);
}

template <class Real>
template <class Action>
void SplitCopy<Real>::over_elements(const Action& action) const {
  for (std::int64_t i = 0; i < plane_; ++i) action(offsets_[static_cast<std::size_t>(i)], i);
}

template <class Real>
void SplitCopy<Real>::load(const void* from, ElementType type, const cpu::SplitBuffers<Real>& to) const {
  const cpu::LayoutKernels<Real>& layout = cpu::layout_kernels<Real>();
  const bool own = type == element_type_of<std::complex<Real>>::value;
  over_planes([&](std::int64_t offset, std::int64_t at) {
    const auto element = [&](std::int64_t place) {
      return static_cast<const std::byte*>(from) +
             static_cast<std::size_t>(offset + place) * element_bytes(type);
    };
    const auto* const values = reinterpret_cast<const Real*>(element(0));
    Real *const re = to.re + at, *const im = to.im + at;
    if (kind_ == Plane::rows && own) {
      layout.load_rows(values, row_.stride, row_.extent, column_.extent, re, im);
    } else if (kind_ == Plane::rows) {
      for (std::int64_t r = 0; r < row_.extent; ++r)
        split_elements(element(r * row_.stride), type, column_.extent, re + r * column_.extent,
                       im + r * column_.extent);
    } else if (kind_ == Plane::columns && is_complex(type)) {
      layout.load_transposed[part_of(type)](values, column_.stride, column_.extent, row_.extent, row_.split,
                                            re, im);
    } else if (kind_ == Plane::columns) {
      for (std::int64_t c = 0; c < column_.extent; ++c)
        split_elements(element(c * column_.stride), type, row_.extent, to.other_re + c * row_.extent,
                       to.other_im + c * row_.extent);
      columns_to_rows(to.other_re, re, to.other_re + plane_);
      columns_to_rows(to.other_im, im, to.other_im + plane_);
    } else {
      with_elements(element(0), type, [&](const auto* all) {
        over_elements([&](std::int64_t place, std::int64_t i) {
          const auto value = all[place];
          if constexpr (std::is_arithmetic_v<std::remove_cv_t<decltype(value)>>) {
            re[i] = static_cast<Real>(value);
            im[i] = 0;
          } else {
            re[i] = static_cast<Real>(value.re);
            im[i] = static_cast<Real>(value.im);
          }
        });
      });
    }
  });
}

template <class Real>
void SplitCopy<Real>::store(const cpu::SplitBuffers<Real>& from, Real scale, std::complex<Real>* to) const {
  const cpu::LayoutKernels<Real>& layout = cpu::layout_kernels<Real>();
  if (kind_ == Plane::rows && scale != 1 && row_.extent * column_.extent != column_.extent) {
    for (Real* part : {from.re, from.im})
      std::for_each(part, part + points_, [scale](Real& value) { value *= scale; });
  }
  over_planes([&](std::int64_t offset, std::int64_t at) {
    std::complex<Real>* const values = to + offset;
    Real *const re = from.re + at, *const im = from.im + at, *const out = reinterpret_cast<Real*>(values);
    if (kind_ == Plane::rows && row_.extent == 1) {
      layout.interleave(re, im, column_.extent, scale, out);
    } else if (kind_ == Plane::rows) {
      layout.store_rows(re, im, row_.extent, column_.extent, row_.stride, out);
    } else if (kind_ == Plane::columns) {
      layout.store_transposed(re, im, column_.extent, row_.extent, row_.split, scale, column_.stride, out);
    } else {
      over_elements([&](std::int64_t place, std::int64_t i) {
        values[place] = {scale * re[i], scale * im[i]};
      });
    }
  });
}

template <class Real>
void SplitCopy<Real>::load_reals(const void* from, ElementType type, Real* to, Real* other) const {
  over_planes([&](std::int64_t offset, std::int64_t at) {
    const auto element = [&](std::int64_t place) {
      return static_cast<const std::byte*>(from) +
             static_cast<std::size_t>(offset + place) * element_bytes(type);
    };
    with_elements(element(0), type, [&](const auto* all) {
      if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(*all)>>) {
        const auto copy = [&](std::int64_t place, std::int64_t count, Real* run) {
          std::transform(all + place, all + place + count, run,
                         [](auto value) { return static_cast<Real>(value); });
        };
        if (kind_ == Plane::rows) {
          for (std::int64_t r = 0; r < row_.extent; ++r)
            copy(r * row_.stride, column_.extent, to + at + r * column_.extent);
        } else if (kind_ == Plane::columns) {
          for (std::int64_t c = 0; c < column_.extent; ++c)
            copy(c * column_.stride, row_.extent, other + c * row_.extent);
          columns_to_rows(other, to + at, other + plane_);
        } else {
          over_elements(
              [&](std::int64_t place, std::int64_t i) { to[at + i] = static_cast<Real>(all[place]); });
        }
      }
    });
  });
}

template <class Real>
void SplitCopy<Real>::store_reals(const Real* from, Real scale, Real* to, Real* other) const {
  over_planes([&](std::int64_t offset, std::int64_t at) {
    const Real* part = from + at;
    Real* const values = to + offset;
    const auto copy = [&](std::int64_t place, std::int64_t count) {
      std::transform(part, part + count, values + place, [scale](Real value) { return scale * value; });
      part += count;
    };
    if (kind_ == Plane::rows) {
      for (std::int64_t r = 0; r < row_.extent; ++r) copy(r * row_.stride, column_.extent);
    } else if (kind_ == Plane::columns) {
      rows_to_columns(part, other, other + plane_);
      part = other;
      for (std::int64_t c = 0; c < column_.extent; ++c) copy(c * column_.stride, row_.extent);
    } else {
      over_elements([&](std::int64_t place, std::int64_t i) { values[place] = scale * part[i]; });
    }
  });
}

template class SplitCopy<float>;
template class SplitCopy<double>;

}  // namespace sfft::detail
