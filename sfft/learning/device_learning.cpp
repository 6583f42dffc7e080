// SPDX-License-Identifier: Apache-2.0
// Converts each frame to double, transforms it with a dense GPU engine and adds its power. Sums, ranks and
// selections run in kernels; only their results come to the host.
#include "sfft/learning/device_learning.hpp"

#include <cmath>
#include <utility>

#include "kernels/base/math/region.hpp"
#include "kernels/cuda/spectrum/cell_sums.hpp"
#include "kernels/cuda/spectrum/device_support.hpp"
#include "kernels/cuda/spectrum/shape_extents.hpp"
#include "kernels/cuda/spectrum/spectrum_power.hpp"
#include "kernels/dense/problem/problem.hpp"
#include "sfft/error.hpp"

namespace sfft::detail::cuda {

namespace {

template <class T>
DeviceBuffer array(std::int64_t count) {
  return DeviceBuffer(static_cast<std::size_t>(count) * sizeof(T));
}

/// A stream on the device; throws if the device is not usable.
Queue stream_on(int device) {
  static_cast<void>(device_info(device));
  const DeviceScope scope(device);
  return Queue();
}

/// Copies in the stream that reads the result, because a copy in another one may still be in flight on
/// return.
DeviceBuffer to_device(const std::vector<std::int64_t>& indices, Stream stream) {
  DeviceBuffer buffer = array<std::int64_t>(static_cast<std::int64_t>(indices.size()));
  copy_to_device(buffer.data(), indices.data(), buffer.bytes(), stream);
  return buffer;
}

/// Real values per sample.
int parts(ElementType type) {
  return is_complex(type) ? 2 : 1;
}

void convert(const void* raw, ElementType type, std::int64_t values, double* out, int stride, Stream stream) {
  switch (type) {
    case ElementType::u8:
      return to_double(static_cast<const std::uint8_t*>(raw), values, out, stride, stream);
    case ElementType::u16:
      return to_double(static_cast<const std::uint16_t*>(raw), values, out, stride, stream);
    case ElementType::f32:
    case ElementType::c64:
      return to_double(static_cast<const float*>(raw), values, out, stride, stream);
    case ElementType::f64:
    case ElementType::c128:
      return to_double(static_cast<const double*>(raw), values, out, stride, stream);
    default:  // types that no call lets through
      return;
  }
}

}  // namespace

DenseProblem learning_problem(const Shape& shape, ElementType type, int device) {
  // Real samples with a last dimension of 1 have no half spectrum, so they are transformed as complex ones.
  return {shape, !is_complex(type) && shape[shape.rank() - 1] > 1, 1, contiguous_strides(shape), device};
}

MeanSpectrum::MeanSpectrum(const Shape& shape, ElementType type, std::int64_t frames, int device,
                           const DenseEngines<double>& engines)
    : device_(device),
      type_(type),
      frames_(frames),
      samples_per_frame_(shape.points()),
      extents_(extents_of(shape, !is_complex(type))),
      problem_(learning_problem(shape, type, device)),
      stream_(stream_on(device)),
      engines_(engines) {
  const DeviceScope scope(device_);
  const bool transforms = samples_per_frame_ > 1;
  if (transforms && frames_ == 1 && engines_.keep) {
    try {
      keeping_ = engines_.keep(problem_, device::Keep::power);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::backend_unavailable) throw;
    }
  }
  stores_ = keeping_ == nullptr;
  if (transforms && stores_ && !engines_.keep) {  // no kernels were tuned for the problem
    DenseProblem forward = problem_;
    forward.forward_only = true;
    engine_ = make_frame_engine(forward, frames_);
  }
  if (transforms && stores_ && engine_ == nullptr) engine_ = engines_.make(problem_);
  const bool alike = is_complex(type) == !problem_.real;
  reads_ =
      alike && (keeping_ != nullptr ? keeping_->reads(type) : engine_ != nullptr && engine_->reads(type));
  // Complex samples are transformed in place.
  if (!reads_ && (problem_.real || !stores_))
    converted_ = array<double>(samples_per_frame_ * (problem_.real ? 1 : 2));
  if (stores_) spectrum_ = array<std::complex<double>>(extents_.points());
  if (stores_ && frames_ > 1) first_spectrum_ = array<std::complex<double>>(extents_.points());
  power_ = array<double>(extents_.points());
  if (frames_ > 1) change_ = array<double>(extents_.points());
  workspace_ = DeviceBuffer(keeping_ != nullptr  ? keeping_->workspace_bytes()
                            : engine_ != nullptr ? engine_->workspace_bytes()
                                                 : 0);
}

