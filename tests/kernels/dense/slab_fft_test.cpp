// SPDX-License-Identifier: Apache-2.0
// Tests the schedule of transforms in slabs on emulated devices. Compares results with direct sums, for any
// order of the queues that the events allow.
#include "kernels/dense/slabs/slab_fft.hpp"

#include <gtest/gtest.h>

#include "tests/support/dense_reference.hpp"
#include "tests/support/emulated_slabs.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::test::slab_fft_test {
namespace {

using detail::Share;
using detail::SlabCuts;
using detail::SlabFft;
using detail::SlabGrid;

TEST(SlabGrid, SharesCoverAndDifferByOne) {
  for (const std::int64_t n : {1, 2, 7, 16, 1021}) {
    for (const std::int64_t parts : {1, 2, 3, 4, 8}) {
      std::int64_t next = 0;
      for (std::int64_t p = 0; p < parts; ++p) {
        const Share share = detail::share_of(n, parts, p);
        EXPECT_EQ(share.first, next);
        EXPECT_TRUE(share.count == n / parts || share.count == n / parts + 1);
        next += share.count;
      }
      EXPECT_EQ(next, n);
    }
  }
}

TEST(SlabGrid, SlabsSayWhichPartLiesWhere) {
  const std::vector<int> devices{3, 1};
  const auto signal = detail::signal_slabs(Shape{5, 4, 6}, devices);
  EXPECT_EQ(signal[0], (dense::Slab{3, 0, 1, {0, 0, 0}, {3, 4, 6}}));
  EXPECT_EQ(signal[1], (dense::Slab{1, 0, 1, {3, 0, 0}, {2, 4, 6}}));
  const auto spectrum = detail::spectrum_slabs(Shape{5, 4, 6}, true, devices);
  EXPECT_EQ(spectrum[1], (dense::Slab{1, 0, 1, {0, 2, 0}, {5, 2, 4}}));
  const auto flat = detail::spectrum_slabs(Shape{5, 8}, true, devices);
  EXPECT_EQ(flat[0], (dense::Slab{3, 0, 1, {0, 0, 0}, {5, 3, 1}}));
  EXPECT_EQ(flat[1], (dense::Slab{1, 0, 1, {0, 3, 0}, {5, 2, 1}}));
  const auto batch = detail::batch_slabs(Shape{9}, 3, devices);
  EXPECT_EQ(batch[0], (dense::Slab{3, 0, 2, {0, 0, 0}, {9, 1, 1}}));
  EXPECT_EQ(batch[1], (dense::Slab{1, 2, 1, {0, 0, 0}, {9, 1, 1}}));
  EXPECT_EQ(SlabGrid::max_devices(Shape{5, 8}, true), 5);
  EXPECT_EQ(SlabGrid::max_devices(Shape{9, 8}, true), 5);
  EXPECT_EQ(SlabGrid::max_devices(Shape{9, 2, 70}, true), 2);
}

/// Which devices can access each other.
enum class Reach { all, none, neighbours };

std::vector<bool> reach_of(Reach reach, int devices) {
  std::vector<bool> table;
  for (int from = 0; from < devices; ++from)
    for (int to = 0; to < devices; ++to)
      table.push_back(from == to || reach == Reach::all ||
                      (reach == Reach::neighbours && from / 2 == to / 2));
  return table;
}

/// Memory of one plan and the arrays of its calls.
template <class Real>
class Run {
 public:
  using Value = std::complex<Real>;

  Run(const Shape& shape, bool real, int devices, const SlabCuts& cuts, Reach reach, bool by_steps)
      : shape_(shape),
        real_(real),
        fft_(SlabGrid(shape, real, devices), sizeof(Value), real, cuts, reach_of(reach, devices)),
        devices_(shape, real, fft_, memory_) {
    devices_.by_steps = by_steps;
    for (int d = 0; d < devices; ++d) {
      planes_.push_back(memory_.allocate(d, fft_.grid().planes_values(d)));
      rows_.push_back(memory_.allocate(d, fft_.grid().spectrum_values(d)));
      for (int to = 0; to < devices; ++to)
        for (int slot = 0; slot < detail::SlabStaging::kSlots; ++slot)
          staging_.slots.push_back(fft_.staging_values(d, to) == 0
                                       ? nullptr
                                       : bytes_of(memory_.allocate(-1, fft_.staging_values(d, to))));
    }
  }

