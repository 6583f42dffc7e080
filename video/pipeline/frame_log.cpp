// SPDX-License-Identifier: Apache-2.0
// When the records are full, neighbours are merged in pairs. Each pair keeps the record with the larger
// value, so memory stays constant and peaks survive.
#include "video/pipeline/frame_log.hpp"

#include <cmath>
#include <utility>

namespace sfft::video {

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
