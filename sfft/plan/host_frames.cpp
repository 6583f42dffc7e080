// SPDX-License-Identifier: Apache-2.0
// Frames of the same kind are sent in parts, small enough that copying one part, transforming another and
// delivering a third overlap. Page-locked frames cross the bus as rows or as single sectors, whichever loads
// it less.
#include "sfft/plan/host_frames.hpp"

#include <algorithm>
#include <chrono>

#include "kernels/base/math/region.hpp"
#include "kernels/cpu/platform/thread_pool.hpp"
#include "kernels/runtime/elapsed.hpp"
#include "sfft/error.hpp"

namespace sfft::detail {

namespace {

/// Number of bytes that the copy engine moves while kernels read one byte in place. The kernels' requests are
/// small and carry as much overhead as data.
constexpr std::int64_t kRowAdvantage = 2;
/// Slots have room for the longest expected part of smaller frames, but only for the present part of larger
/// ones.
constexpr std::size_t kLargeFrame = std::size_t{1} << 20;

}  // namespace

template <class Real>
cuda::Batch<Real> make_batch(const DeviceFrames& frames, const typename Plan<Real>::DeviceSpectra& spectra,
                             const PlanReference* reference, std::int64_t frame_points) {
  cuda::Batch<Real> out;
  out.frames = frames.data;
  out.type = static_cast<cuda::Element>(frames.type);
  out.frame_pitch = frames.pitch == 0 ? frame_points : frames.pitch;
  out.count = static_cast<int>(frames.count);
  out.values = reinterpret_cast<cuda::Complex<Real>*>(spectra.values);
  out.standard_error = spectra.standard_error;
  out.errors = reinterpret_cast<cuda::DeviceErrors*>(spectra.errors);
  if (reference != nullptr) {
    const auto& own = static_cast<const ReferenceMemory<Real>&>(*reference);
    out.reference_samples = own.samples();
    out.reference_witness = own.witness();
    out.reference_values = own.values();
    out.reference_error = own.error();
  }
  return out;
}

template <class Real>
PlanOptions::Transfer HostFrames<Real>::page_locked_way(std::size_t element) const {
  const cuda::RowSet& set = executor_.row_set();
  if (set.empty() || transfer_ == PlanOptions::Transfer::mapped) return PlanOptions::Transfer::mapped;
  if (transfer_ == PlanOptions::Transfer::rows) return PlanOptions::Transfer::rows;
  const std::int64_t bytes = set.copied_elements() * static_cast<std::int64_t>(element);
  if (bytes > kRowAdvantage * set.bytes_in_place(element)) return PlanOptions::Transfer::mapped;
  return set.copied_elements() < shape_.points() ? PlanOptions::Transfer::rows : PlanOptions::Transfer::whole;
}

/// Never returns `automatic`.
template <class Real>
PlanOptions::Transfer HostFrames<Real>::way_for(const SignalView& frame) const {
  if (executor_.sample_indices().empty() || transfer_ == PlanOptions::Transfer::whole)
    return PlanOptions::Transfer::whole;
  // Kernels and the copy engine need frames without gaps, and kernels need them aligned.
  const bool aligned = reinterpret_cast<std::uintptr_t>(frame.data()) % element_bytes(frame.type()) == 0;
  if (transfer_ == PlanOptions::Transfer::gather || !frame.contiguous() || !aligned)
    return PlanOptions::Transfer::gather;
  if (cuda::mapped_address(frame.data()) != nullptr) return page_locked_way(element_bytes(frame.type()));
  if (cuda::managed_address(frame.data()) != nullptr) return PlanOptions::Transfer::mapped;
  if (transfer_ == PlanOptions::Transfer::automatic) return PlanOptions::Transfer::gather;
  throw Error(
      ErrorCode::invalid_argument,
      "PlanOptions::Transfer::mapped and PlanOptions::Transfer::rows need page-locked frames: put them into "
      "memory from allocate_page_locked() or cudaHostAlloc, or use PlanOptions::Transfer::automatic");
}

/// Number of leading frames that can be sent together.
template <class Real>
std::size_t HostFrames<Real>::alike(std::span<const SignalView> frames, bool adjacent) const {
  const auto* first = static_cast<const std::byte*>(frames[0].data());
  const std::size_t bytes = frames[0].bytes();
  std::size_t count = 1;
  const auto fits = [&](const SignalView& frame) {
    if (frame.type() != frames[0].type()) return false;
    return !adjacent || (frame.contiguous() && frame.data() == first + count * bytes);
  };
  while (count < std::min(frames.size(), max_) && fits(frames[count])) ++count;
  return count;
}

template <class Real>
void HostFrames<Real>::execute(std::span<const SignalView> frames, std::span<Spectrum<Real>> spectra) {
  // Paths that read everything work in rounds of a fixed size, which a smaller part would not shorten.
  if (!executor_.sample_indices().empty()) max_ = std::min(max_, part_of_call(frames.size()));
  ring_.overlap(frames.size() > max_);
  try {
    for (std::size_t next = 0; next < frames.size();)
      next += send(frames.subspan(next), spectra.subspan(next));
    ring_.drain();
  } catch (...) {
    ring_.abandon();
    throw;
  }
}

template <class Real>
std::size_t HostFrames<Real>::submit(std::span<const SignalView> frames, std::span<Spectrum<Real>> spectra,
                                     std::size_t part) {
  max_ = std::min(max_, part);
  longest_ = std::max(longest_, max_);
  std::size_t begun = 0;
  try {
    if (!ring_.overlaps()) {
      ring_.drain();
      ring_.overlap(true);
    }
    while (begun < frames.size() && ring_.has_room())
      begun += send(frames.subspan(begun), spectra.subspan(begun));
  } catch (...) {
    ring_.abandon();
    throw;
  }
  return begun;
}

/// Submits the next few frames of one kind; returns how many.
template <class Real>
std::size_t HostFrames<Real>::send(std::span<const SignalView> frames, std::span<Spectrum<Real>> spectra) {
  const PlanOptions::Transfer way = way_for(frames[0]);
  const std::size_t element = element_bytes(frames[0].type());
  const bool in_place = way == PlanOptions::Transfer::mapped || way == PlanOptions::Transfer::rows;
  const cuda::RowSet& set = executor_.row_set();
  const std::size_t gathered = executor_.sample_indices().size();
  const auto witness = static_cast<std::size_t>(executor_.witness_samples());
  const auto points = static_cast<std::size_t>(shape_.points());
  const std::size_t device = way == PlanOptions::Transfer::whole    ? points
                             : way == PlanOptions::Transfer::gather ? gathered
                             : way == PlanOptions::Transfer::rows
                                 ? static_cast<std::size_t>(set.compact_elements())
                                 : 0;
  const std::size_t wanted = std::min(max_, frames.size());
  const bool regions = !std::ranges::all_of(frames.first(wanted), &SignalView::contiguous);
  const bool fetched = cuda::fetched_word(set, frames[0].data(), element) > 0;
  const std::size_t host = way == PlanOptions::Transfer::rows               ? (fetched ? 0 : witness)
                           : way == PlanOptions::Transfer::gather           ? gathered
                           : way == PlanOptions::Transfer::whole && regions ? points
                                                                            : 0;
  // Runs of frames grow during a stream, and page-locking takes long, so memory is allocated for the longest
  // one at once.
  const std::size_t usual = device * element < kLargeFrame ? longest_ : 1;
  ring_.fit(device * element, host * element, static_cast<int>(std::max(wanted, usual)));
  Slot& slot = ring_.next();
  const std::size_t room = std::min(static_cast<std::size_t>(ring_.capacity()), wanted);
  const auto count = alike(frames.first(room), in_place);
  const std::span<const SignalView> part = frames.first(count);
  slot.sent = {way, slot.device.data(), part[0].type(), 0, 0, spectra.first(count)};
  if (way == PlanOptions::Transfer::whole)
    send_whole(part, slot);
  else if (way == PlanOptions::Transfer::gather)
    send_gathered(part, slot);
  else if (way == PlanOptions::Transfer::rows)
    send_rows(part, slot);
  else
    read_in_place(part, slot);
  ring_.await_copies(slot);
  launch(slot, 0);
  return count;
}

/// Transforms the frames that were sent to a slot, except the first `skipped` ones.
template <class Real>
void HostFrames<Real>::launch(Slot& slot, std::size_t skipped) {
  const auto& sent = slot.sent;
  const std::span<Spectrum<Real>> spectra = sent.spectra.subspan(skipped);
  const auto count = static_cast<std::int64_t>(spectra.size());
  const auto pitch = static_cast<std::size_t>(sent.pitch > 0 ? sent.pitch : shape_.points());
  const cuda::Batch<Real> batch = make_batch<Real>(
      {sent.frames + skipped * pitch * element_bytes(sent.type), sent.type, count, sent.pitch},
      slot.spectra(static_cast<int>(count)), call_.reference, shape_.points());
  if (sent.way == PlanOptions::Transfer::gather)
    executor_.enqueue_compact(batch, call_.state, ring_.stream());
  else if (sent.way == PlanOptions::Transfer::rows)
    executor_.enqueue_rows(batch, call_.state, ring_.stream());
  else
    executor_.enqueue(batch, call_.state, ring_.stream());
  ring_.finish(slot, spectra, sent.bytes);
}

template <class Real>
std::size_t HostFrames<Real>::resubmit(const Spectrum<Real>& first) {
  const auto place = [&](const Slot& slot) {
    const auto is_first = [&](const Spectrum<Real>& spectrum) { return &spectrum == &first; };
    return static_cast<std::size_t>(std::ranges::find_if(slot.sent.spectra, is_first) -
                                    slot.sent.spectra.begin());
  };
  // Searches from the latest part back, because an earlier one may have used the same memory for its spectra.
  int age = HostRing<Real>::kSlots - 1;
  while (age >= 0 && place(ring_.by_age(age)) == ring_.by_age(age).sent.spectra.size()) --age;
  if (age < 0) return 0;
  ring_.forget_delivered();
  std::size_t count = 0;
  try {
    for (std::size_t skipped = place(ring_.by_age(age)); age < HostRing<Real>::kSlots; ++age, skipped = 0) {
      launch(ring_.by_age(age), skipped);
      count += ring_.by_age(age).sent.spectra.size() - skipped;
    }
  } catch (...) {
    ring_.abandon();
    throw;
  }
  return count;
}

template <class Real>
void HostFrames<Real>::send_whole(std::span<const SignalView> frames, Slot& slot) {
  const std::size_t frame_bytes = frames[0].bytes();
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const void* from = frames[i].data();
    if (!frames[i].contiguous()) {
      copy_elements(frames[i], slot.host.data() + i * frame_bytes);
      from = slot.host.data() + i * frame_bytes;
    }
    ring_.copy(slot, slot.device.data() + i * frame_bytes, from, frame_bytes);
  }
  slot.sent.bytes = static_cast<std::int64_t>(frame_bytes);
}

