// SPDX-License-Identifier: Apache-2.0
// Runs one transform in slabs on GPUs.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <tuple>

#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/dense/gpu/cufft_transform.hpp"
#include "kernels/dense/request/cuda_slab_graphs.hpp"
#include "kernels/dense/request/several_devices.hpp"
#include "kernels/dense/request/slab_runner.hpp"
#include "kernels/dense/request/slab_steps.hpp"
#include "kernels/dense/slabs/slab_fft.hpp"

namespace sfft::detail {

/// Overrides for tests and measurements: choices that a plan would not make by itself.
struct SlabTrial {
  bool staged = false;  ///< act as if there were no peer access
  std::optional<SlabCuts> cuts{};
  std::optional<PlaneGroups> turns{};
};

template <class Real>
class CudaSlabs final : public SlabRunner<Real> {
 public:
  /// Requires at least two devices.
  CudaSlabs(const DenseRequest& request, const ChosenDevices& chosen, const SlabTrial& trial = {});
  ~CudaSlabs() override;

  const std::vector<dense::Slab>& signal_slabs() const noexcept override { return signals_; }
  const std::vector<dense::Slab>& spectrum_slabs() const noexcept override { return spectra_; }
  std::size_t workspace_bytes(std::size_t slab) const noexcept override;
  void enqueue_forward(std::span<const void* const> signals, ElementType type,
                       std::span<std::complex<Real>* const> spectra, const SlabCall& call) const override;
  void enqueue_inverse(std::span<const std::complex<Real>* const> spectra, std::span<void* const> signals,
                       const SlabCall& call) const override;
  dense::Engine engine() const noexcept override { return engine_; }
  std::string name() const override;
  std::string reason() const override { return chosen_.reason; }
  std::string explain() const override;

 private:
  class Queues;
  /// Resources of one place of the list, created with its device current.
  struct Place {
    int device = 0;
    cuda::OwnedStream send, receive, by_itself;
    std::vector<cuda::OwnedStream> turns;   ///< alternate with the caller's stream
    std::vector<cuda::DeviceBuffer> inbox;  ///< slots for packed values from other places
    /// Event slots by number: one for the work of each alternating stream, and one more.
    std::vector<cuda::Event> events;
    /// Kernels for large volumes. They cover all three dimensions or, for real volumes, only lines across
    /// planes.
    std::shared_ptr<const SlabSteps<Real>> steps;
    /// Without such kernels: plans for lines across planes, by the number of lines.
    std::map<std::int64_t, std::shared_ptr<const CufftTransform>> columns;
    /// If kernels do not cover all dimensions: plans for groups of planes, by the number of planes.
    std::map<std::int64_t, std::shared_ptr<const DenseRunner<Real>>> planes;
    int all_blocks = 1;  ///< enough thread blocks to keep the GPU busy

    bool all_in_steps() const noexcept { return steps != nullptr && steps->has_planes(); }
  };
  /// Offsets of the parts of a workspace.
  struct Parts {
    std::size_t planes = 0, rows = 0, engine = 0, end = 0;
    std::size_t engine_bytes = 0;  ///< for each of the alternating streams
  };

  void plan_steps(const DenseRequest& request);
  void plan_planes(const DenseRequest& request);
  void plan_columns();
  Parts parts_of(int place) const noexcept;
  SlabArrays<Real> arrays_of(const SlabCall& call) const;
  void allocate_slots();
  bool staged() const noexcept;
  /// Whether a GPU's independent work has more than a few launches and does not wait for host memory.
  bool has_graphs() const noexcept { return fft_.chunks() > 1 && !staged() && !packed_; }

  DenseProblem problem_;
  DenseScales scales_;
  ChosenDevices chosen_;
  bool staged_ = false;  ///< act as if there were no peer access
  bool packed_;          ///< values are sent in block16 into slots on the receiving GPU
  SlabFft<Real> fft_;
  PlaneGroups turns_;
  std::vector<dense::Slab> signals_, spectra_;
  std::vector<Place> places_;
  std::vector<cuda::PinnedBuffer> staging_memory_;
  SlabStaging<Real> staging_;
  dense::Engine engine_ = dense::Engine::automatic;
  std::string planes_reason_;
  mutable std::mutex mutex_;  ///< calls share the events, and the graphs of each place
  mutable std::vector<SlabGraphs> graphs_;
};

}  // namespace sfft::detail
