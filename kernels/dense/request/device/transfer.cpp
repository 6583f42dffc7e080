// SPDX-License-Identifier: Apache-2.0
// Parts of a batch rotate through up to three slots, each with a stream, device memory and page-locked
// buffers. A single volume is transformed in phases while it is copied.
#include "kernels/dense/request/device/transfer.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/dense/cpu/strided_copy.hpp"

namespace sfft::detail {

namespace {

constexpr int kMaxSlots = 3;

/// Bytes of a part: large enough for full bus speed, small enough for several parts.
constexpr std::int64_t kPartBytes = std::int64_t{16} << 20;
/// Length of scattered pieces. Shorter pieces are copied more slowly.
constexpr std::int64_t kPieceBytes = std::int64_t{128} << 10;

template <class Kind>
void fit(cuda::Buffer<Kind>& buffer, std::size_t bytes) {
  if (buffer.bytes() >= bytes) return;
  buffer = {};  // before the new one is allocated
  buffer = cuda::Buffer<Kind>(bytes);
}

}  // namespace

template <class Real>
std::int64_t transfer_part(const DenseProblem& problem) {
  const auto sample = static_cast<std::int64_t>(problem.real ? sizeof(Real) : sizeof(std::complex<Real>));
  const std::int64_t bytes =
      std::max(problem.shape.points() * sample,
               problem.spectrum_points() * static_cast<std::int64_t>(sizeof(std::complex<Real>)));
  const std::int64_t max = std::clamp<std::int64_t>(kPartBytes / bytes, 1, problem.batch);
  const std::int64_t parts = (problem.batch + max - 1) / max;
  return (problem.batch + parts - 1) / parts;
}

/// One direction of one call.
template <class Real>
struct DenseTransfer<Real>::Pass {
  Direction direction = Direction::forward;
  ElementType type = ElementType::f32;  ///< of the signals
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  std::size_t from_bytes = 0, to_bytes = 0;   ///< of one signal or spectrum, packed
  bool stage_from = false, stage_to = false;  ///< stage through page-locked memory
  bool gather = false, scatter = false;       ///< strided signals
};

/// Memory and streams of the parts in flight.
template <class Real>
class DenseTransfer<Real>::Slots {
 public:
  struct Slot {
    cuda::Queue stream;
    cuda::DeviceBuffer in, out, workspace;
    cuda::PinnedBuffer staged_in, staged_out;
    std::int64_t part = -1;  ///< the part in flight
  };
  cuda::Queue copies;  ///< for phases, in addition to the first slot's stream
  cuda::Event done;

  explicit Slots(std::int64_t parts)
      : slots_(static_cast<std::size_t>(std::min<std::int64_t>(kMaxSlots, parts))) {}
  ~Slots() { drain(); }
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;

  void fit_to(const Pass& pass, std::int64_t part, std::size_t workspace_bytes) {
    const auto count = static_cast<std::size_t>(part);
    for (Slot& slot : slots_) {
      slot.part = -1;
      fit(slot.in, count * pass.from_bytes);
      fit(slot.out, count * pass.to_bytes);
      fit(slot.workspace, workspace_bytes);
      if (pass.stage_from) fit(slot.staged_in, count * pass.from_bytes);
      if (pass.stage_to) fit(slot.staged_out, count * pass.to_bytes);
    }
  }
  Slot& of(std::int64_t part) { return slots_[static_cast<std::size_t>(part) % slots_.size()]; }
  std::int64_t count() const { return static_cast<std::int64_t>(slots_.size()); }
  /// Waits until nothing of this object is in use.
  void drain() noexcept {
    for (Slot& slot : slots_) {
      try {
        slot.stream.wait();
      } catch (...) {  // the failure was reported when the work was enqueued
      }
    }
    try {
      copies.wait();
    } catch (...) {
    }
  }

