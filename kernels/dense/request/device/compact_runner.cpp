// SPDX-License-Identifier: Apache-2.0
// Either kernels read and write stored values, or conversions before and after the transform do. Exponents of
// the input are found first if the formats say so and the caller wants those of the results.
#include "kernels/dense/request/device/runners.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/cuda/stages/stored_values.hpp"
#include "kernels/dense/cpu/stored_values.hpp"

namespace sfft::detail {

namespace {

using dense::Storage;

class CompactGpuRunner final : public Runner<CompactCall> {
 public:
  CompactGpuRunner(const CompactRequest& request, std::unique_ptr<const GpuCompactEngine> engine,
                   const CompactFormats& formats)
      : CompactGpuRunner(request, formats.signal != request.formats.signal,
                         formats.spectrum != request.formats.spectrum) {
    engine_ = std::move(engine);
  }
  CompactGpuRunner(const CompactRequest& request, std::unique_ptr<const Runner<FullCall>> floats)
      : CompactGpuRunner(request, true, true) {
    floats_ = std::move(floats);
  }

  void run(const CompactCall&) const override {
    throw Error(ErrorCode::backend_unavailable,
                "compact plans on a GPU take arrays in its memory: call enqueue_forward() or "
                "enqueue_inverse()");
  }
  std::size_t device_workspace_bytes() const noexcept override {
    return found_bytes_ + buffer_bytes() +
           (engine_ != nullptr ? engine_->workspace_bytes() : floats_->device_workspace_bytes());
  }
  void enqueue(const CompactCall& call) const override {
    const cuda::DeviceScope scope(problem_.device);
    const bool finds = request_.formats.source_found(call.direction) && call.to_exponents != nullptr;
    int* const found = finds ? reinterpret_cast<int*>(call.workspace) : nullptr;
    const Side &source = side(call.direction), &target = side(opposite(call.direction));
    const void* const from = prepared(call, source, found);
    void* const to = target.converts ? buffer(target, call.workspace) : call.to;
    const int exponent = exponent_of(request_, call.direction);
    std::byte* const rest = call.workspace + found_bytes_ + buffer_bytes();
    if (engine_ != nullptr) {
      const DenseScales& scales = request_.dense.scales;
      const double factor = call.direction == Direction::forward ? scales.forward : scales.inverse;
      engine_->run(call.direction, from, to, std::ldexp(factor, -exponent), rest, call.stream);
    } else {
      floats_->enqueue({call.direction, from, own_type<float>(problem_), to, rest, call.stream});
    }
    if (target.converts)
      narrow(target, static_cast<const float*>(to), engine_ != nullptr ? 1.0f : std::ldexp(1.0f, -exponent),
             call.to, call.stream);
    if (call.to_exponents == nullptr) return;
    cuda::launch_add_exponents(call.from_exponents, found, exponent, problem_.batch, call.to_exponents,
                               call.stream);
  }
  int handovers(Direction direction) const noexcept override {
    return engine_ != nullptr ? engine_->handovers(direction) : 0;
  }
  double kernel_error() const noexcept override {
    return engine_ != nullptr && !spectra_.converts ? engine_->kernel_error() : 0;
  }
  bool on_gpu() const noexcept override { return true; }
  std::string name() const override {
    if (engine_ == nullptr) return floats_->name() + ", between conversions";
    return spectra_.converts ? engine_->name() + ", spectra converted" : engine_->name();
  }
  std::string kernel() const override { return engine_ != nullptr ? engine_->kernel() : kConverted; }

 private:
  /// Signals or spectra of the batch.
  struct Side {
    Storage storage = Storage::f16;  ///< in the caller's memory
    std::int64_t parts = 0;          ///< real and imaginary parts of one transform
    bool converts = false;           ///< the transform reads and writes floats in a buffer
    std::size_t offset = 0;          ///< of the buffer
    std::size_t bytes = 0;           ///< of the buffer, which also holds inputs without their exponents
  };

