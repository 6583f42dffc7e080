// SPDX-License-Identifier: Apache-2.0
// When the records are full, neighbours are merged in pairs. Each pair keeps the record with the larger
// value, so memory stays constant and peaks survive.
#include "video/pipeline/frame_log.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/base/math/quantiles.hpp"

namespace sfft::video {

namespace {

constexpr std::size_t kExact = 1000;
constexpr int kCellsPerOctave = 64;
// Microseconds, bytes and relative errors lie well within these; the first and last cells count other
// numbers.
constexpr int kLowestExponent = -40;
constexpr int kHighestExponent = 50;
/// One cell is for zero and smaller numbers, and one for infinity and NaN; the others divide the octaves.
constexpr std::size_t kCells =
    static_cast<std::size_t>(kHighestExponent - kLowestExponent) * kCellsPerOctave + 2;

std::size_t cell_of(double value) {
  if (!std::isfinite(value)) return kCells - 1;
  if (value < std::ldexp(1.0, kLowestExponent)) return 0;
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);  // in [1/2, 1)
  const int octave = exponent - 1 - kLowestExponent;
  const auto cell = static_cast<std::size_t>(octave) * kCellsPerOctave +
                    static_cast<std::size_t>((2 * mantissa - 1) * kCellsPerOctave) + 1;
  return std::min(cell, kCells - 2);
}

/// The value in the middle of a cell.
double value_of(std::size_t cell) {
  if (cell == 0) return 0;
  if (cell == kCells - 1) return std::numeric_limits<double>::infinity();
  const auto octave = static_cast<int>((cell - 1) / kCellsPerOctave);
  const double part = (static_cast<double>((cell - 1) % kCellsPerOctave) + 0.5) / kCellsPerOctave;
  return std::ldexp(1 + part, octave + kLowestExponent);
}

}  // namespace

void Distribution::push_back(double value) {
  if (cells_.empty() && count_ == kExact) {
    cells_.resize(kCells);
    for (const double first : first_) count(first);
    std::vector<double>().swap(first_);
  }
  if (cells_.empty()) {
    first_.push_back(value);
  } else {
    count(value);
  }
  min_ = count_ == 0 ? value : std::min(min_, value);
  max_ = count_ == 0 ? value : std::max(max_, value);
  sum_ += value;
  ++count_;
}

void Distribution::count(double value) noexcept {
  ++cells_[cell_of(value)];
}

double Distribution::mean() const noexcept {
  return count_ == 0 ? std::numeric_limits<double>::quiet_NaN() : sum_ / static_cast<double>(count_);
}

double Distribution::quantile(double q) const {
  if (count_ == 0) return std::numeric_limits<double>::quiet_NaN();
  if (cells_.empty()) {
    std::vector<double> values = first_;
    for (double& value : values) {
      if (std::isnan(value))
        value = std::numeric_limits<double>::infinity();  // NaN has no order: it counts as infinity
    }
    return detail::quantile(std::move(values), q);
  }
  const auto rank = static_cast<std::size_t>(q * static_cast<double>(count_ - 1) + 0.5);
  if (rank == count_ - 1) return max_;
  std::uint64_t below = 0;
  std::size_t cell = 0;
  while (cell < kCells - 1 && below + cells_[cell] <= rank) below += cells_[cell++];
  return std::clamp(value_of(cell), min_, std::max(min_, max_));
}

namespace {
constexpr std::size_t kMaxRecords = 2048;
}

void ThinnedRecords::add(const FrameRecord& record, double value) {
  if (in_last_ > 0 && in_last_ < stretch_) {
    ++in_last_;
    if (!(value > values_.back())) return;
    records_.back() = record;
    values_.back() = value;
    return;
  }
  if (records_.size() == kMaxRecords) {
    for (std::size_t i = 0; i < kMaxRecords / 2; ++i) {
      const std::size_t kept = values_[2 * i + 1] > values_[2 * i] ? 2 * i + 1 : 2 * i;
      if (kept != i) records_[i] = std::move(records_[kept]);
      values_[i] = values_[kept];
    }
    records_.resize(kMaxRecords / 2);
    values_.resize(kMaxRecords / 2);
    stretch_ *= 2;
  }
  if (records_.empty()) {  // reserves everything, because growth in steps leaves holes in the heap
    records_.reserve(kMaxRecords);
    values_.reserve(kMaxRecords);
  }
  records_.push_back(record);
  values_.push_back(value);
  in_last_ = 1;
}

void FrameLog::push_back(const FrameRecord& record) {
  us.push_back(record.us);
  copy_us.push_back(record.copy_us);
  transform_us.push_back(record.us - record.copy_us);
  transferred_bytes.push_back(static_cast<double>(record.transferred_bytes));
  relative_error.push_back(record.relative_error);
  frames_.add(record, record.relative_error);
  if (record.true_error) {
    true_error.push_back(*record.true_error);
    covered += *record.covered;
    verified_.add(record, *record.true_error);
  }
  if (record.similarity) {
    const TrackedFrame::Similarity& found = *record.similarity;
    if (std::isfinite(found.overlap)) overlap.push_back(found.overlap);
    if (std::isfinite(found.correlation)) correlation.push_back(found.correlation);
    if (std::isfinite(found.energy)) old_energy.push_back(found.energy);
    similarity_us.push_back(found.us);
  }
  if (record.action == TrackedFrame::Action::refreshed || record.action == TrackedFrame::Action::relearned)
    renewals_.add(record, record.relative_error);
}

}  // namespace sfft::video