template <class Real>
void HostFrames<Real>::send_gathered(std::span<const SignalView> frames, Slot& slot) {
  const auto samples = static_cast<std::int64_t>(executor_.sample_indices().size());
  const std::size_t frame_bytes = static_cast<std::size_t>(samples) * element_bytes(frames[0].type());
  const auto start = std::chrono::steady_clock::now();
  gather(frames, slot.host.data());
  slot.gather_us = us_since(start);
  ring_.copy(slot, slot.device.data(), slot.host.data(), frames.size() * frame_bytes);
  slot.sent.pitch = samples;
  slot.sent.bytes = static_cast<std::int64_t>(frame_bytes);
}

template <class Real>
void HostFrames<Real>::send_rows(std::span<const SignalView> frames, Slot& slot) {
  const cuda::RowSet& set = executor_.row_set();
  const std::size_t element = element_bytes(frames[0].type());
  const auto count = static_cast<int>(frames.size());
  if (cuda::fetched_word(set, frames[0].data(), element) == 0) {
    copy_rows(frames, slot);
  } else {
    // With a single frame, events between its kernels would keep these from overlapping.
    const bool timed = count > 1 || ring_.overlaps();
    if (timed) ring_.begin_copies(slot);
    executor_.fetch_rows(cuda::mapped_address(frames[0].data()), element, count, slot.device.data(),
                         ring_.copies());
    if (timed) ring_.end_copies(slot);
  }
  slot.sent.pitch = set.compact_elements();
  slot.sent.bytes =
      (set.copied_elements() + executor_.witness_samples()) * static_cast<std::int64_t>(element);
}

