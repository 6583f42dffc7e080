// SPDX-License-Identifier: Apache-2.0
// Planes are batches of plans with the engines that a plan on one GPU would have, lines across them cuFFT's;
// the exchange is one kernel for each chunk and device, which stores into the memory of all.
#include "kernels/dense/request/cuda_slabs.hpp"

#include <algorithm>
#include <cstdlib>

#include "kernels/cuda/runtime/peers.hpp"
#include "kernels/cuda/stages/exchange.hpp"

namespace sfft::detail {

namespace {

/// Whether copy engines are fast: they slow down where they have many short rows.
template <class Real>
bool long_rows(std::span<const SlabPiece<Real>> pieces) {
  constexpr std::size_t kLeastBytes = 16 << 10;
  return std::all_of(pieces.begin(), pieces.end(), [](const SlabPiece<Real>& piece) {
    return static_cast<std::size_t>(piece.width) * sizeof(std::complex<Real>) >= kLeastBytes;
  });
}

double setting(const char* name, double usual) {
  const char* value = std::getenv(name);
  return value == nullptr ? usual : std::atof(value);
}

/// A transform in slabs of the devices, and which of them reach which.
template <class Real>
SlabFft<Real> slab_fft(const DenseProblem& problem, const std::vector<int>& devices, bool staged) {
  const auto count = static_cast<int>(devices.size());
  std::vector<bool> reaches;
  for (std::size_t from = 0; from < devices.size(); ++from)
    for (std::size_t to = 0; to < devices.size(); ++to)
      reaches.push_back(from == to || (!staged && cuda::reach_peer(devices[from], devices[to]).empty()));
  const SlabGrid grid(problem.shape, problem.real, count);
  SlabCuts cuts = slab_cuts(problem.shape, problem.real, sizeof(std::complex<Real>), count);
  cuts.rows_together = SlabSteps<Real>::rows_together(grid);
  cuts.chunks = static_cast<int>(setting("SFFT_SLAB_CHUNKS", cuts.chunks));
  cuts.parts = static_cast<int>(setting("SFFT_SLAB_PARTS", cuts.parts));
  cuts.first_part = setting("SFFT_SLAB_FIRST", cuts.first_part);
  return SlabFft<Real>(grid, problem.real, cuts, std::move(reaches));
}

}  // namespace

/// The streams of one call.
template <class Real>
class CudaSlabs<Real>::Queues final : public DeviceQueues<Real> {
 public:
  Queues(const CudaSlabs& of, const SlabCall& call) : of_(of), call_(call) {}

  std::vector<const void*> from;  ///< signals of a forward transform
  ElementType type = ElementType::c64;
  std::vector<void*> to;  ///< signals of an inverse one

