// SPDX-License-Identifier: Apache-2.0
// A GPU as the device of an out-of-core transform: cuFFT plans in the advanced data layout, and a kernel for
// the factors between them.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/cuda/stages/columns.hpp"
#include "kernels/cuda/stages/stored_values.hpp"
#include "kernels/dense/gpu/cufft_transform.hpp"
#include "kernels/dense/out_of_core/out_of_core_device.hpp"
#include "sfft/error.hpp"

namespace sfft::detail {

namespace {

class CudaEvent final : public OutOfCoreEvent {
 public:
  explicit CudaEvent(int device) : device_(device) {}

  /// Sleeps instead of spinning, because the host's cores have work to do.
  void wait() override {
    const cuda::DeviceScope scope(device_);
    event_.wait();
  }

 private:
  friend class CudaStream;

  int device_;
  cuda::Event event_{cuda::Event::Kind::blocking};
};

class CudaStream final : public OutOfCoreStream {
 public:
  explicit CudaStream(int device) : device_(device), done_(device) {}

  void copy_in(const DeviceRows& to, const DeviceRows& from, Copier copier) override {
    copy(to, from, copier);
  }
  void copy_out(const DeviceRows& to, const DeviceRows& from, Copier copier) override {
    copy(to, from, copier);
  }
  void copy_within(const DeviceRows& to, const DeviceRows& from) override { copy(to, from, Copier::engine); }
  void record(OutOfCoreEvent& event) override {
    const cuda::DeviceScope scope(device_);
    static_cast<CudaEvent&>(event).event_.record(stream_.get());
  }
  void wait(const OutOfCoreEvent& event) override {
    const cuda::DeviceScope scope(device_);
    static_cast<const CudaEvent&>(event).event_.block(stream_.get());
  }
  void wait() override {
    record(done_);
    done_.wait();
  }

  cuda::Stream get() const noexcept { return stream_.get(); }

 private:
  void copy(const DeviceRows& to, const DeviceRows& from, Copier copier) {
    const cuda::DeviceScope scope(device_);
    if (copier == Copier::kernel) {
      cuda::launch_row_copy(to.data, to.pitch, from.data, from.pitch, from.width, from.rows, stream_.get());
    } else {
      cuda::copy_rows(to.data, to.pitch, from.data, from.pitch, from.width, from.rows, stream_.get());
    }
  }

  int device_;
  cuda::OwnedStream stream_;
  CudaEvent done_;
};

cuda::Stream queue_of(OutOfCoreStream& stream) {
  return static_cast<CudaStream&>(stream).get();
}

/// One cuFFT plan of complex transforms, in place, for both directions.
template <class Real>
class CudaKernel final : public DeviceKernel<Real> {
 public:
  CudaKernel(const CufftRequest& request, int device) : device_(device), transform_(request) {}

  std::size_t workspace_bytes() const noexcept override { return transform_.work_bytes(); }
  void run(std::complex<Real>* piece, bool inverse, std::byte* workspace,
           OutOfCoreStream& stream) const override {
    const cuda::DeviceScope scope(device_);
    auto* const values = reinterpret_cast<typename CufftApi<Real>::Complex*>(piece);
    transform_.run(workspace, queue_of(stream), [&](cufftHandle handle) {
      return CufftApi<Real>::complex(handle, values, values, inverse ? CUFFT_INVERSE : CUFFT_FORWARD);
    });
  }

 private:
  int device_;
  CufftTransform transform_;
};

/// The cuFFT plans of real transforms in place, one for each direction.
template <class Real>
class CudaRealKernel final : public DeviceKernel<Real> {
 public:
  CudaRealKernel(const CufftRequest& forward, const CufftRequest& inverse, int device)
      : device_(device), forward_(forward), inverse_(inverse) {}

  std::size_t workspace_bytes() const noexcept override {
    return std::max(forward_.work_bytes(), inverse_.work_bytes());
  }
  void run(std::complex<Real>* piece, bool inverse, std::byte* workspace,
           OutOfCoreStream& stream) const override {
    const cuda::DeviceScope scope(device_);
    auto* const values = reinterpret_cast<typename CufftApi<Real>::Complex*>(piece);
    auto* const samples = reinterpret_cast<Real*>(piece);
    (inverse ? inverse_ : forward_).run(workspace, queue_of(stream), [&](cufftHandle handle) {
      return inverse ? CufftApi<Real>::inverse(handle, values, samples)
                     : CufftApi<Real>::forward(handle, samples, values);
    });
  }

 private:
  int device_;
  CufftTransform forward_, inverse_;
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
class CudaDevice final : public OutOfCoreDevice<Real> {
 public:
  explicit CudaDevice(int device) : device_(device), name_(cuda::device_info(device).name) {}

