// SPDX-License-Identifier: Apache-2.0
// Emulates a device with a memory budget on the CPU, for out-of-core transforms without a GPU. Its FFTs are
// direct sums.
#pragma once

#include <cmath>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "kernels/dense/cpu/stored_values.hpp"
#include "kernels/dense/out_of_core/out_of_core_device.hpp"
#include "sfft/error.hpp"
#include "tests/support/direct_dft.hpp"
#include "tests/support/emulated_queue.hpp"

namespace sfft::test {

/// Enqueues a kernel of a device, which is given `memory`.
inline void launch(detail::Queue& queue, const EmulatedState& device, const void* memory,
                   const std::function<void()>& kernel) {
  auto& emulated = static_cast<EmulatedQueue&>(queue);
  emulated.expect(device, memory);
  emulated.launch([kernel](CUstream_st*) { kernel(); });
}

/// Computes `batch` times `lanes` interleaved transforms of a grid whose rows begin `pitch` values apart. The
/// workspace is as large as the data, and is overwritten.
template <class Real>
class EmulatedKernel final : public detail::DeviceKernel {
 public:
  EmulatedKernel(std::vector<std::int64_t> grid, std::int64_t pitch, std::int64_t lanes, std::int64_t batch,
                 std::shared_ptr<EmulatedState> state)
      : grid_(std::move(grid)), pitch_(pitch), lanes_(lanes), batch_(batch), state_(std::move(state)) {
    for (const std::int64_t n : grid_) points_ *= n;
  }

  std::int64_t workspace_bytes() const noexcept override {
    return points_ * lanes_ * batch_ * static_cast<std::int64_t>(sizeof(std::complex<Real>));
  }
  void run(std::byte* data, bool inverse, std::byte* workspace, detail::Queue& queue) const override {
    launch(queue, *state_, data, [=, this] {
      auto* const piece = reinterpret_cast<std::complex<Real>*>(data);
      std::memset(workspace, 0xFF, static_cast<std::size_t>(workspace_bytes()));
      const std::int64_t row = grid_.back() * lanes_, rows = points_ * lanes_ / row;
      for (std::int64_t b = 0; b < batch_; ++b) {
        std::complex<Real>* const one = piece + b * rows * pitch_;
        std::vector<std::complex<double>> x;
        for (std::int64_t r = 0; r < rows; ++r) x.insert(x.end(), one + r * pitch_, one + r * pitch_ + row);
        if (inverse) std::for_each(x.begin(), x.end(), [](auto& value) { value = std::conj(value); });
        x = direct_dft(std::move(x), grid_, lanes_);
        for (std::int64_t i = 0; i < rows * pitch_; ++i) {
          const auto at = static_cast<std::size_t>(i / pitch_ * row + i % pitch_);
          one[i] = i % pitch_ < row ? std::complex<Real>(inverse ? std::conj(x[at]) : x[at])
                                    : std::complex<Real>(NAN);  // callers must not rely on gaps
        }
      }
      ++state_->pieces;
    });
  }

 private:
  std::vector<std::int64_t> grid_;
  std::int64_t pitch_, lanes_, batch_, points_ = 1;
  std::shared_ptr<EmulatedState> state_;
};

/// In-place real FFTs of rows with room for half spectra.
template <class Real>
class EmulatedRealKernel final : public detail::DeviceKernel {
 public:
  EmulatedRealKernel(std::vector<std::int64_t> grid, std::int64_t batch, std::shared_ptr<EmulatedState> state)
      : grid_(std::move(grid)), batch_(batch), state_(std::move(state)) {
    for (const std::int64_t n : grid_) points_ *= n;
  }

