// SPDX-License-Identifier: Apache-2.0
// Emulates the devices of transforms in slabs. Enqueued work runs in a random order that only events
// restrict. Every access must be to memory that the device may touch. FFTs are direct sums.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <functional>
#include <vector>

#include "kernels/dense/slabs/slab_fft.hpp"
#include "tests/support/direct_dft.hpp"
#include "tests/support/emulated_queue.hpp"

namespace sfft::test {

/// Memory of devices, and of the host for staging (device −1).
template <class Real>
class EmulatedMemory {
 public:
  using Value = std::complex<Real>;

  Value* allocate(int device, std::int64_t values) {
    blocks_.push_back({device, std::vector<Value>(static_cast<std::size_t>(values), Value(NAN, NAN))});
    return blocks_.back().values.data();
  }
  /// The device whose memory contains all of these rows, or −2 if there is none.
  int owner(const detail::Rows& rows) const {
    const std::byte* const end = rows.data + (rows.rows - 1) * rows.pitch + rows.width;
    for (const Block& block : blocks_) {
      const auto* const first = reinterpret_cast<const std::byte*>(block.values.data());
      if (rows.data >= first && end <= first + block.values.size() * sizeof(Value)) return block.device;
    }
    return -2;
  }

 private:
  struct Block {
    int device;
    std::vector<Value> values;
  };
  std::deque<Block> blocks_;
};

/// Several calls may be enqueued before run().
template <class Real>
class EmulatedSlabs final : public detail::SlabDevices {
 public:
  using Value = std::complex<Real>;
  using Lane = detail::Lane;

  EmulatedSlabs(const Shape& shape, bool real, const detail::SlabFft& fft, const EmulatedMemory<Real>& memory)
      : shape_(shape), real_(real), fft_(fft), memory_(memory) {
    for (int i = 0; i < fft.grid().devices * detail::kLanes; ++i) queues_.emplace_back(scheduler_);
    for (int i = 0; i < fft.grid().devices * fft.events(); ++i) events_.emplace_back(scheduler_);
  }

  /// Arrays of the next call: complex values, or Reals for a real transform.
  std::vector<void*> signals;
  bool by_steps = false;  ///< complex volumes: transforms rows that stay here while moving them

