// SPDX-License-Identifier: Apache-2.0
// The streams of GPUs that share one transform in slabs.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/cuda/runtime/graph.hpp"
#include "kernels/cuda/stages/exchange.hpp"
#include "kernels/cuda/stages/stored_values.hpp"
#include "kernels/dense/request/cuda_slabs.hpp"

namespace sfft::detail {

/// The number of thread blocks that store into other GPUs. It is enough to keep a link busy; more would take
/// multiprocessors from the FFTs (measured on H200s).
inline constexpr int kSendingBlocks = 24;

/// Whether rows are long enough for copy engines, which many short rows slow down.
template <class Real>
bool long_rows(std::span<const SlabPiece<Real>> pieces) {
  constexpr std::size_t kMinBytes = 16 << 10;
  return std::all_of(pieces.begin(), pieces.end(), [](const SlabPiece<Real>& piece) {
    return static_cast<std::size_t>(piece.width) * sizeof(std::complex<Real>) >= kMinBytes;
  });
}

/// The streams of one call. Groups of planes alternate between streams; later work in the caller's stream
/// waits for all of them.
template <class Real>
class CudaSlabs<Real>::Queues final : public DeviceQueues<Real> {
 public:
  Queues(const CudaSlabs& of, const SlabCall& call) : of_(of), call_(call), states_(of.places_.size()) {}

  std::vector<const void*> from;  ///< signals of a forward transform
  ElementType type = ElementType::c64;
  std::span<std::complex<Real>* const> results;  ///< of a forward transform
  std::vector<void*> to;                         ///< signals of an inverse transform

  void record(int place, Lane lane, int event) override {
    at(place, [&](const Place& p) {
      const bool turns = lane == Lane::work && states_[index(place)].turns;
      states_[index(place)].of_all.resize(p.events.size());
      states_[index(place)].of_all[first_of(event)] = turns;
      for (std::size_t s = 0; s <= (turns ? p.turns.size() : 0); ++s) {
        const cuda::Stream recorded = s == 0 ? stream(place, lane) : p.turns[s - 1].get();
        const bool outside = lane == Lane::send && states_[index(place)].captured;
        if (outside || crosses_graph(event, recorded))
          cuda::record_external(p.events[first_of(event) + s], recorded);
        else
          record(p, first_of(event) + s, recorded);
      }
    });
  }
  void wait(int place, Lane lane, int other, int event) override {
    if (lane == Lane::work) join(place);
    at(place, [&](const Place&) {
      const Place& p = of_.places_[index(other)];
      const std::vector<bool>& of_all = states_[index(other)].of_all;
      const bool turns = first_of(event) < of_all.size() && of_all[first_of(event)];
      for (std::size_t s = 0; s <= (turns ? p.turns.size() : 0); ++s) {
        const cuda::Event& reached = p.events[first_of(event) + s];
        if (crosses_graph(event, stream(place, lane)))
          cuda::wait_external(reached, stream(place, lane));
        else
          reached.block(stream(place, lane));
      }
    });
  }
  /// If the caller captures the call, the capture contains the launches, not a graph. A graph has its own
  /// stream, so that lines need not wait for its end.
  void by_itself(int place, const std::function<void()>& queue) override {
    const cuda::Stream work = stream(place, Lane::work);
    if (!of_.has_graphs() || cuda::capture_of(work) != 0) return queue();
    at(place, [&](const Place& p) {
      const cuda::Stream own = p.by_itself.get();
      const cuda::Graph& graph = of_.graphs_[index(place)].of(graph_key(place), own, [&] {
        states_[index(place)].captured = true;
        queue();
        join(place);
        record(p, p.events.size() - 1, p.send.get());
        p.events.back().block(own);
        states_[index(place)].captured = false;
      });
      record(p, p.events.size() - 1, work);
      p.events.back().block(own);
      graph.launch(own);
    });
  }
  void planes_forward(int place, std::int64_t first, std::int64_t count, std::complex<Real>* spectra,
                      const SlabPiece<Real>& own, double scale) override {
    by_turns(place, count, [&](const Place& p, Share group, std::size_t turn, cuda::Stream stream) {
      const std::byte* signals = static_cast<const std::byte*>(from[index(place)]) +
                                 bytes_before(first + group.first, element_bytes(type));
      std::complex<Real>* const planes = spectra + group.first * of_.fft_.grid().plane_values();
      if (p.all_in_steps()) {
        p.steps->columns(reinterpret_cast<const std::complex<Real>*>(signals), planes, group.count, false,
                         stream);
        p.steps->rows_for_others(place, planes, planes, group.count, scale, stream);
      } else {
        p.planes.at(group.count)->enqueue_forward(signals, type, planes, engine_memory(place, turn), stream);
      }
      store_own(p, part_of(own, group), scale, false, stream);
    });
  }
  void planes_inverse(int place, std::int64_t first, std::int64_t count, std::complex<Real>* spectra,
                      const SlabPiece<Real>& own, double scale) override {
    by_turns(place, count, [&](const Place& p, Share group, std::size_t turn, cuda::Stream stream) {
      std::byte* signals = static_cast<std::byte*>(to[index(place)]) +
                           bytes_before(first + group.first, element_bytes(own_type<Real>(of_.problem_)));
      std::complex<Real>* const planes = spectra + group.first * of_.fft_.grid().plane_values();
      store_own(p, part_of(own, group), scale, true, stream);
      if (p.all_in_steps()) {
        p.steps->columns(planes, reinterpret_cast<std::complex<Real>*>(signals), group.count, true, stream);
      } else {
        p.planes.at(group.count)->enqueue_inverse(planes, signals, engine_memory(place, turn), stream);
      }
    });
  }
  void columns(int place, std::int64_t first, std::int64_t count, const std::complex<Real>* source,
               std::complex<Real>* target, bool inverse) override {
    using Api = CufftApi<Real>;
    source += first * of_.fft_.grid().inner;
    target += first * of_.fft_.grid().inner;
    join(place);
    at(place, [&](const Place& p) {
      if (p.steps != nullptr) {
        p.steps->lines(place, source, target, count, inverse, stream(place, Lane::work));
        if (inverse && p.all_in_steps())
          p.steps->rows_of_others(place, target, count, of_.scales_.inverse, stream(place, Lane::work));
        return;
      }
      p.columns.at(count)->run(engine_memory(place, 0), stream(place, Lane::work), [&](cufftHandle handle) {
        auto* in = reinterpret_cast<typename Api::Complex*>(const_cast<std::complex<Real>*>(source));
        return Api::complex(handle, in, reinterpret_cast<typename Api::Complex*>(target),
                            inverse ? CUFFT_INVERSE : CUFFT_FORWARD);
      });
    });
  }
  void send(int place, std::span<const SlabPiece<Real>> pieces, double scale) override {
    if (of_.packed_) return pack(place, pieces, scale);
    if (of_.places_[index(place)].all_in_steps() || (scale == 1.0 && long_rows(pieces))) {
      for (const SlabPiece<Real>& piece : pieces) copy(place, piece, stream(place, Lane::send));
      return;
    }
    at(place, [&](const Place&) { exchange(pieces, scale, kSendingBlocks, stream(place, Lane::send)); });
  }
  void receive(int place, const SlabPiece<Real>& piece) override {
    if (of_.packed_) return unpack(place, piece);
    copy(place, piece, stream(place, Lane::receive));
  }
  /// Makes the caller's streams wait for all alternating streams.
  void finish() {
    for (std::size_t p = 0; p < states_.size(); ++p) join(static_cast<int>(p));
  }