  std::int64_t workspace_bytes() const noexcept override {
    return points_ * batch_ * static_cast<std::int64_t>(sizeof(Real));
  }
  void run(std::byte* data, bool inverse, std::byte* workspace, detail::Queue& queue) const override {
    launch(queue, *state_, data, [=, this] {
      auto* const piece = reinterpret_cast<std::complex<Real>*>(data);
      std::memset(workspace, 0xFF, static_cast<std::size_t>(workspace_bytes()));
      for (std::int64_t b = 0; b < batch_; ++b) {
        std::complex<Real>* const one = piece + b * rows() * kept();
        inverse ? back(one) : there(one);
      }
      ++state_->pieces;
    });
  }

 private:
  std::int64_t rows() const { return points_ / grid_.back(); }
  std::int64_t kept() const { return grid_.back() / 2 + 1; }
  void there(std::complex<Real>* one) const {
    const auto* const reals = reinterpret_cast<const Real*>(one);
    std::vector<std::complex<double>> x;
    for (std::int64_t r = 0; r < rows(); ++r)
      for (std::int64_t t = 0; t < grid_.back(); ++t) x.emplace_back(reals[r * 2 * kept() + t]);
    x = direct_dft(std::move(x), grid_, 1);
    for (std::int64_t i = 0; i < rows() * kept(); ++i)
      one[i] = std::complex<Real>(x[static_cast<std::size_t>(i / kept() * grid_.back() + i % kept())]);
  }
  /// The row whose frequencies are negated in every dimension.
  std::int64_t opposite(std::int64_t row) const {
    std::int64_t other = 0, stride = 1;
    for (auto n = grid_.rbegin() + 1; n != grid_.rend(); stride *= *n++) {
      other += (*n - row % *n) % *n * stride;
      row /= *n;
    }
    return other;
  }
  void back(std::complex<Real>* one) const {
    const std::int64_t n = grid_.back();
    std::vector<std::complex<double>> x;
    for (std::int64_t r = 0; r < rows(); ++r)
      for (std::int64_t k = 0; k < n; ++k)  // conjugated before and after: an inverse transform
        x.emplace_back(k < kept() ? std::conj(std::complex<double>(one[r * kept() + k]))
                                  : std::complex<double>(one[opposite(r) * kept() + n - k]));
    x = direct_dft(std::move(x), grid_, 1);
    auto* const reals = reinterpret_cast<Real*>(one);
    for (std::int64_t r = 0; r < rows(); ++r)
      for (std::int64_t t = 0; t < 2 * kept(); ++t)  // callers must not rely on gaps
        reals[r * 2 * kept() + t] =
            t < n ? static_cast<Real>(x[static_cast<std::size_t>(r * n + t)].real()) : Real(NAN);
  }

  std::vector<std::int64_t> grid_;
  std::int64_t batch_, points_ = 1;
  std::shared_ptr<EmulatedState> state_;
};

template <class Real>
class EmulatedDevice final : public detail::OutOfCoreDevice {
 public:
  explicit EmulatedDevice(std::shared_ptr<EmulatedState> state) : state_(std::move(state)) {}