  /// Enqueues the transform of a whole signal in slabs. Its spectrum in slabs can be read after run().
  std::vector<Value*> forward(const ComplexSignal& signal, double scale) {
    std::vector<Value*> spectra;
    const auto slabs = detail::signal_slabs(shape_, names());
    for (int d = 0; d < devices(); ++d) {
      spectra.push_back(memory_.allocate(d, fft_.grid().spectrum_values(d)));
      const auto first = signal.begin() + slabs[static_cast<std::size_t>(d)].begin[0] * plane_points();
      const ComplexSignal part(first, first + slabs[static_cast<std::size_t>(d)].points());
      own(d, part);
    }
    fft_.forward(devices_, {{}, bytes_of(spectra), bytes_of(planes_), bytes_of(rows_)}, staging_, scale);
    return spectra;
  }
  /// Enqueues the inverse transform. Both complex and real signals are read back in the order of the slabs.
  std::vector<void*> inverse(const std::vector<Value*>& spectra, double scale) {
    std::vector<Value*> complex;
    devices_.signals.clear();
    for (int d = 0; d < devices(); ++d) {
      const std::int64_t points = fft_.grid().planes_of(d).count * plane_points();
      complex.push_back(memory_.allocate(d, points));  // large enough for Reals as well
      devices_.signals.push_back(complex.back());
    }
    if (real_) complex.assign(complex.size(), nullptr);
    fft_.inverse(devices_, {bytes_of(complex), bytes_of(spectra), bytes_of(planes_), bytes_of(rows_)},
                 staging_, scale);
    return devices_.signals;
  }
  void run(unsigned seed) { devices_.run(seed); }

  ComplexSignal gathered(const std::vector<Value*>& spectra) const {
    const Shape whole = detail::spectrum_shape(shape_, real_);
    ComplexSignal out(static_cast<std::size_t>(whole.points()));
    const auto slabs = detail::spectrum_slabs(shape_, real_, names());
    for (int d = 0; d < devices(); ++d) {
      const auto& slab = slabs[static_cast<std::size_t>(d)];
      const Value* from = spectra[static_cast<std::size_t>(d)];
      for (std::int64_t i = 0; i < slab.extent[0]; ++i)
        for (std::int64_t j = 0; j < slab.extent[1]; ++j)
          for (std::int64_t k = 0; k < slab.extent[2]; ++k)
            out[static_cast<std::size_t>(((slab.begin[0] + i) * whole[1] + slab.begin[1] + j) *
                                             fft_.grid().inner +
                                         slab.begin[2] + k)] = *from++;
    }
    return out;
  }
  ComplexSignal joined(const std::vector<void*>& signals) const {
    ComplexSignal out;
    for (int d = 0; d < devices(); ++d) {
      const std::int64_t points = fft_.grid().planes_of(d).count * plane_points();
      for (std::int64_t i = 0; i < points; ++i) {
        const void* at = signals[static_cast<std::size_t>(d)];
        out.emplace_back(real_ ? Value(static_cast<const Real*>(at)[i]) : static_cast<const Value*>(at)[i]);
      }
    }
    return out;
  }

 private:
  static std::byte* bytes_of(Value* values) { return reinterpret_cast<std::byte*>(values); }
  static std::vector<std::byte*> bytes_of(const std::vector<Value*>& arrays) {
    std::vector<std::byte*> bytes;
    for (Value* const values : arrays) bytes.push_back(bytes_of(values));
    return bytes;
  }
  int devices() const { return fft_.grid().devices; }
  std::vector<int> names() const { return std::vector<int>(static_cast<std::size_t>(devices()), 0); }
  std::int64_t plane_points() const { return shape_.points() / shape_[0]; }
  void own(int device, const ComplexSignal& part) {
    if (device == 0) devices_.signals.clear();
    if (real_) {
      reals_.push_back(as_samples<Real>(part));
      devices_.signals.push_back(reals_.back().data());
    } else {
      complex_.push_back(as_samples<Value>(part));
      devices_.signals.push_back(complex_.back().data());
    }
  }

