// SPDX-License-Identifier: Apache-2.0
// Runs calls of a transform in slabs: the queues of the GPUs, and the graphs of what each does by itself. A
// new graph replaces the least recently used one.
#include <algorithm>
#include <deque>

#include "kernels/cuda/stages/exchange.hpp"
#include "kernels/cuda/stages/stored_values.hpp"
#include "kernels/dense/request/several/cuda_slabs.hpp"

namespace sfft::detail {

namespace {

/// The number of thread blocks that store into other GPUs. It is enough to keep a link busy; more would take
/// multiprocessors from the FFTs (measured on H200s).
constexpr int kSendingBlocks = 24;

constexpr std::size_t kMaxGraphs = 8;

/// Whether rows are long enough for copy engines, which many short rows slow down.
bool long_rows(std::span<const SlabPiece> pieces) {
  constexpr std::int64_t kMinBytes = 16 << 10;
  return std::all_of(pieces.begin(), pieces.end(),
                     [](const SlabPiece& piece) { return piece.from.width >= kMinBytes; });
}

/// A range of a piece's planes.
SlabPiece part_of(const SlabPiece& piece, const Share& planes) noexcept {
  return {piece.from.with_rows(planes.first, planes.count), piece.to.with_rows(planes.first, planes.count)};
}

std::size_t index(int i) noexcept {
  return static_cast<std::size_t>(i);
}

}  // namespace

const cuda::Graph& SlabGraphs::of(const SlabGraphKey& key, cuda::Stream stream,
                                  const std::function<void()>& enqueue) {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.key == key; });
  if (found != entries_.end()) {
    found->last_use = ++uses_;
    return found->graph;
  }
  if (entries_.size() < kMaxGraphs) entries_.emplace_back();
  Entry& entry = *std::min_element(entries_.begin(), entries_.end(),
                                   [](const Entry& a, const Entry& b) { return a.last_use < b.last_use; });
  entry.key = {};  // matches no call until the capture has succeeded
  entry.graph.capture(stream, enqueue);
  entry.key = key;
  entry.last_use = ++uses_;
  return entry.graph;
}

void SlabEvent::record(cuda::Stream first, std::span<const cuda::Queue> others, bool external) {
  recorded_ = 1 + others.size();
  for (std::size_t s = 0; s < recorded_; ++s) {
    const cuda::Stream stream = s == 0 ? first : others[s - 1].get();
    if (external || crosses_graph(stream))
      cuda::record_external(of_[s], stream);
    else
      of_[s].record(stream);
  }
}

void SlabEvent::block(cuda::Stream stream) const {
  for (std::size_t s = 0; s < recorded_; ++s)
    crosses_graph(stream) ? cuda::wait_external(of_[s], stream) : of_[s].block(stream);
}

void SlabEvent::wait() {
  for (std::size_t s = 0; s < recorded_; ++s) of_[s].wait();
}

/// The queues of one call. Groups of planes alternate between streams; later work in the caller's stream
/// waits for all of them.
template <class Real>
class CudaSlabs<Real>::Devices final : public SlabDevices {
 public:
  Devices(const CudaSlabs& of, const SlabCall& call) : of_(of), call_(call), states_(of.places_.size()) {
    for (int place = 0; place < of.fft_.grid().devices; ++place)
      for (const Lane lane : {Lane::work, Lane::send, Lane::receive})
        queues_.emplace_back(*this, place, lane);
  }