  std::string name() const override { return "emulated device"; }
  std::int64_t memory_bytes() const override { return static_cast<std::int64_t>(state_->budget); }
  std::int64_t free_bytes() const override {
    return static_cast<std::int64_t>(state_->budget - state_->used);
  }
  std::shared_ptr<std::byte> allocate(std::int64_t size) override {
    const auto bytes = static_cast<std::size_t>(size);
    state_->allocation();
    const std::size_t used = state_->used += bytes;
    if (used > state_->budget) {
      state_->used -= bytes;
      throw Error(ErrorCode::out_of_memory, "the emulated device is full");
    }
    if (used > state_->max_used) state_->max_used = used;
    std::shared_ptr<std::byte> memory(new std::byte[bytes], [state = state_, bytes](std::byte* released) {
      state->remove_memory(released);
      delete[] released;
      state->used -= bytes;
    });
    state_->add_memory(memory.get(), bytes);
    return memory;
  }
  std::shared_ptr<std::byte> allocate_on_host(std::int64_t size) override {
    const auto bytes = static_cast<std::size_t>(size);
    if (state_->fail_allocation == 1) state_->host().pins_nothing = true;
    if (state_->fail_allocation > 0) --state_->fail_allocation;
    EmulatedState& host = state_->host();
    if (host.pins_nothing) throw Error(ErrorCode::out_of_memory, "no memory can be page-locked");
    std::shared_ptr<std::byte> memory(new std::byte[bytes], [state = state_](std::byte* released) {
      const std::lock_guard lock(state->host().mutex);
      state->host().on_host.erase(released);
      delete[] released;
    });
    const std::lock_guard lock(host.mutex);
    host.on_host.emplace(memory.get(), bytes);
    return memory;
  }
  bool reads(const void* memory, std::int64_t) const noexcept override {
    EmulatedState& host = state_->host();
    if (std::this_thread::get_id() != host.asking) return false;
    if (host.reads_everything) return true;
    return state_->page_locked(static_cast<const std::byte*>(memory));
  }
  std::unique_ptr<detail::Queue> make_queue() override {
    return std::make_unique<EmulatedQueue>(state_->scheduler, state_);
  }
  std::unique_ptr<detail::Event> make_event() override {
    return std::make_unique<EmulatedEvent>(state_->scheduler);
  }
  std::unique_ptr<const detail::DeviceKernel> columns(std::int64_t points, std::int64_t count) override {
    return std::make_unique<const EmulatedKernel<Real>>(std::vector{points}, points * count, count, 1,
                                                        state_);
  }
  std::unique_ptr<const detail::DeviceKernel> slabs(const Shape& stored, std::int64_t row_points,
                                                    std::int64_t count) override {
    std::vector<std::int64_t> extents(stored.extents().begin(), stored.extents().end());
    const std::int64_t pitch = std::exchange(extents.back(), row_points);
    return std::make_unique<const EmulatedKernel<Real>>(std::move(extents), pitch, 1, count, state_);
  }
  std::unique_ptr<const detail::DeviceKernel> real_slabs(const Shape& stored, std::int64_t row_points,
                                                         std::int64_t count) override {
    std::vector<std::int64_t> extents(stored.extents().begin(), stored.extents().end());
    extents.back() = row_points;
    return std::make_unique<const EmulatedRealKernel<Real>>(std::move(extents), count, state_);
  }
  void multiply(std::byte* data, const detail::PieceFactors& by, detail::Queue& queue) const override {
    launch(queue, *state_, data, [=] {
      auto* const piece = values(data);
      for (std::int64_t i = 0; i < by.rows * by.columns; ++i) piece[i] = multiplied(piece, by, i);
    });
  }
  void multiply_transposed(const std::byte* data, const detail::PieceFactors& by, std::byte* results,
                           detail::Queue& queue) const override {
    launch(queue, *state_, data, [=] {
      const auto* const piece = reinterpret_cast<const std::complex<Real>*>(data);
      auto* const to = values(results);
      for (std::int64_t i = 0; i < by.rows * by.columns; ++i)
        to[i % by.columns * by.rows + i / by.columns] = multiplied(piece, by, i);
    });
  }
  void unpack_real(std::byte* data, const detail::MirroredPiece& of, double scale,
                   detail::Queue& queue) const override {
    launch(queue, *state_, data, [=] {
      exchange(values(data), of,
               [&](std::complex<double>& a, std::complex<double>& b, std::complex<double> root) {
                 const std::complex<double> even = 0.5 * (a + std::conj(b)),
                                            odd = (a - std::conj(b)) / std::complex<double>(0, 2);
                 a = scale * (even + root * odd);
                 b = scale * std::conj(even - root * odd);
               });
    });
  }
  void pack_real(std::byte* data, const detail::MirroredPiece& of, detail::Queue& queue) const override {
    launch(queue, *state_, data, [=] {
      exchange(
          values(data), of, [&](std::complex<double>& a, std::complex<double>& b, std::complex<double> root) {
            const std::complex<double> even = a + std::conj(b), odd = std::conj(root) * (a - std::conj(b));
            a = even + std::complex<double>(0, 1) * odd;
            b = std::conj(even) + std::complex<double>(0, 1) * std::conj(odd);
          });
    });
  }

