// SPDX-License-Identifier: Apache-2.0
// Runs one transform in slabs on GPUs.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/cuda/runtime/graph.hpp"
#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/dense/gpu/cufft_transform.hpp"
#include "kernels/dense/request/several/several_devices.hpp"
#include "kernels/dense/request/several/slab_runner.hpp"
#include "kernels/dense/slabs/slab_fft.hpp"
#include "kernels/dense/tuned/line_kernels.hpp"

namespace sfft::detail {

/// Overrides for tests and measurements: choices that a plan would not make by itself.
struct SlabTrial {
  bool staged = false;  ///< act as if there were no peer access
  std::optional<SlabCuts> cuts{};
  std::optional<PlaneGroups> turns{};
};

/// The kernels of volumes in slabs, dimension by dimension; for real volumes, only those of lines across
/// planes. In a forward transform, rows that stay on their GPU are transformed while they are moved; other
/// rows are transformed in their planes before they are sent.
class SlabSteps {
 public:
  /// The number of rows whose lines across planes are transformed together. Parts of slabs are whole blocks
  /// of this size.
  static std::int64_t rows_together(const SlabGrid& grid) noexcept;

  /// Makes the kernels of one GPU, which may have several places in the list. If `planes`, also makes those
  /// of planes, which must be complex. Throws Error(backend_unavailable).
  SlabSteps(const SlabFft& fft, int device, bool planes, bool measure);

  bool has_planes() const noexcept { return has_planes_; }

  /// Transforms columns of `count` planes, along the second dimension.
  void columns(const std::byte* from, std::byte* to, std::int64_t count, bool inverse,
               cuda::Stream stream) const;
  /// Transforms the rows of `count` planes that will be sent to other GPUs, in place.
  void rows_for_others(int place, std::byte* planes, std::int64_t count, double scale,
                       cuda::Stream stream) const;
  /// Transforms `count` rows, the first at `first`, in all planes of other GPUs, in place.
  void rows_of_others(int place, std::byte* first, std::int64_t count, double scale,
                      cuda::Stream stream) const;
  /// Transforms lines across all planes, for `count` rows that begin at `from`.
  void lines(int place, const std::byte* from, std::byte* to, std::int64_t count, bool inverse,
             cuda::Stream stream) const;
  /// Transforms the rows of a piece while moving them.
  void rows(const SlabPiece& piece, double scale, bool inverse, cuda::Stream stream) const;

  std::string name() const;

 private:
  std::size_t find(const tuned::Lines& kind) const;
  tuned::Lines columns_of(bool inverse) const;
  tuned::Lines lines_of(int place, bool inverse) const;
  /// The kind of lines for `rows` rows of each plane in a group.
  tuned::Lines rows_of(std::int64_t rows, std::int64_t from_pitch, std::int64_t to_pitch, bool inverse) const;

  SlabGrid grid_;
  std::int64_t value_bytes_;
  std::int64_t together_;
  bool has_planes_;
  std::vector<tuned::Lines> kinds_;
  std::unique_ptr<const tuned::LineKernels> kernels_;
};

/// Everything on which a graph depends. The caller's streams do not matter.
struct SlabGraphKey {
  ElementType type = ElementType::c64;
  const void *signal = nullptr, *workspace = nullptr;
  std::vector<const void*> spectra;  ///< of all GPUs, because this one sends rows to them
  friend bool operator==(const SlabGraphKey&, const SlabGraphKey&) = default;
};

/// Caches the most recently used CUDA graphs of the work that one GPU does by itself in a forward transform.
/// That work is about a hundred launches, copies and events, which every call with the same arrays repeats.
/// Callers must lock it.
class SlabGraphs {
 public:
  /// Returns the graph for `key`. If there is none yet, captures what `enqueue` enqueues; `stream` belongs to
  /// the current device.
  const cuda::Graph& of(const SlabGraphKey& key, cuda::Stream stream, const std::function<void()>& enqueue);

 private:
  struct Entry {
    SlabGraphKey key;
    cuda::Graph graph;
    std::uint64_t last_use = 0;
  };