MeanSpectrum::Samples MeanSpectrum::samples(const void* frame, bool resident) {
  const Stream stream = stream_.get();
  const ElementType own = own_type<double>(problem_);
  const std::size_t bytes = static_cast<std::size_t>(samples_per_frame_) * element_bytes(type_);
  const void* raw = frame;
  const bool unaligned = reinterpret_cast<std::uintptr_t>(frame) % 16 != 0;  // engines load two reals at once
  if (!resident || (reads_ && unaligned) || !stores_) {  // a second transform may follow without the frame
    void* target = nullptr;
    if (stores_ && type_ == own && !problem_.real) {
      target = spectrum_.data();
    } else {
      if (raw_.bytes() == 0) raw_ = DeviceBuffer(bytes);
      target = raw_.data();
    }
    resident ? copy_on_device(target, frame, bytes, stream) : copy_to_device(target, frame, bytes, stream);
    raw = target;
  }
  if (reads_ || (type_ == own && raw != frame)) return {raw, type_};
  auto* target = converted_.bytes() > 0 ? converted_.as<double>() : spectrum_.as<double>();
  const int stride = !problem_.real && !is_complex(type_) ? 2 : 1;
  if (stride == 2) set_zero(target, 2 * samples_per_frame_, stream);  // the imaginary parts
  convert(raw, type_, parts(type_) * samples_per_frame_, target, stride, stream);
  return {target, own};
}

std::complex<double> MeanSpectrum::add(const SignalView& frame) {
  if (frame.contiguous()) return add(frame.data(), false);
  std::vector<std::byte> copy(frame.bytes());
  copy_elements(frame, copy.data());
  return add(copy.data(), false);
}

std::complex<double> MeanSpectrum::add_resident(const void* frame, Stream after) {
  const DeviceScope scope(device_);
  synchronize(after);
  return add(frame, true);
}

std::complex<double> MeanSpectrum::add(const void* frame, bool resident) {
  const DeviceScope scope(device_);
  const Stream stream = stream_.get();
  const Samples x = samples(frame, resident);
  if (!stores_) {
    device::KeptPart part{};
    part.values = power_.data();
    keeping_->forward(x.data, x.type, part, 1, workspace_.data(), stream);
    double power = 0;
    copy_to_host(&power, power_.data(), sizeof power, stream);
    synchronize(stream);
    ++added_;
    return std::sqrt(power);
  }
  if (engine_ != nullptr)
    engine_->forward(x.data, x.type, spectrum_.as<std::complex<double>>(), 1, workspace_.data(), stream);
  if (added_ == 0) {
    first_power(spectrum_.as<std::complex<double>>(), extents_.points(), power_.as<double>(), stream);
    if (frames_ > 1) set_zero(change_.as<double>(), extents_.points(), stream);
  } else {
    add_power(spectrum_.as<std::complex<double>>(), first_spectrum_.as<std::complex<double>>(),
              extents_.points(), power_.as<double>(), change_.as<double>(), stream);
  }
  std::complex<double> mean;
  copy_to_host(&mean, spectrum_.data(), sizeof mean, stream);
  synchronize(stream);
  if (added_ == 0 && frames_ > 1) std::swap(spectrum_, first_spectrum_);
  ++added_;
  return mean;
}