/// Uses the copy engine; the host picks the witness's samples, which are the last.
template <class Real>
void HostFrames<Real>::copy_rows(std::span<const SignalView> frames, Slot& slot) {
  const cuda::RowSet& set = executor_.row_set();
  const std::vector<std::int64_t>& indices = executor_.sample_indices();
  const std::int64_t witness = executor_.witness_samples();
  const std::size_t element = element_bytes(frames[0].type());
  const auto count = static_cast<int>(frames.size());
  ring_.begin_copies(slot);
  cuda::copy_rows(set, frames[0].data(), element, count, slot.device.data(), ring_.copies());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const std::size_t first = indices.size() - static_cast<std::size_t>(witness);
    cuda::copy_samples(frames[i], indices.data() + first, static_cast<std::size_t>(witness),
                       slot.host.data() + i * static_cast<std::size_t>(witness) * element);
  }
  cuda::copy_witness(set, slot.host.data(), element, witness, count, slot.device.data(), ring_.copies());
  ring_.end_copies(slot);
}

template <class Real>
void HostFrames<Real>::read_in_place(std::span<const SignalView> frames, Slot& slot) {
  const void* const managed = cuda::managed_address(frames[0].data());
  const void* const there = managed != nullptr ? managed : cuda::mapped_address(frames[0].data());
  slot.sent.frames = static_cast<const std::byte*>(there);
  if (managed != nullptr) return;
  slot.sent.bytes =
      static_cast<std::int64_t>(executor_.sample_indices().size() * element_bytes(frames[0].type()));
}

