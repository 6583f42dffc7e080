// SPDX-License-Identifier: Apache-2.0
// A GPU as the device of an out-of-core transform: cuFFT plans in the advanced data layout, and a kernel for
// the factors between them.
#include <algorithm>
#include <complex>
#include <optional>

#include "kernels/cuda/stages/columns.hpp"
#include "kernels/cuda/stages/stored_values.hpp"
#include "kernels/dense/gpu/cufft_transform.hpp"
#include "kernels/dense/out_of_core/out_of_core_device.hpp"
#include "sfft/error.hpp"

namespace sfft::detail {

namespace {

/// The cuFFT plans of transforms in place, one for each direction unless the same plan does both.
template <class Real>
class CudaKernel final : public DeviceKernel {
 public:
  /// Complex transforms.
  explicit CudaKernel(const CufftRequest& both) : forward_(both) {}
  /// Real transforms.
  CudaKernel(const CufftRequest& forward, const CufftRequest& inverse) : forward_(forward) {
    inverse_.emplace(inverse);
  }

  std::int64_t workspace_bytes() const noexcept override {
    return static_cast<std::int64_t>(
        std::max(forward_.work_bytes(), inverse_ ? inverse_->work_bytes() : std::size_t{0}));
  }
  void run(std::byte* piece, bool inverse, std::byte* workspace, Queue& queue) const override {
    using Api = CufftApi<Real>;
    auto* const values = reinterpret_cast<typename Api::Complex*>(piece);
    auto* const samples = reinterpret_cast<Real*>(piece);
    queue.launch([&](cuda::Stream stream) {
      (inverse && inverse_ ? *inverse_ : forward_).run(workspace, stream, [&](cufftHandle handle) {
        if (!inverse_) return Api::complex(handle, values, values, inverse ? CUFFT_INVERSE : CUFFT_FORWARD);
        return inverse ? Api::inverse(handle, values, samples) : Api::forward(handle, samples, values);
      });
    });
  }

 private:
  CufftTransform forward_;
  std::optional<CufftTransform> inverse_;
};

/// Drops dimensions of one point, which slow cuFFT down.
CufftRequest slab_request(const Shape& stored, std::int64_t row_points, std::int64_t count, cufftType type) {
  CufftRequest request;
  request.rank = 0;
  for (int d = 0; d < stored.rank(); ++d) {
    const bool last = d + 1 == stored.rank();
    if (!last && stored[d] == 1) continue;
    const auto at = static_cast<std::size_t>(request.rank++);
    request.extents[at] = last ? row_points : stored[d];
    request.in.embed[at] = stored[d];
  }
  request.in.distance = stored.points();
  request.out = request.in;
  request.type = type;
  request.batch = count;
  return request;
}

/// A request for half spectra in rows without gaps, with samples in the same rows.
CufftRequest real_slab_request(const Shape& stored, std::int64_t row_points, std::int64_t count,
                               cufftType type, bool inverse) {
  CufftRequest request = slab_request(stored, row_points, count, type);
  CufftLayout& samples = inverse ? request.out : request.in;
  samples.embed[static_cast<std::size_t>(request.rank - 1)] *= 2;
  samples.distance *= 2;
  return request;
}

CufftRequest column_request(std::int64_t points, std::int64_t count, cufftType type) {
  const CufftLayout layout{{points, 1, 1}, count, 1};
  return {1, {points, 1, 1}, layout, layout, type, count, false};
}

template <class Real>
class CudaDevice final : public OutOfCoreDevice {
 public:
  explicit CudaDevice(int device) : device_(device), name_(cuda::device_info(device).name) {}

