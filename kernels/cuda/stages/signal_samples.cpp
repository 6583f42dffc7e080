// SPDX-License-Identifier: Apache-2.0
// A kernel writes the samples directly to mapped host memory, in one pass over the bus. The process keeps a
// few such blocks for later calls.
#include "kernels/cuda/stages/signal_samples.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <mutex>

#include "sfft/error.hpp"

namespace sfft::detail::cuda {

namespace {

struct Shelf {
  static constexpr std::size_t kMaxBlocks = 4;
  static constexpr std::size_t kMaxBytes = std::size_t{32} << 20;
  std::mutex mutex;
  std::vector<PinnedBuffer> blocks;
  Shelf() { blocks.reserve(kMaxBlocks); }
};

/// Never destroyed: when the process ends the driver may be gone already.
Shelf& shelf() {
  static Shelf& kept = *new Shelf;
  return kept;
}

constexpr std::size_t kLine = 256;

std::size_t whole_lines(std::size_t bytes) {
  return (bytes + kLine - 1) / kLine * kLine;
}

}  // namespace

std::byte* PinnedLoan::fit(std::size_t bytes) {
  if (block_.bytes() >= bytes) return block_.data();
  give_back();
  {
    Shelf& kept = shelf();
    const std::lock_guard lock(kept.mutex);
    const auto found = std::find_if(kept.blocks.begin(), kept.blocks.end(),
                                    [&](const PinnedBuffer& block) { return block.bytes() >= bytes; });
    if (found != kept.blocks.end()) {
      block_ = std::move(*found);
      kept.blocks.erase(found);
      return block_.data();
    }
  }
  // Sizes are powers of two with a minimum, so that a somewhat larger set still fits.
  constexpr std::size_t kMinBytes = std::size_t{1} << 20;
  block_ = PinnedBuffer(std::bit_ceil(std::max(bytes, kMinBytes)));
  return block_.data();
}

/// Drops the smallest block when there are too many.
void PinnedLoan::give_back() noexcept {
  PinnedBuffer block = std::move(block_);
  if (block.bytes() == 0 || block.bytes() > Shelf::kMaxBytes) return;
  Shelf& kept = shelf();
  const std::lock_guard lock(kept.mutex);
  if (kept.blocks.size() < Shelf::kMaxBlocks) {
    kept.blocks.push_back(std::move(block));
    return;
  }
  const auto smallest =
      std::min_element(kept.blocks.begin(), kept.blocks.end(),
                       [](const PinnedBuffer& a, const PinnedBuffer& b) { return a.bytes() < b.bytes(); });
  if (smallest->bytes() < block.bytes()) std::swap(*smallest, block);
}

SignalSamples::SignalSamples(const void* signal, Element type, int device, Stream stream)
    : signal_(signal), type_(type), device_(device), stream_(stream) {
  static_cast<void>(device_info(device));
  const DeviceScope scope(device);
  if (!kernels_can_read(signal, device)) {
    throw Error(ErrorCode::invalid_argument,
                "the signal's data pointer is not to memory of the GPU, managed memory or page-locked host "
                "memory: copy it there, or pass a SignalView");
  }
}

template <class Real>
void SignalSamples::read(const SampleSet& set, Real* re, Real* im) {
  const DeviceScope scope(device_);
  const std::int64_t streams = type_ < Element::c64 ? 2 * set.lanes : set.lanes;
  const std::size_t part = static_cast<std::size_t>(set.values()) * sizeof(Real);
  const std::size_t offset_bytes =
      streams > kOffsetsInLaunch ? static_cast<std::size_t>(streams) * sizeof(std::int64_t) : 0;
  // The kernel writes straight over the bus; a device buffer would need a second pass.
  std::byte* host = loan_.fit(2 * whole_lines(part) + offset_bytes);
  auto* device = static_cast<std::byte*>(const_cast<void*>(mapped_address(host)));
  SampleSet there = set;
  if (offset_bytes > 0) {
    std::memcpy(host + 2 * whole_lines(part), set.offsets, offset_bytes);
    there.offsets = reinterpret_cast<const std::int64_t*>(device + 2 * whole_lines(part));
  }
  launch_read_set(signal_, type_, there, reinterpret_cast<Real*>(device),
                  reinterpret_cast<Real*>(device + whole_lines(part)), stream_);
  synchronize(stream_);
  std::memcpy(re, host, part);
  std::memcpy(im, host + whole_lines(part), part);
}

template void SignalSamples::read<float>(const SampleSet&, float*, float*);
template void SignalSamples::read<double>(const SampleSet&, double*, double*);

}  // namespace sfft::detail::cuda