  Queue& queue(int place, Lane lane) override {
    return queues_[index(place * kLanes + static_cast<int>(lane))];
  }
  Event& event(int place, int number) override { return of_.places_[index(place)].events[index(number)]; }
  /// If the caller captures the call, the capture contains the launches, not a graph. A graph has its own
  /// stream, so that lines need not wait for its end.
  void by_itself(int place, const std::function<void()>& enqueue) override {
    const cuda::Stream work = stream(place, Lane::work);
    if (!of_.has_graphs() || cuda::capture_of(work) != 0) return enqueue();
    at(place, [&](Place& p) {
      const cuda::Stream own = p.by_itself.get();
      const cuda::Graph& graph = of_.graphs_[index(place)].of(graph_key(place), own, [&] {
        states_[index(place)].captured = true;
        enqueue();
        join(place);
        p.joint.record(p.send.get());
        p.joint.block(own);
        states_[index(place)].captured = false;
      });
      p.joint.record(work);
      p.joint.block(own);
      graph.launch(own);
    });
  }
  void planes_forward(int place, const Share& planes, std::byte* spectra, const SlabPiece& own,
                      double scale) override {
    by_turns(place, planes.count, [&](const Place& p, Share group, std::size_t turn, cuda::Stream stream) {
      const std::byte* signals = static_cast<const std::byte*>(call_.from[index(place)]) +
                                 bytes_before(planes.first + group.first, element_bytes(call_.type));
      std::byte* const target = spectra + of_.fft_.bytes(group.first * of_.fft_.grid().plane_values());
      if (p.all_in_steps()) {
        p.steps->columns(signals, target, group.count, false, stream);
        p.steps->rows_for_others(place, target, group.count, scale, stream);
      } else {
        p.planes.at(group.count)
            ->enqueue({Direction::forward, signals, call_.type, target, engine_memory(place, turn), stream});
      }
      store_own(p, part_of(own, group), scale, false, stream);
    });
  }
  void planes_inverse(int place, const Share& planes, std::byte* spectra, const SlabPiece& own,
                      double scale) override {
    by_turns(place, planes.count, [&](const Place& p, Share group, std::size_t turn, cuda::Stream stream) {
      std::byte* signals =
          static_cast<std::byte*>(call_.to[index(place)]) +
          bytes_before(planes.first + group.first, element_bytes(own_type<Real>(of_.problem_)));
      std::byte* const source = spectra + of_.fft_.bytes(group.first * of_.fft_.grid().plane_values());
      store_own(p, part_of(own, group), scale, true, stream);
      if (p.all_in_steps()) {
        p.steps->columns(source, signals, group.count, true, stream);
      } else {
        p.planes.at(group.count)
            ->enqueue({Direction::inverse, source, call_.type, signals, engine_memory(place, turn), stream});
      }
    });
  }
  void columns(int place, const Share& rows, const std::byte* source, std::byte* target,
               bool inverse) override {
    using Api = CufftApi<Real>;
    const Place& p = of_.places_[index(place)];
    source += of_.fft_.bytes(rows.first * of_.fft_.grid().inner);
    target += of_.fft_.bytes(rows.first * of_.fft_.grid().inner);
    queue(place, Lane::work).launch([&](cuda::Stream stream) {
      if (p.steps != nullptr) {
        p.steps->lines(place, source, target, rows.count, inverse, stream);
        if (inverse && p.all_in_steps())
          p.steps->rows_of_others(place, target, rows.count, of_.scales_.inverse, stream);
        return;
      }
      p.columns.at(rows.count)->run(engine_memory(place, 0), stream, [&](cufftHandle handle) {
        auto* in = reinterpret_cast<typename Api::Complex*>(const_cast<std::byte*>(source));
        return Api::complex(handle, in, reinterpret_cast<typename Api::Complex*>(target),
                            inverse ? CUFFT_INVERSE : CUFFT_FORWARD);
      });
    });
  }
  void send(int place, std::span<const SlabPiece> pieces, double scale) override {
    const bool scaled = of_.places_[index(place)].all_in_steps();  // by SlabSteps, with the transform
    if (of_.packed_) return pack(place, pieces, scaled ? 1.0 : scale);
    Queue& sending = queue(place, Lane::send);
    if (scaled || (scale == 1.0 && long_rows(pieces))) {
      for (const SlabPiece& piece : pieces) sending.copy(piece.to, piece.from);
      return;
    }
    sending.launch([&](cuda::Stream stream) { exchange(pieces, scale, kSendingBlocks, stream); });
  }
  void receive(int place, const SlabPiece& piece) override {
    if (of_.packed_) return unpack(place, piece);
    queue(place, Lane::receive).copy(piece.to, piece.from);
  }
  /// Makes the caller's streams wait for all alternating streams.
  void finish() {
    for (std::size_t p = 0; p < states_.size(); ++p) join(static_cast<int>(p));
  }

 private:
  struct State {
    bool turns = false;     ///< alternating streams have work
    bool captured = false;  ///< work is being captured into a graph
  };
  /// A lane of a place. Its events are SlabEvents. In lane `work`, what waits or is launched comes after the
  /// work of all alternating streams.
  class PlaceQueue final : public Queue {
   public:
    PlaceQueue(Devices& of, int place, Lane lane) : of_(of), place_(place), lane_(lane) {}

    void copy(const Rows& to, const Rows& from, Copier) override {
      launch([&](cuda::Stream stream) { cuda::copy(to, from, stream); });
    }
    void launch(const std::function<void(cuda::Stream)>& work) override {
      join();
      of_.at(place_, [&](const Place&) { work(stream()); });
    }
    void record(Event& event) override {
      of_.at(place_, [&](const Place& p) {
        const State& state = of_.states_[index(place_)];
        std::span<const cuda::Queue> others;
        if (lane_ == Lane::work && state.turns) others = p.turns;
        static_cast<SlabEvent&>(event).record(stream(), others, lane_ == Lane::send && state.captured);
      });
    }
    void wait(const Event& event) override {
      join();
      of_.at(place_, [&](const Place&) { static_cast<const SlabEvent&>(event).block(stream()); });
    }
    void wait() override {
      join();
      of_.at(place_, [&](const Place&) { cuda::synchronize(stream()); });
    }

   private:
    cuda::Stream stream() const noexcept { return of_.stream(place_, lane_); }
    void join() {
      if (lane_ == Lane::work) of_.join(place_);
    }

    Devices& of_;
    int place_;
    Lane lane_;
  };