  void record(int place, Lane lane, int event) override {
    at(place,
       [&](const Place& p) { const_cast<cuda::Event&>(p.events[index(event)]).record(stream(place, lane)); });
  }
  void wait(int place, Lane lane, int other, int event) override {
    at(place,
       [&](const Place&) { of_.places_[index(other)].events[index(event)].hold(stream(place, lane)); });
  }
  void planes_forward(int place, std::int64_t first, std::int64_t count,
                      std::complex<Real>* spectra) override {
    at(place, [&](const Place& p) {
      const auto* signals = static_cast<const std::byte*>(from[index(place)]);
      if (p.by_steps()) {
        const std::byte* planes = signals + bytes_before(first, element_bytes(type));
        p.steps->columns(reinterpret_cast<const std::complex<Real>*>(planes), spectra, count, false,
                         stream(place, Lane::work));
        if (!of_.direct_)
          p.steps->rows_for_others(place, spectra, count, of_.scales_.forward, stream(place, Lane::work));
        return;
      }
      p.planes.at(count)->enqueue_forward(signals + bytes_before(first, element_bytes(type)), type, spectra,
                                          engine_memory(place), stream(place, Lane::work));
    });
  }
  void planes_inverse(int place, std::int64_t first, std::int64_t count,
                      const std::complex<Real>* spectra) override {
    at(place, [&](const Place& p) {
      auto* signals = static_cast<std::byte*>(to[index(place)]);
      if (p.by_steps()) {
        std::byte* planes = signals + bytes_before(first, sizeof(std::complex<Real>));
        return p.steps->columns(spectra, reinterpret_cast<std::complex<Real>*>(planes), count, true,
                                stream(place, Lane::work));
      }
      const std::size_t sample = element_bytes(own_type<Real>(of_.problem_));
      p.planes.at(count)->enqueue_inverse(spectra, signals + bytes_before(first, sample),
                                          engine_memory(place), stream(place, Lane::work));
    });
  }
  void columns(int place, std::int64_t first, std::int64_t count, const std::complex<Real>* source,
               std::complex<Real>* target, bool inverse) override {
    using Api = CufftApi<Real>;
    source += first * of_.fft_.grid().inner;
    target += first * of_.fft_.grid().inner;
    at(place, [&](const Place& p) {
      if (p.steps != nullptr) {
        p.steps->lines(place, source, target, count, inverse, stream(place, Lane::work));
        if (p.by_steps() && inverse && !of_.direct_)
          p.steps->rows_of_others(place, target, count, of_.scales_.inverse, stream(place, Lane::work));
        return;
      }
      p.columns.at(count)->run(engine_memory(place), stream(place, Lane::work), [&](cufftHandle handle) {
        auto* in = reinterpret_cast<typename Api::Complex*>(const_cast<std::complex<Real>*>(source));
        return Api::complex(handle, in, reinterpret_cast<typename Api::Complex*>(target),
                            inverse ? CUFFT_INVERSE : CUFFT_FORWARD);
      });
    });
  }
  void send(int place, Lane lane, std::span<const SlabPiece<Real>> pieces, double scale,
            bool inverse) override {
    using Value = cuda::Complex<Real>;
    const auto blocks_of = [&](const Place& p) { return lane == Lane::send ? p.blocks : p.all_blocks; };
    const bool by_steps = of_.places_[index(place)].by_steps();
    if (lane == Lane::send && (by_steps ? !of_.direct_ : scale == 1.0 && of_.engines_ && long_rows(pieces))) {
      for (const SlabPiece<Real>& piece : pieces) copy(place, piece, stream(place, lane));
      return;
    }
    if (by_steps) {
      return at(place, [&](const Place& p) {
        for (const SlabPiece<Real>& piece : pieces)
          p.steps->rows(piece, scale, inverse, lane == Lane::send ? p.blocks : 0, stream(place, lane));
      });
    }
    std::vector<cuda::ExchangePiece<Real>> all;
    for (const SlabPiece<Real>& piece : pieces) {
      all.push_back({reinterpret_cast<const Value*>(piece.from), reinterpret_cast<Value*>(piece.to),
                     piece.from_pitch, piece.to_pitch, piece.width, piece.rows});
    }
    at(place, [&](const Place& p) {
      cuda::launch_exchange(all.data(), all.size(), scale, blocks_of(p), stream(place, lane));
    });
  }
  void receive(int place, const SlabPiece<Real>& piece) override {
    copy(place, piece, stream(place, Lane::receive));
  }

 private:
  /// By a copy engine.
  void copy(int place, const SlabPiece<Real>& piece, cuda::Stream stream) const {
    constexpr std::size_t kValue = sizeof(std::complex<Real>);
    at(place, [&](const Place&) {
      cuda::copy_rows(piece.to, static_cast<std::size_t>(piece.to_pitch) * kValue, piece.from,
                      static_cast<std::size_t>(piece.from_pitch) * kValue,
                      static_cast<std::size_t>(piece.width) * kValue, static_cast<std::size_t>(piece.rows),
                      stream);
    });
  }
  static std::size_t index(int i) noexcept { return static_cast<std::size_t>(i); }
  template <class Job>
  void at(int place, const Job& job) const {
    const Place& p = of_.places_[index(place)];
    on_device(p.device, [&] { job(p); });
  }
  cuda::Stream stream(int place, Lane lane) const noexcept {
    const Place& p = of_.places_[index(place)];
    return lane == Lane::work   ? call_.streams[index(place)]
           : lane == Lane::send ? p.send.get()
                                : p.receive.get();
  }
  std::byte* engine_memory(int place) const noexcept {
    return call_.workspaces[index(place)] + of_.parts_of(place).engine;
  }
  std::size_t bytes_before(std::int64_t planes, std::size_t element) const noexcept {
    return static_cast<std::size_t>(planes * (of_.problem_.shape.points() / of_.problem_.shape[0])) * element;
  }