/// Gathers the samples of every frame, one frame after another.
template <class Real>
void HostFrames<Real>::gather(std::span<const SignalView> frames, std::byte* compact) const {
  const std::vector<std::int64_t>& indices = executor_.sample_indices();
  const std::size_t element = element_bytes(frames[0].type());
  // The minimum number of samples that are worth waking a thread.
  constexpr std::size_t kPart = 4096;
  const std::size_t parts = std::clamp<std::size_t>(indices.size() / kPart, 1, 64);
  const auto copy = [&](std::int64_t task, int) {
    const std::size_t frame = static_cast<std::size_t>(task) / parts;
    const std::size_t part = static_cast<std::size_t>(task) % parts;
    const std::size_t first = indices.size() * part / parts, last = indices.size() * (part + 1) / parts;
    cuda::copy_samples(frames[frame], indices.data() + first, last - first,
                       compact + (frame * indices.size() + first) * element);
  };
  const auto tasks = static_cast<std::int64_t>(frames.size() * parts);
  if (call_.pool != nullptr) return call_.pool->run(tasks, copy);
  for (std::int64_t task = 0; task < tasks; ++task) copy(task, 0);
}

template cuda::Batch<float> make_batch(const DeviceFrames&, const Plan<float>::DeviceSpectra&,
                                       const PlanReference*, std::int64_t);
template cuda::Batch<double> make_batch(const DeviceFrames&, const Plan<double>::DeviceSpectra&,
                                        const PlanReference*, std::int64_t);
template class HostFrames<float>;
template class HostFrames<double>;

}  // namespace sfft::detail