  /// Calls job(place, group, turn, stream) for groups of planes.
  template <class Job>
  void by_turns(int place, std::int64_t count, const Job& job) {
    at(place, [&](Place& p) {
      const cuda::Stream work = stream(place, Lane::work);
      State& state = states_[index(place)];
      if (!p.turns.empty() && !state.turns) {
        p.joint.record(work);
        for (const cuda::Queue& other : p.turns) p.joint.block(other.get());
        state.turns = true;
      }
      const std::int64_t at_once = of_.turns_.planes;
      std::size_t turn = 0;
      for (std::int64_t first = 0; first < count; first += at_once, turn = (turn + 1) % (p.turns.size() + 1))
        job(p, Share{first, std::min(at_once, count - first)}, turn,
            turn == 0 ? work : p.turns[turn - 1].get());
    });
  }
  void join(int place) {
    if (!states_[index(place)].turns) return;
    states_[index(place)].turns = false;
    at(place, [&](Place& p) {
      for (const cuda::Queue& other : p.turns) {
        p.joint.record(other.get());
        p.joint.block(stream(place, Lane::work));
      }
    });
  }
  SlabGraphKey graph_key(int place) const {
    return {call_.type,
            call_.from[index(place)],
            call_.workspaces[index(place)],
            {call_.to.begin(), call_.to.end()}};
  }
  void store_own(const Place& p, const SlabPiece& own, double scale, bool inverse,
                 cuda::Stream stream) const {
    if (p.all_in_steps()) return p.steps->rows(own, scale, inverse, stream);
    exchange({&own, 1}, scale, p.all_blocks, stream);
  }
  static void exchange(std::span<const SlabPiece> pieces, double scale, int blocks, cuda::Stream stream) {
    using Value = cuda::Complex<Real>;
    constexpr std::int64_t kValue = sizeof(Value);
    std::vector<cuda::ExchangePiece<Real>> all;
    for (const SlabPiece& piece : pieces) {
      all.push_back({reinterpret_cast<const Value*>(piece.from.data), reinterpret_cast<Value*>(piece.to.data),
                     piece.from.pitch / kValue, piece.to.pitch / kValue, piece.from.width / kValue,
                     piece.from.rows});
    }
    cuda::launch_exchange(all.data(), all.size(), scale, blocks, stream);
  }
  /// Stores the rows of a piece in block16, contiguous at the destination.
  void pack(int place, std::span<const SlabPiece> pieces, double scale) {
    queue(place, Lane::send).launch([&](cuda::Stream stream) {
      for (const auto& [rows, packed] : pieces)
        cuda::launch_narrow_blocks(reinterpret_cast<const float*>(rows.data), rows.rows, rows.width / kFloat,
                                   static_cast<float>(scale), packed.data, stream, rows.pitch / kFloat);
    });
  }
  void unpack(int place, const SlabPiece& piece) {
    queue(place, Lane::receive).launch([&](cuda::Stream stream) {
      cuda::launch_widen_blocks(piece.from.data, piece.to.rows, piece.to.width / kFloat,
                                reinterpret_cast<float*>(piece.to.data), stream, piece.to.pitch / kFloat);
    });
  }
  template <class Job>
  void at(int place, const Job& job) const {
    Place& p = of_.places_[index(place)];
    on_device(p.device, [&] { job(p); });
  }
  cuda::Stream stream(int place, Lane lane) const noexcept {
    const Place& p = of_.places_[index(place)];
    if (lane == Lane::work)
      return states_[index(place)].captured ? p.by_itself.get() : call_.streams[index(place)];
    return lane == Lane::send ? p.send.get() : p.receive.get();
  }
  std::byte* engine_memory(int place, std::size_t turn) const noexcept {
    const Parts parts = of_.parts_of(place);
    return call_.workspaces[index(place)] + parts.engine + turn * parts.engine_bytes;
  }
  std::size_t bytes_before(std::int64_t planes, std::size_t element) const noexcept {
    return static_cast<std::size_t>(planes * (of_.problem_.shape.points() / of_.problem_.shape[0])) * element;
  }

  static constexpr std::int64_t kFloat = sizeof(float);

  const CudaSlabs& of_;
  const SlabCall& call_;
  std::vector<State> states_;
  std::deque<PlaceQueue> queues_;
};

template <class Real>
void CudaSlabs<Real>::enqueue(const SlabCall& call) const {
  const std::lock_guard lock(mutex_);
  SlabArrays arrays = arrays_of(call);
  Devices devices(*this, call);
  if (call.direction == Direction::forward) {
    for (void* spectrum : call.to) arrays.spectra.push_back(static_cast<std::byte*>(spectrum));
    fft_.forward(devices, arrays, staging_, scales_.forward);
  } else {
    for (const void* spectrum : call.from)  // only read
      arrays.spectra.push_back(static_cast<std::byte*>(const_cast<void*>(spectrum)));
    if (!problem_.real)
      for (void* signal : call.to) arrays.signals.push_back(static_cast<std::byte*>(signal));
    fft_.inverse(devices, arrays, staging_, scales_.inverse);
  }
  devices.finish();
}

template void CudaSlabs<float>::enqueue(const SlabCall&) const;
template void CudaSlabs<double>::enqueue(const SlabCall&) const;

}  // namespace sfft::detail
