// SPDX-License-Identifier: Apache-2.0
// The CPU's variant of the algorithm: every stage has constant geometry and takes twiddle factors from a
// table, and the bit reversal comes last. A 2D transform does rows, a transposition, rows, and a
// transposition. The file is compiled twice, with OpenMP and without.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "bench/environment.hpp"
#include "bench/technologies/clock.hpp"
#include "bench/technologies/kernels/fft_math.h"
#include "bench/technologies/technology.hpp"

namespace sfft::technologies {

/// `kParallel` only keeps the two instantiations apart: the pragmas mean nothing without OpenMP.
template <bool kParallel>
class ConstantGeometry final : public Technology {
 public:
  explicit ConstantGeometry(std::string driver) {
    facts_.device = bench::processor();
    facts_.driver = std::move(driver);
    facts_.steps = {"table of twiddle factors"};
  }
  const Facts& facts() const override { return facts_; }
  bool inverts() const override { return true; }

  void prepare(const Problem& problem, const Setting&) override {
    problem_ = problem;
    const auto points = static_cast<std::size_t>(problem.points());
    try {
      for (auto* array : {&input_, &result_, &work_}) array->resize(points);
      twiddles_.resize(static_cast<std::size_t>(problem.length() / 2));
    } catch (const std::bad_alloc&) {
      throw Failure("out of memory");
    }
    const auto bits = static_cast<unsigned>(problem.bits);
    const float sign = problem.inverse ? 1.0F : -1.0F;
    const std::int64_t half = problem.length() / 2;
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < half; ++i)
      twiddles_[index(i)] = fft_twiddle(static_cast<unsigned>(i), bits, sign);
  }
  void upload(const Complex* signal) override {
    std::memcpy(static_cast<void*>(input_.data()), signal, input_.size() * sizeof(FftComplex));
  }
  Sample run() override {
    const Stopwatch watch;
    if (problem_.rank == 2) {
      rows(input_.data(), result_.data());
      transpose(result_.data(), work_.data());
      rows(work_.data(), result_.data());
      transpose(result_.data(), work_.data());
      std::swap(result_, work_);
    } else if (problem_.batch > 1) {
      rows(input_.data(), result_.data());
    } else {
      whole();
    }
    Sample sample;
    sample.wall_us = watch.us();
    return sample;
  }
  void download(Complex* spectrum) override {
    std::memcpy(static_cast<void*>(spectrum), result_.data(), result_.size() * sizeof(FftComplex));
  }

 private:
  static std::size_t index(std::int64_t i) {
    return static_cast<std::size_t>(i);
  }
  float scale() const {
    return problem_.inverse ? 1.0F / static_cast<float>(problem_.length()) : 1.0F;
  }

  void butterfly(const FftComplex* from, FftComplex* to, std::int64_t i, unsigned stage) const {
    const std::int64_t half = problem_.length() / 2;
    const FftComplex a = from[i], b = from[i + half];
    to[2 * i] = fft_add(a, b);
    to[2 * i + 1] = fft_rotated_difference(a, b, twiddles_[index((i >> stage) << stage)]);
  }
  std::int64_t reversed(std::int64_t i) const {
    return fft_output(static_cast<unsigned>(i), static_cast<unsigned>(problem_.bits));
  }

  /// Computes one transform, partitioning its butterflies among the threads.
  void whole() {
    const std::int64_t half = problem_.length() / 2;
    const FftComplex* from = input_.data();
    FftComplex *to = work_.data(), *other = result_.data();
    for (unsigned stage = 0; stage < static_cast<unsigned>(problem_.bits); ++stage) {
#pragma omp parallel for schedule(static)
      for (std::int64_t i = 0; i < half; ++i) butterfly(from, to, i, stage);
      from = to;
      std::swap(to, other);
    }
    // `from` is one of the two arrays, `to` the other.
    const float factor = scale();
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < 2 * half; ++i) to[i] = fft_scaled(from[reversed(i)], factor);
    if (to == work_.data()) std::swap(work_, result_);
  }

  /// Computes many transforms, each in one thread.
  void rows(const FftComplex* from, FftComplex* to) const {
    const std::int64_t length = problem_.length(), half = length / 2;
    const std::int64_t count = problem_.points() / length;
    const float factor = scale();
#pragma omp parallel
    {
      std::vector<FftComplex> first(index(length)), second(index(length));
#pragma omp for schedule(static)
      for (std::int64_t row = 0; row < count; ++row) {
        const FftComplex* source = from + row * length;
        FftComplex *target = first.data(), *other = second.data();
        for (unsigned stage = 0; stage < static_cast<unsigned>(problem_.bits); ++stage) {
          for (std::int64_t i = 0; i < half; ++i) butterfly(source, target, i, stage);
          source = target;
          std::swap(target, other);
        }
        for (std::int64_t i = 0; i < length; ++i)
          to[row * length + i] = fft_scaled(source[reversed(i)], factor);
      }
    }
  }

  void transpose(const FftComplex* from, FftComplex* to) const {
    constexpr std::int64_t kTile = 32;
    const std::int64_t n = problem_.length(), tiles = (n + kTile - 1) / kTile;
#pragma omp parallel for schedule(static)
    for (std::int64_t tile = 0; tile < tiles * tiles; ++tile) {
      const std::int64_t y0 = tile / tiles * kTile, x0 = tile % tiles * kTile;
      for (std::int64_t y = y0; y < std::min(n, y0 + kTile); ++y) {
        for (std::int64_t x = x0; x < std::min(n, x0 + kTile); ++x) to[x * n + y] = from[y * n + x];
      }
    }
  }

  Facts facts_;
  Problem problem_;
  std::vector<FftComplex> input_, result_, work_, twiddles_;
};

}  // namespace sfft::technologies