 private:
  struct State {
    bool turns = false;        ///< alternating streams have work
    std::vector<bool> of_all;  ///< events that also cover that work
    bool captured = false;     ///< work is being captured into a graph
  };

  /// Calls job(place, group, turn, stream) for groups of planes.
  template <class Job>
  void by_turns(int place, std::int64_t count, const Job& job) {
    at(place, [&](const Place& p) {
      const cuda::Stream work = stream(place, Lane::work);
      State& state = states_[index(place)];
      if (!p.turns.empty() && !state.turns) {
        record(p, p.events.size() - 1, work);
        for (const cuda::OwnedStream& other : p.turns) p.events.back().block(other.get());
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
    at(place, [&](const Place& p) {
      for (const cuda::OwnedStream& other : p.turns) {
        record(p, p.events.size() - 1, other.get());
        p.events.back().block(stream(place, Lane::work));
      }
    });
  }
  /// Whether an event connects a call that is being captured with calls outside its graph.
  bool crosses_graph(int event, cuda::Stream stream) const {
    return event == of_.fft_.lasting_event() && cuda::capture_of(stream) != 0;
  }
  static void record(const Place& place, std::size_t event, cuda::Stream stream) {
    const_cast<cuda::Event&>(place.events[event]).record(stream);
  }
  SlabGraphKey graph_key(int place) const {
    return {type, from[index(place)], call_.workspaces[index(place)], {results.begin(), results.end()}};
  }
  std::size_t first_of(int event) const noexcept {
    return index(event) * static_cast<std::size_t>(of_.turns_.streams);
  }
  /// A range of a piece's planes.
  static SlabPiece<Real> part_of(SlabPiece<Real> piece, Share planes) noexcept {
    piece.from += planes.first * piece.from_pitch;
    piece.to += planes.first * piece.to_pitch;
    piece.rows = planes.count;
    return piece;
  }
  void store_own(const Place& p, const SlabPiece<Real>& own, double scale, bool inverse,
                 cuda::Stream stream) const {
    if (p.all_in_steps()) return p.steps->rows(own, scale, inverse, stream);
    exchange({&own, 1}, scale, p.all_blocks, stream);
  }
  static void exchange(std::span<const SlabPiece<Real>> pieces, double scale, int blocks,
                       cuda::Stream stream) {
    using Value = cuda::Complex<Real>;
    std::vector<cuda::ExchangePiece<Real>> all;
    for (const SlabPiece<Real>& piece : pieces) {
      all.push_back({reinterpret_cast<const Value*>(piece.from), reinterpret_cast<Value*>(piece.to),
                     piece.from_pitch, piece.to_pitch, piece.width, piece.rows});
    }
    cuda::launch_exchange(all.data(), all.size(), scale, blocks, stream);
  }
  /// Stores the rows of a piece in block16, contiguous at the destination. If SlabSteps transform all
  /// dimensions, they have already applied the scale.
  void pack(int place, std::span<const SlabPiece<Real>> pieces, double scale) const {
    at(place, [&](const Place& p) {
      const double left = p.all_in_steps() ? 1.0 : scale;
      for (const SlabPiece<Real>& piece : pieces)
        cuda::launch_narrow_blocks(reinterpret_cast<const float*>(piece.from), piece.rows, 2 * piece.width,
                                   static_cast<float>(left), piece.to, stream(place, Lane::send),
                                   2 * piece.from_pitch);
    });
  }
  void unpack(int place, const SlabPiece<Real>& piece) const {
    at(place, [&](const Place&) {
      cuda::launch_widen_blocks(piece.from, piece.rows, 2 * piece.width, reinterpret_cast<float*>(piece.to),
                                stream(place, Lane::receive), 2 * piece.to_pitch);
    });
  }
  /// Copies with a copy engine.
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

  const CudaSlabs& of_;
  const SlabCall& call_;
  std::vector<State> states_;
};

}  // namespace sfft::detail