  const CudaSlabs& of_;
  const SlabCall& call_;
};

template <class Real>
CudaSlabs<Real>::CudaSlabs(const DenseRequest& request, const ChosenDevices& chosen, bool staged)
    : problem_(request.problem),
      scales_(request.scales),
      chosen_(chosen),
      fft_(slab_fft<Real>(request.problem, chosen.devices, staged)),
      signals_(detail::signal_slabs(problem_.shape, chosen.devices)),
      spectra_(detail::spectrum_slabs(problem_.shape, problem_.real, chosen.devices)) {
  for (const int device : chosen_.devices) {
    on_device(device, [&] {
      Place place;
      place.device = device;
      if (setting("SFFT_SLAB_PRIORITY", 1) != 0) place.send = cuda::OwnedStream::urgent();
      place.all_blocks = 2 * cuda::device_info(device).multiprocessors;
      place.blocks = static_cast<int>(setting("SFFT_SLAB_BLOCKS", 24));
      for (int e = 0; e < fft_.events(); ++e) place.events.emplace_back();
      places_.push_back(std::move(place));
    });
  }
  direct_ = setting("SFFT_SLAB_DIRECT", 0) != 0;
  engines_ = setting("SFFT_SLAB_ENGINES", 1) != 0;
  plan_steps(request);
  if (!places_[0].by_steps()) plan_planes(request);
  if (places_[0].steps == nullptr) plan_columns();
  const int count = fft_.grid().devices;
  for (int from = 0; from < count; ++from) {
    for (int to = 0; to < count; ++to) {
      for (int slot = 0; slot < SlabStaging<Real>::kSlots; ++slot) {
        const auto values = static_cast<std::size_t>(fft_.staging_values(from, to));
        staging_memory_.emplace_back(values * sizeof(std::complex<Real>));
        staging_.slots.push_back(staging_memory_.back().template as<std::complex<Real>>());
      }
    }
  }
}

template <class Real>
CudaSlabs<Real>::~CudaSlabs() {
  while (!places_.empty()) {
    try {
      const cuda::DeviceScope scope(places_.back().device);
      // Kernels may still use staging memory and streams of the plan.
      cuda::synchronize(places_.back().send.get());
      cuda::synchronize(places_.back().receive.get());
      places_.pop_back();
    } catch (...) {  // the GPU is gone, and what was on it
      places_.pop_back();
    }
  }
}

/// Kernels for lines across planes and, of complex volumes, for the planes.
template <class Real>
void CudaSlabs<Real>::plan_steps(const DenseRequest& request) {
  if (problem_.shape.rank() != 3 || setting("SFFT_SLAB_FUSED", 2) == 0) return;
  const bool lines_only = problem_.real || setting("SFFT_SLAB_FUSED", 2) == 1;
  std::map<int, std::shared_ptr<const SlabSteps<Real>>> known;
  try {
    for (Place& place : places_) {
      auto& steps = known[place.device];
      if (steps == nullptr) {
        on_device(place.device, [&] {
          steps = std::make_shared<const SlabSteps<Real>>(
              fft_, place.device, lines_only, request.options.planning == dense::Planning::measure);
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
  if (!lines_only) engine_ = dense::Engine::tuned;
}

/// Places of one GPU share plans for the same number of planes.
template <class Real>
void CudaSlabs<Real>::plan_planes(const DenseRequest& request) {
  std::map<std::pair<int, std::int64_t>, std::shared_ptr<const DenseRunner<Real>>> known;
  for (int p = 0; p < fft_.grid().devices; ++p) {
    Place& place = places_[static_cast<std::size_t>(p)];
    for (int chunk = 0; chunk < fft_.chunks(); ++chunk) {
      const std::int64_t count = fft_.chunk_of(p, chunk).count;
      auto& runner = known[{place.device, count}];
      if (runner == nullptr) {
        dense::Options options = request.options;
        options.devices.clear();
        options.device = place.device;
        options.backend = Backend::cuda;
        options.batch = count;
        options.signal = {};
        const DenseProblem planes = make_problem(plane_shape(problem_.shape), problem_.real, options);
        on_device(place.device, [&] {
          DenseChoice<Real> choice = choose_on_gpu<Real>({planes, {}, options});
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
  constexpr std::size_t kValue = sizeof(std::complex<Real>);
  const auto bytes = [](std::int64_t values) {
    return cuda::aligned(static_cast<std::size_t>(values) * kValue);
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
  parts.end = parts.engine + cuda::aligned(engine);
  return parts;
}

template <class Real>
std::size_t CudaSlabs<Real>::workspace_bytes(std::size_t slab) const noexcept {
  return parts_of(static_cast<int>(slab)).end;
}

template <class Real>
SlabArrays<Real> CudaSlabs<Real>::arrays_of(const SlabCall& call) const {
  SlabArrays<Real> arrays;
  for (int p = 0; p < fft_.grid().devices; ++p) {
    const Parts parts = parts_of(p);
    std::byte* const memory = call.workspaces[static_cast<std::size_t>(p)];
    arrays.planes.push_back(reinterpret_cast<std::complex<Real>*>(memory + parts.planes));
    arrays.rows.push_back(reinterpret_cast<std::complex<Real>*>(memory + parts.rows));
  }
  return arrays;
}

template <class Real>
void CudaSlabs<Real>::enqueue_forward(std::span<const void* const> signals, ElementType type,
                                      std::span<std::complex<Real>* const> spectra,
                                      const SlabCall& call) const {
  const std::lock_guard lock(mutex_);
  SlabArrays<Real> arrays = arrays_of(call);
  arrays.spectra.assign(spectra.begin(), spectra.end());
  Queues queues(*this, call);
  queues.from.assign(signals.begin(), signals.end());
  queues.type = type;
  fft_.forward(queues, arrays, staging_, scales_.forward);
}

template <class Real>
void CudaSlabs<Real>::enqueue_inverse(std::span<const std::complex<Real>* const> spectra,
                                      std::span<void* const> signals, const SlabCall& call) const {
  const std::lock_guard lock(mutex_);
  SlabArrays<Real> arrays = arrays_of(call);
  for (const std::complex<Real>* spectrum : spectra)
    arrays.spectra.push_back(const_cast<std::complex<Real>*>(spectrum));  // only read
  if (!problem_.real)
    for (void* signal : signals) arrays.signals.push_back(static_cast<std::complex<Real>*>(signal));
  Queues queues(*this, call);
  queues.to.assign(signals.begin(), signals.end());
  fft_.inverse(queues, arrays, staging_, scales_.inverse);
}

template <class Real>
std::string CudaSlabs<Real>::name() const {
  const Place& first = places_[0];
  return fmt::format("{} in {} slabs",
                     first.by_steps() ? first.steps->name() : first.planes.begin()->second->name(),
                     places_.size());
}

template <class Real>
std::string CudaSlabs<Real>::explain() const {
  const SlabTimes times = predict_slabs(problem_.shape, problem_.real, sizeof(std::complex<Real>),
                                        fft_.grid().devices, fft_.chunks(), chosen_.rates);
  std::string text = places_[0].by_steps()
                         ? places_[0].steps->name() + "\n"
                         : fmt::format("planes: {} ({})\nlines across planes: {}\n",
                                       places_[0].planes.begin()->second->name(), planes_reason_,
                                       places_[0].steps != nullptr ? places_[0].steps->name() : "cuFFT");
  for (std::size_t p = 0; p < places_.size(); ++p) {
    const dense::Slab &signal = signals_[p], &spectrum = spectra_[p];
    text += fmt::format("GPU {}: planes {} to {}, then rows {} to {} of all planes\n", signal.device,
                        signal.begin[0], signal.begin[0] + signal.extent[0] - 1, spectrum.begin[1],
                        spectrum.begin[1] + spectrum.extent[1] - 1);
  }
  const bool staged = std::any_of(staging_memory_.begin(), staging_memory_.end(),
                                  [](const cuda::PinnedBuffer& memory) { return memory.bytes() > 0; });
  text += fmt::format(
      "exchange in {} chunks of planes and {} parts of rows: {}\n", fft_.chunks(), fft_.parts(),
      staged ? "through page-locked memory of the host" : "kernels store into the memory of all GPUs");
  for (const std::string& note : chosen_.notes) text += note + "\n";
  return text + fmt::format(
                    "predicted from bytes: planes {:.0f} us, exchange {:.0f} us beside them, lines "
                    "{:.0f} us, together {:.0f} us",
                    times.planes_us, times.exchange_us, times.columns_us, times.total_us);
}

template class CudaSlabs<float>;
template class CudaSlabs<double>;

}  // namespace sfft::detail
