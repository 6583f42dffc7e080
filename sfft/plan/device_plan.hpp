// SPDX-License-Identifier: Apache-2.0
// The GPU side of a plan, behind an interface that exists in every build.
#pragma once

#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "kernels/base/comb_data.hpp"
#include "kernels/base/error_table.hpp"
#include "kernels/base/flat_data.hpp"
#include "kernels/base/witness_data.hpp"
#include "sfft/plan.hpp"
#include "sfft/plan/device_pictures.hpp"
#include "template/data/support_set.hpp"
#include "template/data/template_data.hpp"

namespace sfft::detail {

/// Consecutive frames of a plan's shape in device memory. `pitch`: elements between their starts; 0: no gaps.
struct DeviceFrames {
  const void* data = nullptr;
  ElementType type = ElementType::f32;
  std::int64_t count = 1;
  std::int64_t pitch = 0;
};

namespace cpu {
class ThreadPool;
}

/// A reference frame's samples and coefficients in device memory.
class DeviceReference {
 public:
  virtual ~DeviceReference() = default;
};

/// Streams, rings and scratch of one thread.
class DeviceWorkspace {
 public:
  virtual ~DeviceWorkspace() = default;
  virtual std::size_t bytes() const noexcept = 0;
  virtual int capacity() const noexcept = 0;  ///< maximum number of frames in a host batch
};

/// What the planner needs to know about the GPU.
struct DeviceTraits {
  std::string name;
  int multiprocessors = 0;
};

template <class Real>
class DevicePlan {
 public:
  virtual ~DevicePlan() = default;
  virtual std::string describe() const = 0;
  virtual bool takes_reference() const noexcept = 0;
  /// `error`: as ErrorSums::reference_error.
  virtual std::shared_ptr<const DeviceReference> make_reference(
      const SignalView& frame, std::span<const std::complex<double>> coefficients, double error) const = 0;
  virtual std::unique_ptr<DeviceWorkspace> make_workspace(int frames) const = 0;
  /// Makes a workspace from that of another plan, or from none. Its memory is reused if it fits and freed
  /// first if not. Nothing may be in flight in it.
  virtual std::unique_ptr<DeviceWorkspace> refit(std::unique_ptr<DeviceWorkspace> old, int frames) const {
    old.reset();
    return make_workspace(frames);
  }
  virtual void enqueue(const DeviceFrames& frames, const typename Plan<Real>::DeviceSpectra& spectra,
                       const DeviceReference* reference, DeviceWorkspace& workspace,
                       CUstream_st* stream) const = 0;
  /// Transforms frames in host memory into prepared spectra. Blocks. `pool` may be null.
  virtual void execute(std::span<const SignalView> frames, std::span<Spectrum<Real>> spectra,
                       const DeviceReference* reference, DeviceWorkspace& workspace,
                       cpu::ThreadPool* pool) const = 0;

  /// Number of frames in a part that begin() submits; 0: frames in host memory go through execute() alone.
  virtual std::size_t part_ahead() const noexcept { return 0; }
  /// Like execute(), but submits only as many of the first frames as can be in flight at once, and does not
  /// wait for them. Returns their number. Frames and spectra must stay in place until finish() has reported
  /// them; execute() must not be called in the meantime. After a failure nothing is in flight.
  virtual std::size_t begin(std::span<const SignalView> /*frames*/, std::span<Spectrum<Real>> /*spectra*/,
                            const DeviceReference* /*reference*/, DeviceWorkspace& /*workspace*/,
                            cpu::ThreadPool* /*pool*/) const {
    return 0;
  }
  /// Transforms submitted frames again, with another reference: the frame whose spectrum is `first` and all
  /// later ones, whether or not finish() has reported them. finish() reports these frames again. Returns
  /// their number; 0 if the first frame's samples are no longer on the GPU. After a failure nothing is in
  /// flight.
  virtual std::size_t again(const Spectrum<Real>& /*first*/, const DeviceReference* /*reference*/,
                            DeviceWorkspace& /*workspace*/) const {
    return 0;
  }
  /// Whether finish() would return without waiting for a frame.
  virtual bool ready(DeviceWorkspace& /*workspace*/) const { return false; }
  /// Waits until some of the frames in flight are done, the oldest first. Returns their number.
  virtual std::size_t finish(DeviceWorkspace& /*workspace*/) const { return 0; }
  /// Waits for everything in flight and discards it.
  virtual void abandon(DeviceWorkspace& /*workspace*/) const noexcept {}
};

/// Why no GPU is usable; empty if one is.
std::string device_problem(int device);
/// Throws backend_unavailable with device_problem().
DeviceTraits device_traits(int device);
/// Throws backend_unavailable unless all devices exist and may share work.
void check_devices(std::span<const int> devices);
/// Page-locked host memory that kernels of every GPU can read. Throws backend_unavailable, out_of_memory.
std::shared_ptr<std::byte> allocate_page_locked(std::size_t bytes, int device);
/// GPU memory. Throws backend_unavailable, device, out_of_memory.
std::shared_ptr<std::byte> allocate_on_device(std::size_t bytes, int device);
/// GPU memory that the host can also read. Throws backend_unavailable, device, out_of_memory.
std::shared_ptr<std::byte> allocate_managed(std::size_t bytes, int device);
/// Writes a plane without gaps; the caller has checked it. Blocks.
void store_plane(const DevicePlane& plane, std::byte* to, int device);

/// `witness` may be empty.
template <class Real>
std::unique_ptr<const DevicePlan<Real>> make_device_plan(const CombData& comb, const ErrorTable& errors,
                                                         const WitnessData& witness,
                                                         const SupportSet& support, const TemplateData& data,
                                                         const PlanOptions& options);
template <class Real>
std::unique_ptr<const DevicePlan<Real>> make_device_plan(const FlatPlanData& flat, const ErrorTable& errors,
                                                         const WitnessData& witness,
                                                         const SupportSet& support, const TemplateData& data,
                                                         const PlanOptions& options);
template <class Real>
std::unique_ptr<const DevicePlan<Real>> make_direct_device_plan(const SupportSet& support,
                                                                const TemplateData& data,
                                                                const PlanOptions& options);
template <class Real>
std::unique_ptr<const DevicePlan<Real>> make_dense_device_plan(const SupportSet& support,
                                                               const TemplateData& data,
                                                               const PlanOptions& options);

/// Whether the engine of such a plan runs kernels that were tuned for this shape.
template <class Real>
bool dense_kernels_are_tuned(const TemplateData& data, const PlanOptions& options);

/// For the two sources that define these functions; a build contains one of the sources.
#define SFFT_INSTANTIATE_DEVICE_PLANS(Real)                                                               \
  template std::unique_ptr<const DevicePlan<Real>> make_device_plan<Real>(                                \
      const CombData&, const ErrorTable&, const WitnessData&, const SupportSet&, const TemplateData&,     \
      const PlanOptions&);                                                                                \
  template std::unique_ptr<const DevicePlan<Real>> make_device_plan<Real>(                                \
      const FlatPlanData&, const ErrorTable&, const WitnessData&, const SupportSet&, const TemplateData&, \
      const PlanOptions&);                                                                                \
  template bool dense_kernels_are_tuned<Real>(const TemplateData&, const PlanOptions&);                   \
  template std::unique_ptr<const DevicePlan<Real>> make_direct_device_plan<Real>(                         \
      const SupportSet&, const TemplateData&, const PlanOptions&);                                        \
  template std::unique_ptr<const DevicePlan<Real>> make_dense_device_plan<Real>(                          \
      const SupportSet&, const TemplateData&, const PlanOptions&);

}  // namespace sfft::detail
