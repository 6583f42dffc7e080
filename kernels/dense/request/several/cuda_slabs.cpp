// SPDX-License-Identifier: Apache-2.0
// Plans the kernels of a transform in slabs: kernels for volumes or, without these, batched plans for planes
// and cuFFT for the lines across planes.
#include "kernels/dense/request/several/cuda_slabs.hpp"

#include <algorithm>
#include <set>

#include "kernels/base/radix/radices.hpp"
#include "kernels/cuda/runtime/peers.hpp"
#include "kernels/dense/wisdom/wisdom.hpp"

namespace sfft::detail {

namespace {

/// A transform in slabs over the devices. Also decides which pairs of devices store results directly at their
/// destination; packed values are never stored that way.
template <class Real>
SlabFft slab_fft(const DenseProblem& problem, const std::vector<int>& devices, bool packed,
                 const SlabTrial& trial) {
  const auto count = static_cast<int>(devices.size());
  std::vector<bool> reaches;
  for (std::size_t from = 0; from < devices.size(); ++from)
    for (std::size_t to = 0; to < devices.size(); ++to)
      reaches.push_back(from == to || (!packed && !trial.staged &&
                                       cuda::enable_peer_access(devices[from], devices[to]).empty()));
  const SlabGrid grid(problem.shape, problem.real, count);
  SlabCuts cuts =
      trial.cuts.value_or(slab_cuts(problem.shape, problem.real, sizeof(std::complex<Real>), count));
  cuts.rows_together = SlabSteps::rows_together(grid);
  return {grid, sizeof(std::complex<Real>), problem.real, cuts, std::move(reaches)};
}

/// Whether tuned kernels are faster than cuFFT for lines of a real volume (measured in float). Tiles of
/// longer lines contain only short runs of neighbours.
template <class Real>
bool has_fast_lines(std::int64_t points) {
  constexpr std::int64_t kMax = 1024;
  return sizeof(Real) == 4 && points <= kMax && has_radices(static_cast<int>(points));
}

/// Chooses an engine for planes of a large volume. If nothing else is known, real planes get the tuned engine
/// with kernels chosen by its rules.
template <class Real>
Choice<FullCall> choose_for_planes(const DenseProblem& planes, dense::Options options, bool large) {
  const auto extents = planes.shape.extents();
  const bool fast =
      planes.real && extents.size() == 2 && std::all_of(extents.begin(), extents.end(), has_fast_lines<Real>);
  const bool free = options.engine == dense::Engine::automatic &&
                    options.planning != dense::Options::Planning::measure &&
                    !Wisdom::global().find(gpu_platform(planes.device), wisdom_problem<Real>(planes));
  if (large && fast && free) {
    options.engine = dense::Engine::tuned;
    try {
      Choice<FullCall> choice = choose_on_gpu<Real>({planes, {}, options});
      choice.reason = "the usual engine for planes of real volumes";
      return choice;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::backend_unavailable) throw;
    }
    options.engine = dense::Engine::automatic;
  }
  return choose_on_gpu<Real>({planes, {}, options});
}

}  // namespace

template <class Real>
CudaSlabs<Real>::CudaSlabs(const DenseRequest& request, const ChosenDevices& chosen, const SlabTrial& trial)
    : problem_(request.problem),
      scales_(request.scales),
      chosen_(chosen),
      packed_(exchanges_packed<Real>(request)),
      fft_(slab_fft<Real>(request.problem, chosen.devices, packed_, trial)),
      turns_(trial.turns.value_or(plane_groups(
          static_cast<std::size_t>(fft_.bytes(fft_.grid().plane_values())), fft_.chunk_of(0, 0).count))),
      signals_(detail::signal_slabs(problem_.shape, chosen.devices)),
      spectra_(detail::spectrum_slabs(problem_.shape, problem_.real, chosen.devices)),
      graphs_(chosen.devices.size()) {
  for (const int device : chosen_.devices) {
    on_device(device, [&] {
      Place place;
      place.device = device;
      place.all_blocks = 2 * cuda::device_info(device).multiprocessors;
      for (int s = 1; s < turns_.streams; ++s) place.turns.emplace_back();
      for (int e = 0; e < fft_.events(); ++e)
        place.events.emplace_back(turns_.streams - 1, e == fft_.lasting_event());
      places_.push_back(std::move(place));
    });
  }
  plan_steps(request);
  if (places_[0].steps == nullptr) plan_columns();
  if (!places_[0].all_in_steps()) plan_planes(request);
  staged_ = trial.staged;
  allocate_slots();
}