  std::string name() const override { return name_; }
  std::size_t memory_bytes() const override { return cuda::device_info(device_).memory_bytes; }
  std::size_t free_bytes() const override {
    const cuda::DeviceScope scope(device_);
    return cuda::free_bytes();
  }
  std::shared_ptr<std::byte> allocate(std::size_t bytes) override {
    return shared<cuda::DeviceMemory>(bytes);
  }
  std::shared_ptr<std::byte> allocate_on_host(std::size_t bytes) override {
    return shared<cuda::PinnedMemory>(bytes);
  }
  bool reads(const void* host, std::size_t bytes) const noexcept override {
    // Copy kernels use the host's address.
    return cuda::mapped_address(host) == host &&
           cuda::mapped_address(static_cast<const std::byte*>(host) + bytes - 1) != nullptr;
  }
  std::unique_ptr<OutOfCoreStream> make_stream() override {
    const cuda::DeviceScope scope(device_);
    return std::make_unique<CudaStream>(device_);
  }
  std::unique_ptr<OutOfCoreEvent> make_event() override {
    const cuda::DeviceScope scope(device_);
    return std::make_unique<CudaEvent>(device_);
  }
  std::unique_ptr<const DeviceKernel<Real>> columns(std::int64_t points, std::int64_t count) override {
    const cuda::DeviceScope scope(device_);
    return std::make_unique<const CudaKernel<Real>>(column_request(points, count, CufftApi<Real>::kComplex),
                                                    device_);
  }
  std::unique_ptr<const DeviceKernel<Real>> slabs(const Shape& stored, std::int64_t row_points,
                                                  std::int64_t count) override {
    const cuda::DeviceScope scope(device_);
    return std::make_unique<const CudaKernel<Real>>(
        slab_request(stored, row_points, count, CufftApi<Real>::kComplex), device_);
  }
  std::unique_ptr<const DeviceKernel<Real>> real_slabs(const Shape& stored, std::int64_t row_points,
                                                       std::int64_t count) override {
    const cuda::DeviceScope scope(device_);
    using Api = CufftApi<Real>;
    return std::make_unique<const CudaRealKernel<Real>>(
        real_slab_request(stored, row_points, count, Api::kForward, false),
        real_slab_request(stored, row_points, count, Api::kInverse, true), device_);
  }
  void multiply(std::complex<Real>* piece, const PieceFactors& by, OutOfCoreStream& stream) const override {
    const cuda::DeviceScope scope(device_);
    cuda::launch_multiply(reinterpret_cast<cuda::Complex<Real>*>(piece), factors_of(by), queue_of(stream));
  }
  void multiply_transposed(const std::complex<Real>* piece, const PieceFactors& by, std::complex<Real>* to,
                           OutOfCoreStream& stream) const override {
    const cuda::DeviceScope scope(device_);
    cuda::launch_multiply_transposed(reinterpret_cast<const cuda::Complex<Real>*>(piece), factors_of(by),
                                     reinterpret_cast<cuda::Complex<Real>*>(to), queue_of(stream));
  }
  void unpack_real(std::complex<Real>* piece, const MirroredPiece& columns, double scale,
                   OutOfCoreStream& stream) const override {
    const cuda::DeviceScope scope(device_);
    cuda::launch_unpack_real(reinterpret_cast<cuda::Complex<Real>*>(piece),
                             {columns.rows, columns.columns, columns.first, columns.width}, scale,
                             queue_of(stream));
  }
  void pack_real(std::complex<Real>* piece, const MirroredPiece& columns,
                 OutOfCoreStream& stream) const override {
    const cuda::DeviceScope scope(device_);
    cuda::launch_pack_real(reinterpret_cast<cuda::Complex<Real>*>(piece),
                           {columns.rows, columns.columns, columns.first, columns.width}, queue_of(stream));
  }
  void unpack(const std::byte* packed, const DeviceRows& floats, OutOfCoreStream& stream) const override {
    const cuda::DeviceScope scope(device_);
    cuda::launch_widen_blocks(packed, rows_of(floats), floats_of(floats.width),
                              reinterpret_cast<float*>(floats.data), queue_of(stream),
                              floats_of(floats.pitch));
  }
  void pack(const DeviceRows& floats, std::byte* packed, OutOfCoreStream& stream) const override {
    const cuda::DeviceScope scope(device_);
    cuda::launch_narrow_blocks(reinterpret_cast<const float*>(floats.data), rows_of(floats),
                               floats_of(floats.width), 1, packed, queue_of(stream), floats_of(floats.pitch));
  }

 private:
  static cuda::ColumnFactors factors_of(const PieceFactors& by) noexcept {
    return {by.rows,    by.columns, by.first_column,  by.twiddles.length, by.twiddles.element,
            by.inverse, by.scale,   by.mirrored_width};
  }
  static std::int64_t rows_of(const DeviceRows& floats) noexcept {
    return static_cast<std::int64_t>(floats.rows);
  }
  static std::int64_t floats_of(std::size_t bytes) noexcept {
    return static_cast<std::int64_t>(bytes / sizeof(float));
  }
  template <class Kind>
  std::shared_ptr<std::byte> shared(std::size_t bytes) const {
    const cuda::DeviceScope scope(device_);
    auto buffer = std::make_shared<cuda::Buffer<Kind>>(bytes);
    return {buffer, buffer->data()};
  }

  int device_;
  std::string name_;
};

}  // namespace

bool gpu_usable(int device) {
  return cuda::unavailable(device).empty();
}

template <class Real>
std::unique_ptr<OutOfCoreDevice<Real>> make_gpu_device(int device) {
  return std::make_unique<CudaDevice<Real>>(device);
}

template std::unique_ptr<OutOfCoreDevice<float>> make_gpu_device(int);
template std::unique_ptr<OutOfCoreDevice<double>> make_gpu_device(int);

}  // namespace sfft::detail