  std::vector<Entry> entries_;
  std::uint64_t uses_ = 0;
};

/// A point in all streams over which the work of a GPU is spread.
class SlabEvent final : public Event {
 public:
  /// For the caller's stream and `others` alternating ones. A lasting event is recorded in one call and
  /// awaited in the next.
  SlabEvent(int others, bool lasting) : of_(static_cast<std::size_t>(others) + 1), lasting_(lasting) {}
  /// `external`: in a graph that is being captured, for streams outside of it.
  void record(cuda::Stream first, std::span<const cuda::Queue> others, bool external);
  void block(cuda::Stream stream) const;
  void wait() override;

 private:
  /// Whether the event connects a call that is being captured with calls outside its graph.
  bool crosses_graph(cuda::Stream stream) const { return lasting_ && cuda::capture_of(stream) != 0; }

  std::vector<cuda::Event> of_;
  std::size_t recorded_ = 1;  ///< the first events of `of_`
  bool lasting_;
};

template <class Real>
class CudaSlabs final : public Runner<SlabCall> {
 public:
  /// Requires at least two devices.
  CudaSlabs(const DenseRequest& request, const ChosenDevices& chosen, const SlabTrial& trial = {});
  ~CudaSlabs() override;

  const std::vector<dense::Slab>& signal_slabs() const noexcept { return signals_; }
  const std::vector<dense::Slab>& spectrum_slabs() const noexcept { return spectra_; }
  /// Bytes of 256-byte aligned device memory for one call.
  std::size_t workspace_bytes(std::size_t slab) const noexcept;
  dense::Engine engine() const noexcept { return engine_; }
  const std::string& reason() const noexcept { return chosen_.reason; }
  /// Returns at once. Allocates no device memory. Thread-safe with separate workspaces.
  void enqueue(const SlabCall& call) const override;
  bool on_gpu() const noexcept override { return true; }
  std::string name() const override;
  std::string explain() const override;

 private:
  class Devices;
  /// Resources of one place of the list, created with its device current.
  struct Place {
    int device = 0;
    cuda::Queue send, receive, by_itself;
    std::vector<cuda::Queue> turns;         ///< alternate with the caller's stream
    std::vector<cuda::DeviceBuffer> inbox;  ///< slots for packed values from other places
    std::vector<SlabEvent> events;          ///< by number
    cuda::Event joint;                      ///< orders streams of the place among themselves
    /// Kernels for large volumes. They cover all three dimensions or, for real volumes, only lines across
    /// planes.
    std::shared_ptr<const SlabSteps> steps;
    /// Without such kernels: plans for lines across planes, by the number of lines.
    std::map<std::int64_t, std::shared_ptr<const CufftTransform>> columns;
    /// If kernels do not cover all dimensions: plans for groups of planes, by the number of planes.
    std::map<std::int64_t, std::shared_ptr<const Runner<FullCall>>> planes;
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
  SlabArrays arrays_of(const SlabCall& call) const;
  void allocate_slots();
  bool staged() const noexcept;
  /// Whether a GPU's independent work has more than a few launches and does not wait for host memory.
  bool has_graphs() const noexcept { return fft_.chunks() > 1 && !staged() && !packed_; }

  DenseProblem problem_;
  DenseScales scales_;
  ChosenDevices chosen_;
  bool staged_ = false;  ///< act as if there were no peer access
  bool packed_;          ///< values are sent in block16 into slots on the receiving GPU
  SlabFft fft_;
  PlaneGroups turns_;
  std::vector<dense::Slab> signals_, spectra_;
  mutable std::vector<Place> places_;
  std::vector<cuda::PinnedBuffer> staging_memory_;
  SlabStaging staging_;
  dense::Engine engine_ = dense::Engine::automatic;
  std::string planes_reason_;
  mutable std::mutex mutex_;  ///< calls share the events, and the graphs of each place
  mutable std::vector<SlabGraphs> graphs_;
};

}  // namespace sfft::detail