  std::string name() const override { return name_; }
  std::int64_t memory_bytes() const override {
    return static_cast<std::int64_t>(cuda::device_info(device_).memory_bytes);
  }
  std::int64_t free_bytes() const override {
    const cuda::DeviceScope scope(device_);
    return static_cast<std::int64_t>(cuda::free_bytes());
  }
  std::shared_ptr<std::byte> allocate(std::int64_t bytes) override {
    return shared<cuda::DeviceMemory>(bytes);
  }
  std::shared_ptr<std::byte> allocate_on_host(std::int64_t bytes) override {
    return shared<cuda::PinnedMemory>(bytes);
  }
  bool reads(const void* host, std::int64_t bytes) const noexcept override {
    // Copy kernels use the host's address.
    return cuda::mapped_address(host) == host &&
           cuda::mapped_address(static_cast<const std::byte*>(host) + bytes - 1) != nullptr;
  }
  std::unique_ptr<Queue> make_queue() override {
    // Sleeps while it waits, because the host's cores have work to do.
    return make<cuda::Queue>(cuda::Queue::Kind::sleeping);
  }
  std::unique_ptr<Event> make_event() override { return make<cuda::Event>(cuda::Event::Kind::blocking); }
  std::unique_ptr<const DeviceKernel> columns(std::int64_t points, std::int64_t count) override {
    return make<const CudaKernel<Real>>(column_request(points, count, CufftApi<Real>::kComplex));
  }
  std::unique_ptr<const DeviceKernel> slabs(const Shape& stored, std::int64_t row_points,
                                            std::int64_t count) override {
    return make<const CudaKernel<Real>>(slab_request(stored, row_points, count, CufftApi<Real>::kComplex));
  }
  std::unique_ptr<const DeviceKernel> real_slabs(const Shape& stored, std::int64_t row_points,
                                                 std::int64_t count) override {
    using Api = CufftApi<Real>;
    return make<const CudaKernel<Real>>(real_slab_request(stored, row_points, count, Api::kForward, false),
                                        real_slab_request(stored, row_points, count, Api::kInverse, true));
  }
  void multiply(std::byte* piece, const PieceFactors& by, Queue& queue) const override {
    queue.launch([&](cuda::Stream stream) { cuda::launch_multiply(values(piece), factors_of(by), stream); });
  }
  void multiply_transposed(const std::byte* piece, const PieceFactors& by, std::byte* to,
                           Queue& queue) const override {
    queue.launch([&](cuda::Stream stream) {
      cuda::launch_multiply_transposed(reinterpret_cast<const cuda::Complex<Real>*>(piece), factors_of(by),
                                       values(to), stream);
    });
  }
  void unpack_real(std::byte* piece, const MirroredPiece& of, double scale, Queue& queue) const override {
    queue.launch([&](cuda::Stream stream) {
      cuda::launch_unpack_real(values(piece), {of.rows, of.columns, of.first, of.width}, scale, stream);
    });
  }
  void pack_real(std::byte* piece, const MirroredPiece& of, Queue& queue) const override {
    queue.launch([&](cuda::Stream stream) {
      cuda::launch_pack_real(values(piece), {of.rows, of.columns, of.first, of.width}, stream);
    });
  }
  void unpack(const std::byte* packed, const Rows& floats, Queue& queue) const override {
    queue.launch([&](cuda::Stream stream) {
      cuda::launch_widen_blocks(packed, floats.rows, floats.width / kFloat,
                                reinterpret_cast<float*>(floats.data), stream, floats.pitch / kFloat);
    });
  }
  void pack(const Rows& floats, std::byte* packed, Queue& queue) const override {
    queue.launch([&](cuda::Stream stream) {
      cuda::launch_narrow_blocks(reinterpret_cast<const float*>(floats.data), floats.rows,
                                 floats.width / kFloat, 1, packed, stream, floats.pitch / kFloat);
    });
  }

 private:
  static constexpr std::int64_t kFloat = sizeof(float);

  static cuda::Complex<Real>* values(std::byte* piece) noexcept {
    return reinterpret_cast<cuda::Complex<Real>*>(piece);
  }
  static cuda::ColumnFactors factors_of(const PieceFactors& by) noexcept {
    return {by.rows,    by.columns, by.first_column,  by.twiddles.length, by.twiddles.element,
            by.inverse, by.scale,   by.mirrored_width};
  }
  /// Makes something on the device.
  template <class Made, class... Arguments>
  std::unique_ptr<Made> make(const Arguments&... arguments) const {
    const cuda::DeviceScope scope(device_);
    return std::make_unique<Made>(arguments...);
  }
  template <class Kind>
  std::shared_ptr<std::byte> shared(std::int64_t bytes) const {
    const cuda::DeviceScope scope(device_);
    auto buffer = std::make_shared<cuda::Buffer<Kind>>(static_cast<std::size_t>(bytes));
    return {buffer, buffer->data()};
  }

  int device_;
  std::string name_;
};

}  // namespace

bool gpu_usable(int device) {
  return cuda::unavailable(device).empty();
}

std::unique_ptr<OutOfCoreDevice> make_gpu_device(int device, std::int64_t value_bytes) {
  if (value_bytes == sizeof(std::complex<float>)) return std::make_unique<CudaDevice<float>>(device);
  return std::make_unique<CudaDevice<double>>(device);
}

}  // namespace sfft::detail
