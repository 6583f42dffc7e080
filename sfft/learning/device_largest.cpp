// SPDX-License-Identifier: Apache-2.0
// Enqueues the transform of a frame, the selection and the sums in one stream, in one block of GPU memory,
// and waits once. For a small frame, one allocation takes as long as the arithmetic, and so do ten waits.
#include "sfft/learning/device_learning.hpp"

#include "kernels/cpu/platform/pool_loan.hpp"
#include "kernels/cuda/runtime/stream_buffer.hpp"
#include "kernels/cuda/spectrum/frame_fft.hpp"
#include "kernels/cuda/spectrum/shape_extents.hpp"
#include "kernels/cuda/stages/host_block.hpp"
#include "kernels/runtime/step_trace.hpp"

namespace sfft::detail::cuda {

namespace {

/// With more points, too many powers may share the first digits by chance.
constexpr std::int64_t kMaxListed = std::int64_t{1} << 21;

/// Kernels load whole elements; copies accept any address.
bool readable_in_place(const LearningFrame& frame) {
  return frame.resident && reinterpret_cast<std::uintptr_t>(frame.samples) % element_bytes(frame.type) == 0;
}

}  // namespace

std::optional<LargestOfSpectrum> learn_largest(const LearningFrame& frame, std::int64_t k) {
  const SpectrumExtents extents = extents_of(frame.shape, !is_complex(frame.type));
  if (!FrameFft::supports(extents, frame.device)) return std::nullopt;
  const DeviceScope scope(frame.device);
  const FrameFft fft(extents, frame.device);
  const SelectLargest select(extents, k);
  const auto points = static_cast<std::size_t>(extents.points());
  const bool in_place = readable_in_place(frame);
  const std::size_t frame_bytes = static_cast<std::size_t>(frame.shape.points()) * element_bytes(frame.type);

  const std::size_t power_at = aligned(points * sizeof(std::complex<double>));
  const std::size_t fft_at = power_at + aligned(points * sizeof(double));
  const std::size_t select_at = fft_at + fft.workspace_bytes();
  const std::size_t frame_at = select_at + select.workspace_bytes();
  step_done("learn: layout");
  const HostBlock host(select.host_bytes());
  const std::optional<Queue> own = frame.resident ? std::nullopt : std::make_optional<Queue>();
  const Stream stream = own ? own->get() : frame.stream;
  const StreamBuffer memory(frame_at + (in_place ? 0 : frame_bytes), stream);
  step_done("learn: memory");
  auto* spectrum = memory.as<std::complex<double>>();
  auto* power = reinterpret_cast<double*>(memory.data() + power_at);

  WaitOnError waiting(stream);
  const void* samples = frame.samples;
  if (!in_place) {
    std::byte* const copy = memory.data() + frame_at;
    frame.resident ? copy_on_device(copy, samples, frame_bytes, stream)
                   : copy_to_device(copy, samples, frame_bytes, stream);
    samples = copy;
  }
  select.prepare(memory.data() + select_at, host.data(), stream);
  fft.enqueue(samples, static_cast<Element>(frame.type), spectrum, power, 1, memory.data() + fft_at, stream);
  step_done("learn: queue the FFT");
  using Digits = SelectLargest::Digits;
  const Digits digits = extents.points() <= kMaxListed ? Digits::few : Digits::all;
  select.enqueue(spectrum, power, memory.data() + select_at, host.data(), digits, stream);
  step_done("learn: queue the selection");
  cpu::wake_kept_pools();  // a plan usually follows
  synchronize(stream);
  if (!select.settled(host.data())) {  // many powers are equal, or nearly
    select.prepare(memory.data() + select_at, host.data(), stream);
    select.enqueue(spectrum, power, memory.data() + select_at, host.data(), Digits::all, stream);
    synchronize(stream);
  }
  waiting.done();
  step_done("learn: wait");
  return select.results(host.data());
}

}  // namespace sfft::detail::cuda
