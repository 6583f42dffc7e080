// SPDX-License-Identifier: Apache-2.0
// Compresses blocks as JPEG and the video codecs after it do. The coarse blocks differ between frames.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "bench/trust/effects.hpp"

namespace sfft::trust {

namespace {

constexpr int kSide = 8;
using Block = std::array<std::array<float, kSide>, kSide>;

/// ITU-T T.81, table K.1.
constexpr std::array<int, 64> kLuminance{
    16, 11,  10,  16, 24, 40, 51, 61, 12,  12,  14,  19,  26, 58, 60, 55,  14,  13,  16,  24, 40, 57,
    69, 56,  14,  17, 22, 29, 51, 87, 80,  62,  18,  22,  37, 56, 68, 109, 103, 77,  24,  35, 55, 64,
    81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98,  112, 100, 103, 99};

Block cosines() {
  Block basis{};
  for (int u = 0; u < kSide; ++u) {
    for (int x = 0; x < kSide; ++x) {
      const double scale = u == 0 ? std::sqrt(1.0 / kSide) : std::sqrt(2.0 / kSide);
      basis[static_cast<std::size_t>(u)][static_cast<std::size_t>(x)] =
          static_cast<float>(scale * std::cos((2 * x + 1) * u * std::numbers::pi / (2 * kSide)));
    }
  }
  return basis;
}

/// Returns basis · block · basisᵀ. For the inverse both bases are transposed.
Block transform(const Block& basis, const Block& block, bool inverse) {
  Block half{};
  Block result{};
  for (std::size_t i = 0; i < kSide; ++i) {
    for (std::size_t m = 0; m < kSide; ++m) {
      const float weight = inverse ? basis[m][i] : basis[i][m];
      for (std::size_t j = 0; j < kSide; ++j) half[i][j] += weight * block[m][j];
    }
  }
  for (std::size_t i = 0; i < kSide; ++i) {
    for (std::size_t m = 0; m < kSide; ++m) {
      for (std::size_t j = 0; j < kSide; ++j) {
        result[i][j] += half[i][m] * (inverse ? basis[m][j] : basis[j][m]);
      }
    }
  }
  return result;
}

void quantise(Block& block, int quality) {
  const double percent = quality < 50 ? 5000.0 / quality : 200.0 - 2 * quality;
  for (std::size_t i = 0; i < kSide; ++i) {
    for (std::size_t j = 0; j < kSide; ++j) {
      const auto step =
          static_cast<float>(std::max(1.0, std::floor((kLuminance[i * kSide + j] * percent + 50) / 100)));
      block[i][j] = step * std::round(block[i][j] / step);
    }
  }
}

}  // namespace

Effect block_compression(int quality, int period) {
  return [=, basis = cosines()](Image& image, std::int64_t index, Random&) {
    const int chosen = std::min(95, index % period == 0 ? quality + 15 : quality);
    for (std::int64_t top = 0; top + kSide <= image.rows; top += kSide) {
      for (std::int64_t left = 0; left + kSide <= image.columns; left += kSide) {
        Block block;
        for (int i = 0; i < kSide; ++i) {
          for (int j = 0; j < kSide; ++j) {
            block[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] =
                image.at(top + i, left + j) - 128;
          }
        }
        Block coefficients = transform(basis, block, false);
        quantise(coefficients, chosen);
        block = transform(basis, coefficients, true);
        for (int i = 0; i < kSide; ++i) {
          for (int j = 0; j < kSide; ++j) {
            image.at(top + i, left + j) =
                block[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] + 128;
          }
        }
      }
    }
  };
}

}  // namespace sfft::trust