  CompactGpuRunner(const CompactRequest& request, bool signals_convert, bool spectra_convert)
      : request_(request),
        problem_(request.dense.problem),
        signals_(side_of(Direction::forward, signals_convert)),
        spectra_(side_of(Direction::inverse, spectra_convert)) {
    // Complex transforms of converted values work in place. Without conversions only the input has a buffer.
    const bool shared = signals_convert == spectra_convert && (!problem_.real || !signals_convert);
    spectra_.offset = shared ? 0 : signals_.bytes;
    const CompactFormats& formats = request.formats;
    if (formats.signal_found || formats.spectrum_found)
      found_bytes_ = cuda::aligned(static_cast<std::size_t>(problem_.batch) * sizeof(int));
  }

  /// The side that transforms of this direction read.
  Side side_of(Direction direction, bool converts) const {
    Side made{request_.formats.source(direction), source_parts(problem_, direction), converts};
    if (converts || request_.formats.source_found(direction))
      made.bytes = cuda::aligned(static_cast<std::size_t>(problem_.batch) *
                                 storage_bytes(converts ? Storage::f32 : made.storage, made.parts));
    return made;
  }
  static Direction opposite(Direction direction) noexcept {
    return direction == Direction::forward ? Direction::inverse : Direction::forward;
  }
  const Side& side(Direction direction) const noexcept {
    return direction == Direction::forward ? signals_ : spectra_;
  }
  std::size_t buffer_bytes() const noexcept {
    return std::max(signals_.bytes, spectra_.offset + spectra_.bytes);
  }
  std::byte* buffer(const Side& side, std::byte* workspace) const noexcept {
    return workspace + found_bytes_ + side.offset;
  }

  /// The input of the transform: that of the call, or in a buffer, as floats or divided by its exponents.
  const void* prepared(const CompactCall& call, const Side& side, int* found) const {
    if (!side.converts && found == nullptr) return call.from;
    std::byte* const to = buffer(side, call.workspace);
    if (side.converts) widen(side, call.from, reinterpret_cast<float*>(to), call.stream);
    if (found != nullptr) {
      const void* const from = side.converts ? to : call.from;
      const Storage storage = side.converts ? Storage::f32 : side.storage;
      cuda::launch_find_exponents(from, storage, problem_.batch, side.parts,
                                  request_.formats.needs_exponents(call.direction), found, call.stream);
      cuda::launch_normalize(from, storage, problem_.batch, side.parts, found, to, call.stream);
    }
    return to;
  }
  void widen(const Side& side, const void* from, float* to, CUstream_st* stream) const {
    if (side.storage == Storage::block16)
      return cuda::launch_widen_blocks(from, problem_.batch, side.parts, to, stream);
    cuda::launch_widen(from, side.storage, problem_.batch * side.parts, to, stream);
  }
  void narrow(const Side& side, const float* from, float factor, void* to, CUstream_st* stream) const {
    if (side.storage == Storage::block16)
      return cuda::launch_narrow_blocks(from, problem_.batch, side.parts, factor, to, stream);
    cuda::launch_narrow(from, problem_.batch * side.parts, factor, side.storage, to, stream);
  }

  CompactRequest request_;
  DenseProblem problem_;
  Side signals_, spectra_;
  std::size_t found_bytes_ = 0;
  std::unique_ptr<const GpuCompactEngine> engine_;
  std::unique_ptr<const Runner<FullCall>> floats_;  ///< without an engine
};

}  // namespace

std::unique_ptr<const Runner<CompactCall>> make_compact_runner(const CompactRequest& request,
                                                               std::unique_ptr<const GpuCompactEngine> engine,
                                                               const CompactFormats& formats) {
  return std::make_unique<const CompactGpuRunner>(request, std::move(engine), formats);
}

std::unique_ptr<const Runner<CompactCall>> make_compact_runner(
    const CompactRequest& request, std::unique_ptr<const Runner<FullCall>> floats) {
  return std::make_unique<const CompactGpuRunner>(request, std::move(floats));
}

}  // namespace sfft::detail
