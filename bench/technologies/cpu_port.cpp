// SPDX-License-Identifier: Apache-2.0
// Plain C++ on one thread, and the GPU's kernels emulated on the CPU.
#include "bench/technologies/constant_geometry.hpp"

namespace sfft::technologies {

namespace {

/// Runs a schedule as a GPU would, one group at a time and one thread at a time between two barriers. This
/// tests the mathematics, the schedule and the kernels' indices without a GPU.
class Emulation final : public Port {
 public:
  Emulation() {
    facts_.device = bench::processor();
    facts_.driver = "kernels emulated in C++";
    facts_.limits = {1024, 49152, 0, 0, 64};  // a short row of groups, so that a second one is tested too
  }
  void upload(const Complex* signal) override { std::memcpy(data(Array::input), signal, size()); }
  void download(Complex* spectrum) override {
    std::memcpy(static_cast<void*>(spectrum), data(Array::result), size());
  }
  Sample run() override {
    const Stopwatch watch;
    for (const Launch& launch : schedule_) {
      const FftComplex* source = data(launch.source);
      FftComplex* target = data(launch.target);
      for (unsigned y = 0; y < launch.groups_y(); ++y) {
        for (unsigned x = 0; x < launch.parameters.groups_x; ++x) {
          const unsigned group = x + y * launch.parameters.groups_x;
          if (launch.kernel == Kernel::stage) stage(group, launch.parameters, source, target);
          if (launch.kernel == Kernel::parts) parts(group, launch.parameters, source, target);
          if (launch.kernel == Kernel::transpose) transpose(group, launch.parameters, source, target);
        }
      }
    }
    Sample sample;
    sample.wall_us = watch.us();
    return sample;
  }

 private:
  void build(const Setting&) override {}
  void allocate(std::int64_t bytes) override {
    try {
      for (auto& array : arrays_) array.assign(static_cast<std::size_t>(bytes) / sizeof(FftComplex), {});
    } catch (const std::bad_alloc&) {
      throw Failure("out of memory");
    }
  }
  std::size_t size() const { return static_cast<std::size_t>(bytes()); }
  FftComplex* data(Array array) { return arrays_[static_cast<int>(array)].data(); }
  unsigned group_threads() const { return static_cast<unsigned>(setting_.threads); }

  void stage(unsigned group, const Parameters& p, const FftComplex* source, FftComplex* target) const {
    for (unsigned lane = 0; lane < group_threads(); ++lane) {
      const unsigned thread = group * group_threads() + lane;
      if (thread >= p.threads) return;
      const unsigned low = fft_low(thread, p.dist);
      const FftComplex a = source[low], b = source[low + p.dist];
      const FftComplex w = fft_stage_twiddle(thread, p.dist, p.stage, p.bits, p.sign);
      target[low] = fft_add(a, b);
      target[low + p.dist] = fft_rotated_difference(a, b, w);
    }
  }

  void parts(unsigned group, const Parameters& p, const FftComplex* source, FftComplex* target) {
    const unsigned half_bits = p.block_bits - 1, half_points = 1U << half_bits;
    values_.resize(2 * group_threads());
    joined_.resize(2 * group_threads());
    const unsigned first_thread = group * group_threads();
    const unsigned threads =
        first_thread >= p.threads ? 0 : std::min(group_threads(), p.threads - first_thread);
    const auto low_of = [&](unsigned lane) {
      return ((lane >> half_bits) << p.block_bits) + (lane & (half_points - 1));
    };
    const auto first_of = [&](unsigned lane) {
      const unsigned part = fft_part((first_thread + lane) >> half_bits, p.bits, p.block_bits);
      return (part << p.block_bits) + (lane & (half_points - 1));
    };
    for (unsigned lane = 0; lane < threads; ++lane) {
      values_[low_of(lane)] = source[first_of(lane)];
      values_[low_of(lane) + half_points] = source[first_of(lane) + half_points];
    }
    for (unsigned stage = 0; stage < p.block_bits; ++stage) {
      for (unsigned lane = 0; lane < threads; ++lane) {
        const unsigned low = low_of(lane), butterfly = lane & (half_points - 1);
        const FftComplex a = values_[low], b = values_[low + half_points];
        joined_[low + butterfly] = fft_add(a, b);
        joined_[low + butterfly + 1] =
            fft_rotated_difference(a, b, fft_local_twiddle(butterfly, stage, p.block_bits, p.sign));
      }
      std::swap(values_, joined_);
    }
    for (unsigned lane = 0; lane < threads; ++lane) {
      target[fft_output(first_of(lane), p.bits)] = fft_scaled(values_[low_of(lane)], p.scale);
      target[fft_output(first_of(lane) + half_points, p.bits)] =
          fft_scaled(values_[low_of(lane) + half_points], p.scale);
    }
  }

  void transpose(unsigned group, const Parameters& p, const FftComplex* source, FftComplex* target) const {
    const auto tile = static_cast<unsigned>(setting_.tile);
    const unsigned tiles_x = (p.columns + tile - 1) / tile;
    const unsigned x0 = group % tiles_x * tile, y0 = group / tiles_x * tile;
    for (unsigned y = y0; y < std::min(p.rows, y0 + tile); ++y) {
      for (unsigned x = x0; x < std::min(p.columns, x0 + tile); ++x)
        target[x * p.rows + y] = source[y * p.columns + x];
    }
  }

  std::vector<FftComplex> arrays_[kArrays], values_, joined_;
};

}  // namespace

std::unique_ptr<Technology> open_cpu(int device) {
  if (device > 0) return nullptr;
  return std::make_unique<ConstantGeometry<false>>("one thread");
}

std::unique_ptr<Technology> open_emulation(int device) {
  if (device > 0) return nullptr;
  return std::make_unique<Emulation>();
}

}  // namespace sfft::technologies