void MeanSpectrum::finish() {
  const DeviceScope scope(device_);
  engine_ = nullptr;
  keeping_ = nullptr;
  workspace_ = DeviceBuffer();
  if (stores_) {
    raw_ = DeviceBuffer();
    converted_ = DeviceBuffer();
  } else if (!reads_) {
    raw_ = DeviceBuffer();
  }
  if (frames_ > 1) {
    divide(power_.as<double>(), extents_.points(), static_cast<double>(frames_), stream_.get());
    divide(change_.as<double>(), extents_.points(), static_cast<double>(frames_ - 1), stream_.get());
    spectrum_ = DeviceBuffer();
  } else {
    first_spectrum_ = std::move(spectrum_);
  }
  exclude_conjugates(power_.as<double>(), extents_, stream_.get());
}

std::vector<double> MeanSpectrum::power_sums() const {
  const DeviceScope scope(device_);
  return cell_sums(power_.as<double>(), power_.as<double>(), extents_, stream_.get());
}

std::vector<double> MeanSpectrum::change_sums() const {
  const DeviceScope scope(device_);
  return cell_sums(change_.as<double>(), power_.as<double>(), extents_, stream_.get());
}

Candidates MeanSpectrum::candidates(std::int64_t first) const {
  return {power_.as<double>(), first, extents_.points()};
}

double MeanSpectrum::power_at_rank(std::int64_t rank) const {
  const DeviceScope scope(device_);
  return cuda::power_at_rank(candidates(0), rank, stream_.get());
}

ChosenElements MeanSpectrum::largest(std::int64_t first, std::int64_t count) const {
  const DeviceScope scope(device_);
  return take(candidates(first), cut_at_rank(candidates(first), count, stream_.get()), count);
}

ChosenElements MeanSpectrum::above(std::int64_t first, double level) const {
  const DeviceScope scope(device_);
  const Cut cut{level};
  return take(candidates(first), cut, count_taken(candidates(first), cut, stream_.get()));
}

ChosenElements MeanSpectrum::take(const Candidates& from, const Cut& cut, std::int64_t count) const {
  const DeviceBuffer indices = cuda::take(from, cut, count, stream_.get());
  const DeviceBuffer power = array<double>(count);
  gather(power_.as<double>(), indices.as<std::int64_t>(), count, power.as<double>(), stream_.get());
  ChosenElements chosen;
  chosen.indices.resize(static_cast<std::size_t>(count));
  chosen.power.resize(static_cast<std::size_t>(count));
  copy_to_host(chosen.indices.data(), indices.data(), indices.bytes(), stream_.get());
  copy_to_host(chosen.power.data(), power.data(), power.bytes(), stream_.get());
  synchronize(stream_.get());
  return chosen;
}

std::vector<std::complex<double>> MeanSpectrum::first_values(const std::vector<std::int64_t>& indices) const {
  const DeviceScope scope(device_);
  const auto count = static_cast<std::int64_t>(indices.size());
  const DeviceBuffer gathered = array<std::complex<double>>(count);
  if (!stores_) {
    const auto engine = engines_.keep(problem_, device::Keep::at);
    const DeviceBuffer workspace(engine->workspace_bytes());
    const DeviceSupport support(indices, extents_.points());
    engine->forward(reads_ ? raw_.data() : converted_.data(), reads_ ? type_ : own_type<double>(problem_),
                    support.part(gathered.data()), 1, workspace.data(), stream_.get());
    synchronize(stream_.get());
  } else {
    const DeviceBuffer elements = to_device(indices, stream_.get());
    gather(first_spectrum_.as<std::complex<double>>(), elements.as<std::int64_t>(), count,
           gathered.as<std::complex<double>>(), stream_.get());
    synchronize(stream_.get());
  }
  std::vector<std::complex<double>> values(indices.size());
  copy_to_host(values.data(), gathered.data(), gathered.bytes(), stream_.get());
  synchronize(stream_.get());
  return values;
}

void MeanSpectrum::remove(const std::vector<std::int64_t>& indices) {
  const DeviceScope scope(device_);
  const DeviceBuffer elements = to_device(indices, stream_.get());
  exclude(power_.as<double>(), elements.as<std::int64_t>(), static_cast<std::int64_t>(indices.size()),
          stream_.get());
  synchronize(stream_.get());
}

}  // namespace sfft::detail::cuda
