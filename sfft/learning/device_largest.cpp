// SPDX-License-Identifier: Apache-2.0
// Queues the transform of a frame, the selection and the sums in one stream, in one block of GPU memory, and
// waits once. An allocation takes as long as the arithmetic for a small frame, and so do ten waits.
#include "sfft/learning/device_largest.hpp"

#include <vector>

#include "kernels/base/error.hpp"
#include "kernels/base/step_trace.hpp"
#include "kernels/cuda/runtime/stream_buffer.hpp"
#include "kernels/cuda/spectrum/frame_fft.hpp"
#include "kernels/cuda/spectrum/shape_extents.hpp"
#include "kernels/cuda/stages/signal_samples.hpp"

namespace sfft::detail::cuda {

namespace {

/// Results of more bytes go to pageable memory: so much page-locked memory takes longer to make than to copy.
constexpr std::size_t kMostLocked = std::size_t{4} << 20;

/// Host memory that copies go through.
class HostBlock {
 public:
  explicit HostBlock(std::size_t bytes) {
    if (bytes > kMostLocked) pageable_.resize(bytes);
    data_ = bytes > kMostLocked ? pageable_.data() : locked_.fit(bytes);
  }
  std::byte* data() const noexcept { return data_; }

 private:
  PinnedLoan locked_;
  std::vector<std::byte> pageable_;
  std::byte* data_;
};

/// Kernels load whole elements; copies take any address.
bool readable_in_place(const LearningFrame& frame) {
  return frame.resident && reinterpret_cast<std::uintptr_t>(frame.samples) % element_bytes(frame.type) == 0;
}

/// Waits for what is queued when an error ends its use: memory is freed, and host memory given back, after.
class WaitOnError {
 public:
  explicit WaitOnError(Stream stream) : stream_(stream) {}
  ~WaitOnError() {
    if (done_) return;
    try {
      synchronize(stream_);
    } catch (const Error&) {
      // The error that is under way says more.
    }
  }
  WaitOnError(const WaitOnError&) = delete;
  WaitOnError& operator=(const WaitOnError&) = delete;
  void done() noexcept { done_ = true; }

 private:
  Stream stream_;
  bool done_ = false;
};

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
  const std::optional<OwnedStream> own = frame.resident ? std::nullopt : std::make_optional<OwnedStream>();
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
  fft.enqueue(samples, static_cast<Element>(frame.type), spectrum, power, 1, memory.data() + fft_at, stream);
  step_done("learn: queue the FFT");
  select.enqueue(spectrum, power, memory.data() + select_at, host.data(), stream);
  step_done("learn: queue the selection");
  synchronize(stream);
  waiting.done();
  step_done("learn: wait");
  return select.results(host.data());
}

}  // namespace sfft::detail::cuda