/// Slots are in host memory or, for packed values, in the memory of a device that the sender can access
/// directly. They have room for unpacked values.
template <class Real>
void CudaSlabs<Real>::allocate_slots() {
  const int count = fft_.grid().devices;
  for (int from = 0; from < count; ++from) {
    for (int to = 0; to < count; ++to) {
      Place& there = places_[static_cast<std::size_t>(to)];
      const bool direct =
          packed_ && !staged_ &&
          cuda::enable_peer_access(places_[static_cast<std::size_t>(from)].device, there.device).empty();
      for (int slot = 0; slot < SlabStaging::kSlots; ++slot) {
        const auto bytes = static_cast<std::size_t>(fft_.bytes(fft_.staging_values(from, to)));
        if (direct) {
          on_device(there.device, [&] { there.inbox.emplace_back(bytes); });
          staging_.slots.push_back(there.inbox.back().data());
        } else {
          staging_memory_.emplace_back(bytes);
          staging_.slots.push_back(staging_memory_.back().data());
        }
      }
    }
  }
}

template <class Real>
CudaSlabs<Real>::~CudaSlabs() {
  for (Place& place : places_) {
    try {
      const cuda::DeviceScope scope(place.device);
      // Kernels may still be using slots and streams of the plan.
      for (cuda::Queue* queue : {&place.send, &place.receive, &place.by_itself}) queue->wait();
      for (cuda::Queue& turn : place.turns) turn.wait();
    } catch (...) {  // the GPU is gone, and its memory with it
    }
  }
  while (!places_.empty()) {
    try {
      const cuda::DeviceScope scope(places_.back().device);
      places_.pop_back();
    } catch (...) {
      places_.pop_back();
    }
  }
}

/// Small volumes get no kernels, because compiling them takes a second. Lines of real volumes need tiles that
/// begin at cache lines.
template <class Real>
void CudaSlabs<Real>::plan_steps(const DenseRequest& request) {
  constexpr std::int64_t kAligned = 16;  // rows together
  if (problem_.shape.rank() != 3 || fft_.chunks() == 1) return;
  if (problem_.real &&
      (SlabSteps::rows_together(fft_.grid()) < kAligned || !has_fast_lines<Real>(problem_.shape[0])))
    return;
  std::map<int, std::shared_ptr<const SlabSteps>> known;
  try {
    for (Place& place : places_) {
      auto& steps = known[place.device];
      if (steps == nullptr) {
        on_device(place.device, [&] {
          steps = std::make_shared<const SlabSteps>(
              fft_, place.device, !problem_.real,
              request.options.planning == dense::Options::Planning::measure);
        });
      }
      place.steps = steps;
    }
  } catch (const Error& error) {
    for (Place& place : places_) place.steps = nullptr;
    if (error.code() != ErrorCode::backend_unavailable) throw;
    chosen_.notes.push_back(fmt::format("no kernels for volumes in slabs: {}", error.what()));
    return;
  }
  if (!problem_.real) engine_ = dense::Engine::tuned;
}

/// Places of the same GPU share plans for the same number of planes.
template <class Real>
void CudaSlabs<Real>::plan_planes(const DenseRequest& request) {
  std::map<std::pair<int, std::int64_t>, std::shared_ptr<const Runner<FullCall>>> known;
  for (int p = 0; p < fft_.grid().devices; ++p) {
    Place& place = places_[static_cast<std::size_t>(p)];
    std::set<std::int64_t> counts;  // sizes of the groups, and of the last group of a chunk
    for (int chunk = 0; chunk < fft_.chunks(); ++chunk) {
      const std::int64_t planes = fft_.chunk_of(p, chunk).count, at_once = turns_.planes;
      if (planes >= at_once) counts.insert(at_once);
      if (planes % at_once > 0) counts.insert(planes % at_once);
    }
    for (const std::int64_t count : counts) {
      auto& runner = known[{place.device, count}];
      if (runner == nullptr) {
        dense::Options options = request.options;
        options.device = Device::gpu(place.device);
        options.batch = count;
        options.signal_strides = {};
        const DenseProblem planes = make_problem(plane_shape(problem_.shape), problem_.real, options);
        on_device(place.device, [&] {
          Choice<FullCall> choice = choose_for_planes<Real>(planes, options, fft_.chunks() > 1);
          engine_ = choice.engine;
          planes_reason_ = choice.reason;
          runner = std::move(choice.runner);
        });
      }
      place.planes[count] = runner;
    }
  }
}