  Shape shape_;
  bool real_;
  SlabFft fft_;
  EmulatedMemory<Real> memory_;
  EmulatedSlabs<Real> devices_;
  std::vector<Value*> planes_, rows_;
  detail::SlabStaging staging_;
  std::deque<std::vector<Real>> reals_;
  std::deque<std::vector<Value>> complex_;
};

template <class Real>
void check(const Shape& shape, bool real, int devices, const SlabCuts& cuts, Reach reach, unsigned seed) {
  SCOPED_TRACE(shape.to_string() + (real ? " real, " : " complex, ") + std::to_string(devices) +
               " devices, " + std::to_string(cuts.chunks) + " chunks, " + std::to_string(cuts.parts) +
               " parts, reach " + std::to_string(static_cast<int>(reach)) + ", seed " + std::to_string(seed));
  const double bound = 4 * fft_bound<Real>(static_cast<double>(shape.points()));
  Run<Real> run(shape, real, devices, cuts, reach, !real && shape.rank() == 3 && seed % 2 == 0);
  // Three transforms are enqueued before anything runs.
  std::vector<ComplexSignal> signals;
  std::vector<std::vector<std::complex<Real>*>> spectra;
  for (unsigned i = 0; i < 3; ++i) {
    signals.push_back(random_signal(static_cast<std::size_t>(shape.points()), 71 + i));
    if (real)
      for (auto& value : signals.back()) value = value.real();
    spectra.push_back(run.forward(signals.back(), 0.5));
  }
  run.run(seed);
  for (std::size_t i = 0; i < 3; ++i) {
    ComplexSignal expected = expected_spectra(signals[i], shape, real);
    for (auto& value : expected) value *= 0.5;
    EXPECT_LE(relative_l2(run.gathered(spectra[i]), expected), bound);
  }
  std::vector<std::vector<void*>> again;
  for (std::size_t i = 0; i < 3; ++i)
    again.push_back(run.inverse(spectra[i], 2 / static_cast<double>(shape.points())));
  run.run(seed + 1);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_LE(relative_l2(run.joined(again[i]), signals[i]), bound);
}

TEST(SlabFft, EqualsSumsInAnyOrderOfTheQueues) {
  unsigned seed = 1;
  for (const Shape& shape : {Shape{8, 6}, Shape{7, 9}, Shape{11, 4}, Shape{8, 6, 5}, Shape{5, 4, 6},
                             Shape{9, 7, 3}, Shape{4, 5, 1}, Shape{6, 4, 2}}) {
    for (const bool real : {false, true}) {
      for (int devices = 1; devices <= std::min(4, SlabGrid::max_devices(shape, real)); ++devices) {
        for (const SlabCuts& cuts : {SlabCuts{1, 1}, SlabCuts{2, 2, 0.5}, SlabCuts{3, 1}, SlabCuts{5, 3, 0.4},
                                     SlabCuts{2, 3, 0.9, 2}}) {
          for (const Reach reach : {Reach::all, Reach::none, Reach::neighbours}) {
            check<double>(shape, real, devices, cuts, reach, ++seed);
            check<float>(shape, real, devices, cuts, reach, seed);
          }
        }
      }
    }
  }
}

TEST(SlabFft, ManyOrders) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const int chunks = 2 + static_cast<int>(seed % 3), parts = 1 + static_cast<int>(seed % 5 / 2);
    check<double>(Shape{9, 12, 2}, seed % 3 == 0, 4, {chunks, parts, 0.3 + 0.2 * (seed % 4)},
                  static_cast<Reach>(seed / 2 % 3), seed);
  }
}

TEST(SlabFft, ChunksAndPartsCoverAndAreNeverEmpty) {
  for (int devices = 1; devices <= 4; ++devices) {
    for (const SlabCuts& cuts :
         {SlabCuts{8, 8, 0.6}, SlabCuts{8, 3, 0.99}, SlabCuts{8, 3, 0.01, 4}, SlabCuts{8, 4, 0.5, 3}}) {
      const SlabFft fft(SlabGrid(Shape{7, 34}, false, devices), sizeof(std::complex<float>), false, cuts,
                        reach_of(Reach::all, devices));
      for (int d = 0; d < devices; ++d) {
        std::int64_t planes = 0, rows = 0;
        for (int c = 0; c < fft.chunks(); ++c) {
          EXPECT_EQ(fft.chunk_of(d, c).first, planes);
          EXPECT_GE(fft.chunk_of(d, c).count, 1);
          planes += fft.chunk_of(d, c).count;
        }
        for (int p = 0; p < fft.parts(); ++p) {
          EXPECT_EQ(fft.part_of(d, p).first, rows);
          EXPECT_GE(fft.part_of(d, p).count, 1);
          if (p > 0) {
            EXPECT_EQ(fft.part_of(d, p).count % cuts.rows_together, 0);
          }
          rows += fft.part_of(d, p).count;
        }
        EXPECT_EQ(planes, fft.grid().planes_of(d).count);
        EXPECT_EQ(rows, fft.grid().rows_of(d).count);
      }
    }
  }
}

}  // namespace
}  // namespace sfft::test::slab_fft_test