 private:
  std::vector<Slot> slots_;
};

template <class Real>
DenseTransfer<Real>::DenseTransfer(const DenseProblem& problem, std::int64_t part,
                                   const Runner<FullCall>& runner, const GpuPhases<Real>* phases,
                                   const DenseScales& scales)
    : problem_(problem), part_(part), runner_(runner), phases_(phases), scales_(scales) {}

template <class Real>
DenseTransfer<Real>::~DenseTransfer() = default;

template <class Real>
std::int64_t DenseTransfer<Real>::count_of(std::int64_t part) const noexcept {
  return std::min(part_, problem_.batch - part * part_);
}

template <class Real>
typename DenseTransfer<Real>::Pass DenseTransfer<Real>::pass_of(const FullCall& call,
                                                                std::int64_t parts) const {
  Pass pass;
  pass.direction = call.direction;
  const bool forward = call.direction == Direction::forward;
  pass.type = forward ? call.type : own_type<Real>(problem_);
  pass.from = static_cast<const std::byte*>(call.from);
  pass.to = static_cast<std::byte*>(call.to);
  const std::size_t signal = static_cast<std::size_t>(problem_.shape.points()) * element_bytes(pass.type),
                    spectrum =
                        static_cast<std::size_t>(problem_.spectrum_points()) * sizeof(std::complex<Real>);
  pass.from_bytes = forward ? signal : spectrum;
  pass.to_bytes = forward ? spectrum : signal;
  pass.gather = forward && !problem_.contiguous();
  pass.scatter = !forward && !problem_.contiguous();
  // A single part cannot overlap with another one, and the driver copies pageable memory as fast as staging
  // would.
  pass.stage_from = pass.gather || (parts > 1 && cuda::mapped_address(pass.from) == nullptr);
  pass.stage_to = pass.scatter || (parts > 1 && cuda::mapped_address(pass.to) == nullptr);
  return pass;
}

template <class Real>
void DenseTransfer<Real>::run(const FullCall& call) const {
  const std::int64_t parts = (problem_.batch + part_ - 1) / part_;
  const Pass pass = pass_of(call, parts);
  std::unique_ptr<Slots> slots;
  {
    const std::lock_guard lock(mutex_);
    slots = std::move(idle_);
  }
  if (slots == nullptr) slots = std::make_unique<Slots>(parts);
  slots->fit_to(pass, part_, runner_.device_workspace_bytes());
  if (phases_ != nullptr && pass.type == own_type<Real>(problem_) &&
      cuda::mapped_address(pass.from) != nullptr && cuda::mapped_address(pass.to) != nullptr) {
    run_phases(pass, *slots);
  } else {
    run_parts(pass, *slots);
  }
  const std::lock_guard lock(mutex_);
  if (idle_ == nullptr) idle_ = std::move(slots);
}

/// Transforms data that has arrived while the rest is still being copied in, and copies results out while the
/// rest is being transformed.
template <class Real>
void DenseTransfer<Real>::run_phases(const Pass& pass, Slots& slots) const {
  auto& slot = slots.of(0);
  const cuda::Stream stream = slot.stream.get();
  const auto then = [&](cuda::Queue& before, cuda::Queue& after) {
    before.record(slots.done);
    after.wait(slots.done);
  };
  const std::int64_t planes = problem_.shape[0], plane = problem_.shape.points() / planes;
  constexpr auto kValue = static_cast<std::int64_t>(sizeof(std::complex<Real>));
  const std::int64_t unit = phases_->columns_at_once();
  const std::int64_t piece = std::max(kPartBytes / planes, kPieceBytes) / (kValue * unit);
  const std::int64_t columns_of_part = std::max<std::int64_t>(1, piece) * unit;
  const std::int64_t planes_of_part = std::max<std::int64_t>(1, kPartBytes / (plane * kValue));
  const bool inverse = pass.direction == Direction::inverse;
  const typename GpuPhases<Real>::Volume volume{
      inverse, slot.in.template as<const std::complex<Real>>(), slot.out.template as<std::complex<Real>>(),
      static_cast<Real>(inverse ? scales_.inverse : scales_.forward), slot.workspace.data()};
  for (const bool arriving : {true, false}) {
    const bool columns = arriving != phases_->planes_first(inverse);
    const std::int64_t all = columns ? plane : planes, max = columns ? columns_of_part : planes_of_part;
    for (std::int64_t first = 0; first < all; first += max) {
      const std::int64_t count = std::min(max, all - first), values = columns ? 1 : plane;
      const std::int64_t offset = first * values * kValue, bytes = count * values * kValue;
      const auto copy = [&](std::byte* to, const std::byte* from) {
        const Rows rows{to + offset, columns ? plane * kValue : bytes, bytes, columns ? planes : 1};
        slots.copies.copy(rows, {const_cast<std::byte*>(from) + offset, rows.pitch, rows.width, rows.rows});
      };
      if (arriving) {
        copy(slot.in.data(), pass.from);
        then(slots.copies, slot.stream);
      }
      columns ? phases_->columns(volume, first, count, stream)
              : phases_->planes(volume, first, count, stream);
      if (!arriving) {
        then(slot.stream, slots.copies);
        copy(pass.to, slot.out.data());
      }
    }
  }
  slots.copies.wait();
}

template <class Real>
void DenseTransfer<Real>::run_parts(const Pass& pass, Slots& slots) const {
  const std::int64_t parts = (problem_.batch + part_ - 1) / part_;
  const auto finish = [&](typename Slots::Slot& slot) {
    const std::int64_t part = std::exchange(slot.part, -1);
    if (part < 0) return;
    slot.stream.wait();
    if (!pass.stage_to) return;
    const std::int64_t first = part * part_, count = count_of(part);
    const std::byte* staged = slot.staged_out.data();
    if (!pass.scatter) {
      std::memcpy(pass.to + static_cast<std::size_t>(first) * pass.to_bytes, staged,
                  static_cast<std::size_t>(count) * pass.to_bytes);
      return;
    }
    for (std::int64_t i = 0; i < count; ++i)
      scatter_signal(problem_, first + i, staged + static_cast<std::size_t>(i) * pass.to_bytes, pass.type,
                     pass.to);
  };
  const auto start = [&](typename Slots::Slot& slot, std::int64_t part) {
    const std::int64_t first = part * part_, count = count_of(part);
    const std::size_t bytes = static_cast<std::size_t>(count) * pass.from_bytes;
    const std::byte* from = pass.from + static_cast<std::size_t>(first) * pass.from_bytes;
    if (pass.gather) {
      for (std::int64_t i = 0; i < count; ++i)
        gather_signal(problem_, first + i, pass.from, pass.type,
                      slot.staged_in.data() + static_cast<std::size_t>(i) * pass.from_bytes);
    } else if (pass.stage_from) {
      std::memcpy(slot.staged_in.data(), from, bytes);
    }
    const cuda::Stream stream = slot.stream.get();
    slot.part = part;
    cuda::copy_to_device(slot.in.data(), pass.stage_from ? slot.staged_in.data() : from, bytes, stream);
    // A short last part is transformed like a full one, so the unused signals must be finite numbers.
    if (count < part_)
      cuda::clear(slot.in.data() + bytes, static_cast<std::size_t>(part_ - count) * pass.from_bytes, stream);
    runner_.enqueue(
        {pass.direction, slot.in.data(), pass.type, slot.out.data(), slot.workspace.data(), stream});
    cuda::copy_to_host(
        pass.stage_to ? slot.staged_out.data() : pass.to + static_cast<std::size_t>(first) * pass.to_bytes,
        slot.out.data(), static_cast<std::size_t>(count) * pass.to_bytes, stream);
  };

  for (std::int64_t part = 0; part < parts; ++part) {
    finish(slots.of(part));
    start(slots.of(part), part);
  }
  for (std::int64_t part = parts; part < parts + slots.count(); ++part) finish(slots.of(part));
}

template std::int64_t transfer_part<float>(const DenseProblem&);
template std::int64_t transfer_part<double>(const DenseProblem&);
template class DenseTransfer<float>;
template class DenseTransfer<double>;

}  // namespace sfft::detail