template <class Real>
void CudaSlabs<Real>::plan_columns() {
  std::map<std::tuple<int, std::int64_t, std::int64_t>, std::shared_ptr<const CufftTransform>> known;
  for (int p = 0; p < fft_.grid().devices; ++p) {
    Place& place = places_[static_cast<std::size_t>(p)];
    const std::int64_t pitch = fft_.grid().row_values(p);
    for (int part = 0; part < fft_.parts(); ++part) {
      const std::int64_t rows = fft_.part_of(p, part).count, count = rows * fft_.grid().inner;
      auto& columns = known[{place.device, pitch, count}];
      if (columns == nullptr) {
        const CufftLayout layout{{fft_.grid().planes, 1, 1}, pitch, 1};
        on_device(place.device, [&] {
          columns = std::make_shared<const CufftTransform>(CufftRequest{
              1, {fft_.grid().planes, 1, 1}, layout, layout, CufftApi<Real>::kComplex, count, false});
        });
      }
      place.columns[rows] = columns;
    }
  }
}

template <class Real>
typename CudaSlabs<Real>::Parts CudaSlabs<Real>::parts_of(int place) const noexcept {
  const auto bytes = [&](std::int64_t values) {
    return cuda::aligned(static_cast<std::size_t>(fft_.bytes(values)));
  };
  const Place& p = places_[static_cast<std::size_t>(place)];
  std::size_t engine = 0;
  for (const auto& [rows, columns] : p.columns) engine = std::max(engine, columns->work_bytes());
  for (const auto& [count, runner] : p.planes) engine = std::max(engine, runner->device_workspace_bytes());
  Parts parts;
  if (problem_.real) {  // an inverse transform needs both
    parts.rows = bytes(fft_.grid().planes_values(place));
    parts.engine = parts.rows + bytes(fft_.grid().spectrum_values(place));
  } else {
    parts.engine = bytes(std::max(fft_.grid().planes_values(place), fft_.grid().spectrum_values(place)));
  }
  parts.engine_bytes = cuda::aligned(engine);
  parts.end = parts.engine + parts.engine_bytes * static_cast<std::size_t>(turns_.streams);
  return parts;
}

template <class Real>
std::size_t CudaSlabs<Real>::workspace_bytes(std::size_t slab) const noexcept {
  return parts_of(static_cast<int>(slab)).end;
}

template <class Real>
SlabArrays CudaSlabs<Real>::arrays_of(const SlabCall& call) const {
  SlabArrays arrays;
  for (int p = 0; p < fft_.grid().devices; ++p) {
    const Parts parts = parts_of(p);
    std::byte* const memory = call.workspaces[static_cast<std::size_t>(p)];
    arrays.planes.push_back(memory + parts.planes);
    arrays.rows.push_back(memory + parts.rows);
  }
  return arrays;
}

template <class Real>
bool CudaSlabs<Real>::staged() const noexcept {
  return std::any_of(staging_memory_.begin(), staging_memory_.end(),
                     [](const cuda::PinnedBuffer& memory) { return memory.bytes() > 0; });
}

template <class Real>
std::string CudaSlabs<Real>::name() const {
  const Place& first = places_[0];
  return fmt::format("{} in {} slabs",
                     first.all_in_steps() ? first.steps->name() : first.planes.begin()->second->name(),
                     places_.size());
}

template <class Real>
std::string CudaSlabs<Real>::explain() const {
  const SlabTimes times = predict_slabs(problem_.shape, problem_.real, sizeof(std::complex<Real>),
                                        fft_.grid().devices, chosen_.rates);
  const Place& first = places_[0];
  std::string text =
      first.all_in_steps()
          ? first.steps->name() + "\n"
          : fmt::format("planes: {} ({})\nlines across planes: {}\n", first.planes.begin()->second->name(),
                        planes_reason_, first.steps != nullptr ? first.steps->name() : "cuFFT");
  for (std::size_t p = 0; p < places_.size(); ++p) {
    const dense::Slab &signal = signals_[p], &spectrum = spectra_[p];
    text += fmt::format("GPU {}: planes {} to {}, then rows {} to {} of all planes\n", signal.gpu,
                        signal.begin[0], signal.begin[0] + signal.extent[0] - 1, spectrum.begin[1],
                        spectrum.begin[1] + spectrum.extent[1] - 1);
  }
  text +=
      fmt::format("exchange in {} chunks of planes and {} parts of rows: {}\n", fft_.chunks(), fft_.parts(),
                  staged() ? "through page-locked memory of the host" : "copies between GPUs");
  if (packed_) text += "values are sent in block16, with a relative error of about 4e-5\n";
  if (has_graphs())
    text += "forward, planes and exchange of each GPU are one graph, captured when arrays are new\n";
  for (const std::string& note : chosen_.notes) text += note + "\n";
  return text + fmt::format(
                    "predicted from bytes: planes {:.0f} us, exchange {:.0f} us, concurrent with both, lines "
                    "{:.0f} us, together {:.0f} us",
                    times.planes_us, times.exchange_us, times.columns_us, times.total_us);
}

template class CudaSlabs<float>;
template class CudaSlabs<double>;

}  // namespace sfft::detail