  void unpack(const std::byte* packed, const detail::Rows& floats, detail::Queue& queue) const override {
    launch(queue, *state_, floats.data, [=] {
      over_rows(floats, [&](std::byte* row, std::int64_t count, std::size_t offset) {
        detail::read_stored(packed + offset, dense::Storage::block16, count, 0,
                            reinterpret_cast<float*>(row));
      });
    });
  }
  void pack(const detail::Rows& floats, std::byte* packed, detail::Queue& queue) const override {
    launch(queue, *state_, floats.data, [=] {
      over_rows(floats, [&](std::byte* row, std::int64_t count, std::size_t offset) {
        detail::write_stored(reinterpret_cast<const float*>(row), count, 0, 0, dense::Storage::block16,
                             packed + offset);
      });
    });
  }

 private:
  static std::complex<Real>* values(std::byte* data) { return reinterpret_cast<std::complex<Real>*>(data); }
  template <class Job>
  static void over_rows(const detail::Rows& floats, const Job& job) {
    const std::int64_t count = floats.width / static_cast<std::int64_t>(sizeof(float));
    const std::size_t bytes = detail::storage_bytes(dense::Storage::block16, count);
    for (std::int64_t r = 0; r < floats.rows; ++r)
      job(floats.data + r * floats.pitch, count, static_cast<std::size_t>(r) * bytes);
  }
  /// With E the spectrum of the even samples and O that of the odd ones, pairs are E + i·O and half spectra
  /// are E + w^k·O.
  template <class Job>
  static void exchange(std::complex<Real>* piece, const detail::MirroredPiece& of, const Job& job) {
    for (std::int64_t r = 0; r < of.rows; ++r) {
      for (std::int64_t c = 0; c < of.columns / 2; ++c) {
        std::complex<Real>& one = piece[r * of.columns + c];
        std::complex<Real>& other = piece[(of.rows - 1 - r) * of.columns + of.columns - 1 - c];
        std::complex<double> a(one), b(other);
        const auto k = static_cast<double>(r * of.width + of.first + c);
        job(a, b, std::polar(1.0, -3.14159265358979323846 * k / static_cast<double>(of.rows * of.width)));
        one = std::complex<Real>(a);
        other = std::complex<Real>(b);
      }
    }
  }
  static std::complex<Real> multiplied(const std::complex<Real>* piece, const detail::PieceFactors& by,
                                       std::int64_t i) {
    const std::complex<double> value(piece[i]);
    if (by.twiddles.length == 0) return std::complex<Real>(value * by.scale);
    std::int64_t column = by.first_column + i % by.columns;
    if (by.mirrored_width > 0 && i % by.columns >= by.columns / 2)
      column = by.mirrored_width - (by.first_column + by.columns - 1 - i % by.columns);
    const std::int64_t line = column / by.twiddles.element;
    const auto turn = static_cast<double>(i / by.columns * line) / static_cast<double>(by.twiddles.length);
    const auto factor = std::polar(by.scale, (by.inverse ? 2 : -2) * 3.14159265358979323846 * turn);
    return std::complex<Real>(value * factor);
  }

  std::shared_ptr<EmulatedState> state_;
};

/// Makes several devices of one host, each with the budget of the first. `states` receives all their states.
template <class Real>
detail::OutOfCoreDevices emulated_devices(const std::shared_ptr<EmulatedState>& first, int count,
                                          std::vector<std::shared_ptr<EmulatedState>>* states = nullptr) {
  detail::OutOfCoreDevices devices;
  for (int c = 0; c < count; ++c) {
    const auto state = c == 0 ? first : std::make_shared<EmulatedState>(first->budget, first);
    devices.push_back(std::make_shared<EmulatedDevice<Real>>(state));
    if (states != nullptr) states->push_back(state);
  }
  return devices;
}

}  // namespace sfft::test