  detail::Queue& queue(int device, Lane lane) override {
    return queues_[static_cast<std::size_t>(device * detail::kLanes + static_cast<int>(lane))];
  }
  detail::Event& event(int device, int number) override {
    EXPECT_LT(number, fft_.events());
    return events_[static_cast<std::size_t>(device * fft_.events() + number)];
  }
  void by_itself(int, const std::function<void()>& enqueue) override { enqueue(); }
  void planes_forward(int device, const detail::Share& chunk, std::byte* memory,
                      const detail::SlabPiece& stays, double scale) override {
    const std::int64_t values = grid().plane_values(), first = chunk.first, count = chunk.count;
    auto* const spectra = reinterpret_cast<Value*>(memory);
    own(device, memory, values * count);
    own(device, stays);
    push(device, Lane::work, [=, this, from = signals[static_cast<std::size_t>(device)]] {
      const std::int64_t points = plane().points();
      for (std::int64_t p = 0; p < count; ++p) {
        std::vector<std::complex<double>> x;
        for (std::int64_t i = 0; i < points; ++i) {
          const std::int64_t at = (first + p) * points + i;
          x.emplace_back(real_ ? Value(static_cast<const Real*>(from)[at])
                               : static_cast<const Value*>(from)[at]);
        }
        x = plane_dft(std::move(x), device);
        for (std::int64_t i = 0, j = 0; i < points; ++i)
          if (!real_ || i % row() <= row() / 2)
            spectra[p * values + j++] = Value(x[static_cast<std::size_t>(i)]);
      }
      move_own(stays, scale, false);
    });
  }
  void planes_inverse(int device, const detail::Share& chunk, std::byte* memory,
                      const detail::SlabPiece& stays, double scale) override {
    const std::int64_t values = grid().plane_values(), first = chunk.first, count = chunk.count;
    auto* const spectra = reinterpret_cast<Value*>(memory);
    own(device, memory, values * count);
    own(device, stays);
    push(device, Lane::work, [=, this, to = signals[static_cast<std::size_t>(device)]] {
      move_own(stays, scale, true);
      const std::int64_t points = plane().points();
      for (std::int64_t p = 0; p < count; ++p) {
        std::vector<std::complex<double>> x;  // conjugated before and after
        for (std::int64_t i = 0; i < points; ++i) x.push_back(std::conj(whole(spectra + p * values, i)));
        x = by_steps ? dft_axis(std::move(x), grid().across, grid().inner, false)
                     : direct_dft(std::move(x), plane().extents());
        for (std::int64_t i = 0; i < points; ++i) {
          const std::complex<double> value = std::conj(x[static_cast<std::size_t>(i)]);
          const std::int64_t at = (first + p) * points + i;
          if (real_)
            static_cast<Real*>(to)[at] = static_cast<Real>(value.real());
          else
            static_cast<Value*>(to)[at] = Value(value);
        }
      }
    });
  }
  void columns(int device, const detail::Share& rows, const std::byte* source, std::byte* target,
               bool inverse) override {
    const std::int64_t first = rows.first, count = rows.count;
    const auto* const from = reinterpret_cast<const Value*>(source);
    auto* const to = reinterpret_cast<Value*>(target);
    const std::int64_t width = grid().row_values(device), planes = grid().planes, inner = grid().inner;
    EXPECT_LE(first + count, grid().rows_of(device).count);
    own(device, source, planes * width);
    own(device, target, planes * width);
    push(device, Lane::work, [=, this] {
      std::vector<std::complex<double>> x;
      for (std::int64_t p = 0; p < planes; ++p)
        for (std::int64_t i = 0; i < count * inner; ++i) x.emplace_back(from[p * width + first * inner + i]);
      x = dft_axis(std::move(x), planes, count * inner, inverse);
      if (by_steps && inverse) {
        const auto own = grid().planes_of(device);
        x = rows_outside(std::move(x), own.first * count, own.count * count, true);
      }
      for (std::int64_t p = 0; p < planes; ++p)
        for (std::int64_t i = 0; i < count * inner; ++i)
          to[p * width + first * inner + i] = Value(x[static_cast<std::size_t>(p * count * inner + i)]);
    });
  }
  void send(int device, std::span<const detail::SlabPiece> pieces, double scale) override {
    for (const auto& piece : pieces) {
      EXPECT_EQ(memory_.owner(piece.from), device);
      const int to = memory_.owner(piece.to);
      EXPECT_TRUE(to == -1 || (to >= 0 && fft_.has_peer_access(device, to)))
          << device << " stores into " << to;
    }
    push(device, Lane::send, [=, this, all = std::vector(pieces.begin(), pieces.end())] {
      for (const auto& piece : all) copy(piece, scale);
    });
  }
  void receive(int device, const detail::SlabPiece& piece) override {
    EXPECT_EQ(memory_.owner(piece.from), -1);
    EXPECT_EQ(memory_.owner(piece.to), device);
    push(device, Lane::receive, [=, this] { copy(piece, 1); });
  }

  /// Runs all enqueued work, taking the queues in a random order. Throws if the queues wait for each other.
  void run(unsigned seed) {
    scheduler_.seed(seed);
    for (EmulatedQueue& queue : queues_) queue.wait();
  }

