// SPDX-License-Identifier: Apache-2.0
// The interface through which discovery reads a signal, wherever it is stored.
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/base/math/region.hpp"
#include "kernels/base/tables/sample_set.hpp"
#include "sfft/types.hpp"
#include "template/discovery/grid_point.hpp"
#include "template/discovery/random.hpp"

namespace sfft::detail {

struct DiscoveryComponent;

/// Cuts every row of the last dimension into pieces of up to 32 samples and numbers the pieces in row-major
/// order. Piece q belongs to set q mod sets(). Cell (set, c) is the sum of sample c of all pieces of a set,
/// each times the random phase u of its piece:
///
///   R(set, c) = Σ_{q in set} u(q) · x[start(q) + c].
///
/// |u| = 1, so a single changed sample is seen in full, whichever it is. For any residual that does not
/// depend on the phases, E|R|² is its energy in the cell: products of different pieces cancel on average.
/// Nearby samples fall into different cells. u is a product of one phase for each hexadecimal digit of the
/// piece's index along each dimension, so that a component contributes a product of short sums.
class RandomFold {
 public:
  RandomFold(const Shape& shape, DiscoveryRandom& random);

  const Shape& shape() const noexcept { return shape_; }
  std::int64_t sets() const noexcept { return sets_; }
  std::int64_t columns() const noexcept { return columns_; }  ///< samples of a full piece
  std::int64_t row_pieces() const noexcept { return dimensions_[shape_.rank() - 1].indices; }
  /// u of `count` consecutive pieces.
  void phases(std::int64_t piece, std::int64_t count, std::complex<double>* u) const noexcept;
  /// Standard deviation of the mean of |R|² over all cells, relative to the mean, for white noise.
  double chance(bool real) const noexcept;

  /// The cells of the components' sum, indexed [set·kWaveOffsets + c].
  std::vector<std::complex<double>> cells(const std::vector<DiscoveryComponent>& components) const;

 private:
  static constexpr std::int64_t kDigit = 16, kMaxSets = 16;
  struct Dimension {
    std::int64_t indices = 1;                  ///< pieces along the last dimension, samples along others
    std::int64_t step = 1;                     ///< samples from one index to the next
    std::int64_t weight = 1;                   ///< factor of an index in the piece's number, modulo sets()
    std::vector<std::complex<double>> phases;  ///< kDigit for each digit
  };

  struct Sums;
  void add_up(int d, const double* f, std::int64_t indices, Sums& sums) const;
  void weigh(const double* const* f, Sums& full, Sums& cut) const;
  void join(const Sums& outer, Sums& sums) const;
  static std::complex<double> along(const Dimension& own, std::int64_t i, int from) noexcept;

  Shape shape_;
  std::int64_t sets_ = 4, columns_ = 1;
  Dimension dimensions_[3];
};

struct WholeSignal {
  double energy = 0;           ///< Σ|scale · x|²
  std::vector<double> re, im;  ///< cells of scale · x, as RandomFold::cells() orders them
};

/// Adds `elements` contiguous elements in host memory, which begin with piece `first`. Only the last piece
/// may be shorter than the fold's columns.
void add_pieces(const void* samples, ElementType type, std::int64_t first, std::int64_t elements,
                double scale, const RandomFold& fold, WholeSignal& whole);

/// Reads sets of samples of one signal into host memory, with real and imaginary parts separate. Caches
/// nothing between calls. Only one thread at a time may use it.
class SampleReader {
 public:
  explicit SampleReader(ElementType type) : type_(type) {}
  virtual ~SampleReader() = default;
  SampleReader(const SampleReader&) = delete;
  SampleReader& operator=(const SampleReader&) = delete;

  ElementType type() const noexcept { return type_; }
  virtual void read(const SampleSet& set, float* re, float* im) = 0;
  virtual void read(const SampleSet& set, double* re, double* im) = 0;
  /// Sums over the whole signal, reading every sample; nothing if the reader does not support that.
  virtual std::optional<WholeSignal> whole(double scale, const RandomFold& fold) {
    static_cast<void>(scale);
    static_cast<void>(fold);
    return std::nullopt;
  }

 private:
  ElementType type_;
};

/// Reads a signal in host memory, which must outlive the reader.
class HostSamples final : public SampleReader {
 public:
  /// `points`: the signal's number of points; 0 disables whole().
  HostSamples(FrameData signal, ElementType type, std::int64_t points = 0)
      : SampleReader(type), signal_(signal), points_(points) {}
  void read(const SampleSet& set, float* re, float* im) override;
  void read(const SampleSet& set, double* re, double* im) override;
  std::optional<WholeSignal> whole(double scale, const RandomFold& fold) override;

 private:
  FrameData signal_;
  std::int64_t points_;
};

/// The samples of another reader times a power of two, so that neither their squares nor those of their sums
/// overflow or vanish. The factor is 1 for samples of ordinary size, otherwise it is chosen from the first
/// non-zero samples.
class ScaledSamples final : public SampleReader {
 public:
  explicit ScaledSamples(SampleReader& samples) : SampleReader(samples.type()), samples_(samples) {}
  void read(const SampleSet& set, float* re, float* im) override;
  void read(const SampleSet& set, double* re, double* im) override;
  std::optional<WholeSignal> whole(double scale, const RandomFold& fold) override;

  int exponent() const noexcept { return exponent_; }  ///< a sample is 2^exponent times the value read
  /// Whether the scale has changed since the last call, because later samples far exceeded the first ones.
  /// Later reads have the new scale, earlier ones the old.
  bool outgrown() noexcept;

 private:
  template <class Real>
  void scaled_read(const SampleSet& set, Real* re, Real* im);

  SampleReader& samples_;
  bool chosen_ = false;
  bool outgrown_ = false;
  int exponent_ = 0;
};

}  // namespace sfft::detail
