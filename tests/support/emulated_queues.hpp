// SPDX-License-Identifier: Apache-2.0
// Emulates the devices of transforms in slabs. Enqueued work runs in a random order that only events
// restrict. Every access must be to memory that the device may touch. FFTs are direct sums.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <stdexcept>
#include <vector>

#include "kernels/dense/slabs/slab_fft.hpp"
#include "tests/support/direct_dft.hpp"

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
  int owner(const Value* first, std::int64_t pitch, std::int64_t width, std::int64_t rows) const {
    const Value* const end = first + (rows - 1) * pitch + width;
    for (const Block& block : blocks_) {
      if (first >= block.values.data() && end <= block.values.data() + block.values.size())
        return block.device;
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

/// Queues of `devices`; several calls may be enqueued before run().
template <class Real>
class EmulatedQueues final : public detail::DeviceQueues<Real> {
 public:
  using Value = std::complex<Real>;
  using Lane = detail::Lane;

  EmulatedQueues(const Shape& shape, bool real, const detail::SlabFft<Real>& fft,
                 const EmulatedMemory<Real>& memory)
      : shape_(shape),
        real_(real),
        fft_(fft),
        memory_(memory),
        lanes_(static_cast<std::size_t>(fft.grid().devices * detail::kLanes)) {}

  /// Arrays of the next call: complex values, or Reals for a real transform.
  std::vector<void*> signals;
  bool by_steps = false;  ///< complex volumes: transforms rows that stay here while moving them

  void record(int device, Lane lane, int event) override {
    EXPECT_LT(event, fft_.events());
    const auto key = std::make_pair(device, event);
    const int number = ++recorded_[key];
    push(device, lane, {nullptr, [=, this] { reached_[key] = number; }});
  }
  void wait(int device, Lane lane, int of, int event) override {
    EXPECT_LT(event, fft_.events());
    const auto key = std::make_pair(of, event);
    const int number = recorded_[key];
    push(device, lane, {[=, this] { return reached_[key] >= number; }, nullptr});
  }
  void by_itself(int, const std::function<void()>& queue) override { queue(); }
  void planes_forward(int device, std::int64_t first, std::int64_t count, Value* spectra,
                      const detail::SlabPiece<Real>& stays, double scale) override {
    const std::int64_t values = grid().plane_values();
    own(device, spectra, values * count);
    own(device, stays);
    push(device, Lane::work, {nullptr, [=, this, from = signals[static_cast<std::size_t>(device)]] {
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
                              }});
  }
  void planes_inverse(int device, std::int64_t first, std::int64_t count, Value* spectra,
                      const detail::SlabPiece<Real>& stays, double scale) override {
    const std::int64_t values = grid().plane_values();
    own(device, spectra, values * count);
    own(device, stays);
    push(device, Lane::work, {nullptr, [=, this, to = signals[static_cast<std::size_t>(device)]] {
                                move_own(stays, scale, true);
                                const std::int64_t points = plane().points();
                                for (std::int64_t p = 0; p < count; ++p) {
                                  std::vector<std::complex<double>> x;  // conjugated before and after
                                  for (std::int64_t i = 0; i < points; ++i)
                                    x.push_back(std::conj(whole(spectra + p * values, i)));
                                  x = by_steps ? dft_axis(std::move(x), grid().across, grid().inner, false)
                                               : direct_dft(std::move(x), plane().extents());
                                  for (std::int64_t i = 0; i < points; ++i) {
                                    const std::complex<double> value =
                                        std::conj(x[static_cast<std::size_t>(i)]);
                                    const std::int64_t at = (first + p) * points + i;
                                    if (real_)
                                      static_cast<Real*>(to)[at] = static_cast<Real>(value.real());
                                    else
                                      static_cast<Value*>(to)[at] = Value(value);
                                  }
                                }
                              }});
  }
  void columns(int device, std::int64_t first, std::int64_t count, const Value* from, Value* to,
               bool inverse) override {
    const std::int64_t width = grid().row_values(device), planes = grid().planes, inner = grid().inner;
    EXPECT_LE(first + count, grid().rows_of(device).count);
    own(device, from, planes * width);
    own(device, to, planes * width);
    push(device, Lane::work, {nullptr, [=, this] {
                                std::vector<std::complex<double>> x;
                                for (std::int64_t p = 0; p < planes; ++p)
                                  for (std::int64_t i = 0; i < count * inner; ++i)
                                    x.emplace_back(from[p * width + first * inner + i]);
                                x = dft_axis(std::move(x), planes, count * inner, inverse);
                                if (by_steps && inverse) {
                                  const auto own = grid().planes_of(device);
                                  x = rows_outside(std::move(x), own.first * count, own.count * count, true);
                                }
                                for (std::int64_t p = 0; p < planes; ++p)
                                  for (std::int64_t i = 0; i < count * inner; ++i)
                                    to[p * width + first * inner + i] =
                                        Value(x[static_cast<std::size_t>(p * count * inner + i)]);
                              }});
  }
  void send(int device, std::span<const detail::SlabPiece<Real>> pieces, double scale) override {
    for (const auto& piece : pieces) {
      EXPECT_EQ(memory_.owner(piece.from, piece.from_pitch, piece.width, piece.rows), device);
      const int to = memory_.owner(piece.to, piece.to_pitch, piece.width, piece.rows);
      EXPECT_TRUE(to == -1 || (to >= 0 && fft_.has_peer_access(device, to)))
          << device << " stores into " << to;
    }
    push(device, Lane::send, {nullptr, [=, all = std::vector(pieces.begin(), pieces.end())] {
                                for (const auto& piece : all) copy(piece, scale);
                              }});
  }
  void receive(int device, const detail::SlabPiece<Real>& piece) override {
    EXPECT_EQ(memory_.owner(piece.from, piece.from_pitch, piece.width, piece.rows), -1);
    EXPECT_EQ(memory_.owner(piece.to, piece.to_pitch, piece.width, piece.rows), device);
    push(device, Lane::receive, {nullptr, [=] { copy(piece, 1); }});
  }

  /// Runs all enqueued work, taking the queues in a random order. Throws if the queues wait for each other.
  void run(unsigned seed) {
    std::mt19937 generator(seed);
    for (;;) {
      std::vector<std::deque<Step>*> able;
      bool left = false;
      for (auto& lane : lanes_) {
        while (!lane.empty() && lane.front().when && lane.front().when()) lane.pop_front();
        left = left || !lane.empty();
        if (!lane.empty() && !lane.front().when) able.push_back(&lane);
      }
      if (able.empty()) {
        if (left) throw std::logic_error("the queues wait for each other");
        return;
      }
      auto& lane = *able[std::uniform_int_distribution<std::size_t>(0, able.size() - 1)(generator)];
      const Step step = std::move(lane.front());
      lane.pop_front();
      step.work();
    }
  }

 private:
  /// A wait, or work.
  struct Step {
    std::function<bool()> when;
    std::function<void()> work;
  };

  const detail::SlabGrid& grid() const { return fft_.grid(); }
  Shape plane() const { return detail::plane_shape(shape_); }
  std::int64_t row() const { return shape_[shape_.rank() - 1]; }
  void own(int device, const Value* first, std::int64_t values) const {
    EXPECT_EQ(memory_.owner(first, values, values, 1), device);
  }
  void own(int device, const detail::SlabPiece<Real>& piece) const {
    EXPECT_EQ(memory_.owner(piece.from, piece.from_pitch, piece.width, piece.rows), device);
    EXPECT_EQ(memory_.owner(piece.to, piece.to_pitch, piece.width, piece.rows), device);
  }
  void move_own(const detail::SlabPiece<Real>& piece, double scale, bool inverse) const {
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
  /// Transforms rows of the last dimension while moving them.
  void transform(const detail::SlabPiece<Real>& piece, double scale, bool inverse) const {
    for (std::int64_t r = 0; r < piece.rows; ++r) {
      std::vector<std::complex<double>> x(piece.from + r * piece.from_pitch,
                                          piece.from + r * piece.from_pitch + piece.width);
      x = dft_axis(std::move(x), grid().inner, 1, inverse);
      for (std::int64_t i = 0; i < piece.width; ++i)
        piece.to[r * piece.to_pitch + i] = Value(x[static_cast<std::size_t>(i)] * scale);
    }
  }
  static void copy(const detail::SlabPiece<Real>& piece, double scale) {
    for (std::int64_t r = 0; r < piece.rows; ++r)
      for (std::int64_t i = 0; i < piece.width; ++i)
        piece.to[r * piece.to_pitch + i] = piece.from[r * piece.from_pitch + i] * static_cast<Real>(scale);
  }
  void push(int device, Lane lane, Step step) {
    lanes_[static_cast<std::size_t>(device * detail::kLanes + static_cast<int>(lane))].push_back(
        std::move(step));
  }

  Shape shape_;
  bool real_;
  const detail::SlabFft<Real>& fft_;
  const EmulatedMemory<Real>& memory_;
  std::vector<std::deque<Step>> lanes_;
  std::map<std::pair<int, int>, int> recorded_, reached_;
};

}  // namespace sfft::test