 private:
  const detail::SlabGrid& grid() const { return fft_.grid(); }
  Shape plane() const { return detail::plane_shape(shape_); }
  std::int64_t row() const { return shape_[shape_.rank() - 1]; }
  void own(int device, const std::byte* first, std::int64_t values) const {
    const std::int64_t bytes = fft_.bytes(values);
    EXPECT_EQ(memory_.owner({const_cast<std::byte*>(first), bytes, bytes, 1}), device);
  }
  void own(int device, const detail::SlabPiece& piece) const {
    EXPECT_EQ(memory_.owner(piece.from), device);
    EXPECT_EQ(memory_.owner(piece.to), device);
  }
  void move_own(const detail::SlabPiece& piece, double scale, bool inverse) const {
    by_steps ? transform(piece, scale, inverse) : copy(piece, scale);
  }
  /// Value i of a plane's full spectrum.
  std::complex<double> whole(const Value* plane_spectrum, std::int64_t i) const {
    if (!real_) return std::complex<double>(plane_spectrum[i]);
    const std::int64_t kept = row() / 2 + 1, rows = plane().points() / row();
    const std::int64_t r = i / row(), k = i % row();
    if (k < kept) return std::complex<double>(plane_spectrum[r * kept + k]);
    return std::conj(std::complex<double>(plane_spectrum[(rows - r) % rows * kept + row() - k]));
  }
  static std::vector<std::complex<double>> dft_axis(std::vector<std::complex<double>> x, std::int64_t n,
                                                    std::int64_t inner, bool inverse) {
    const auto conjugate = [&] {
      for (auto& value : x) value = std::conj(value);
    };
    if (inverse) conjugate();
    x = direct_dft_axis(x, static_cast<std::int64_t>(x.size()) / (n * inner), n, inner);
    if (inverse) conjugate();
    return x;
  }
  /// Transforms all rows of the last dimension except the `count` rows from `first` on.
  std::vector<std::complex<double>> rows_outside(std::vector<std::complex<double>> x, std::int64_t first,
                                                 std::int64_t count, bool inverse) const {
    const std::vector<std::complex<double>> rows = dft_axis(x, grid().inner, 1, inverse);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::int64_t row = static_cast<std::int64_t>(i) / grid().inner;
      if (row < first || row >= first + count) x[i] = rows[i];
    }
    return x;
  }
  std::vector<std::complex<double>> plane_dft(std::vector<std::complex<double>> x, int device) const {
    if (!by_steps) return direct_dft(std::move(x), plane().extents());
    const auto own = grid().rows_of(device);
    return rows_outside(dft_axis(std::move(x), grid().across, grid().inner, false), own.first, own.count,
                        false);
  }
  static Value* row_of(const detail::Rows& rows, std::int64_t row) {
    return reinterpret_cast<Value*>(rows.data + row * rows.pitch);
  }
  std::int64_t width_of(const detail::SlabPiece& piece) const {
    return piece.from.width / fft_.value_bytes();
  }
  /// Transforms rows of the last dimension while moving them.
  void transform(const detail::SlabPiece& piece, double scale, bool inverse) const {
    for (std::int64_t r = 0; r < piece.from.rows; ++r) {
      const Value* const from = row_of(piece.from, r);
      std::vector<std::complex<double>> x(from, from + width_of(piece));
      x = dft_axis(std::move(x), grid().inner, 1, inverse);
      for (std::int64_t i = 0; i < width_of(piece); ++i)
        row_of(piece.to, r)[i] = Value(x[static_cast<std::size_t>(i)] * scale);
    }
  }
  void copy(const detail::SlabPiece& piece, double scale) const {
    for (std::int64_t r = 0; r < piece.from.rows; ++r)
      for (std::int64_t i = 0; i < width_of(piece); ++i)
        row_of(piece.to, r)[i] = row_of(piece.from, r)[i] * static_cast<Real>(scale);
  }
  void push(int device, Lane lane, std::function<void()> work) {
    queue(device, lane).launch([work = std::move(work)](CUstream_st*) { work(); });
  }

  Shape shape_;
  bool real_;
  const detail::SlabFft& fft_;
  const EmulatedMemory<Real>& memory_;
  EmulatedScheduler scheduler_;
  std::deque<EmulatedQueue> queues_;
  std::deque<EmulatedEvent> events_;
};

}  // namespace sfft::test
