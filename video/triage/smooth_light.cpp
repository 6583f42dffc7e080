// SPDX-License-Identifier: Apache-2.0
// Copies the square out of both pictures and multiplies it by all terms in one pass.
#include "video/triage/smooth_light.hpp"

#include <algorithm>

#include "video/triage/four.hpp"

namespace sfft::video {

namespace {

/// Lower limit of the change of contrast: light leaves at least 30 % of the structure's contrast.
constexpr double kMinContrast = -0.7;

}  // namespace

SmoothLight::SmoothLight(int width, int across, int down, std::size_t terms)
    : width_(width), across_(across), down_(down), terms_(terms) {
  const auto points = static_cast<std::size_t>(across) * static_cast<std::size_t>(down);
  padded_ = (points + kFour - 1) / kFour * kFour;
  basis_.assign(terms * padded_, 0);
  off_.assign(padded_, 0);
  level_.assign(padded_, 0);
  double norms[kBent] = {};
  const double mean_x = (across * across - 1) / 12.0;
  const double mean_y = (down * down - 1) / 12.0;
  std::size_t at = 0;
  for (int v = 0; v < down; ++v) {
    for (int u = 0; u < across; ++u, ++at) {
      const double x = u - 0.5 * (across - 1);
      const double y = v - 0.5 * (down - 1);
      const double values[kBent] = {1, x, y, x * x - mean_x, x * y, y * y - mean_y};
      for (std::size_t i = 0; i < terms; ++i) {
        basis_[i * padded_ + at] = static_cast<float>(values[i]);
        norms[i] += values[i] * values[i];
      }
    }
  }
  for (std::size_t i = 0; i < terms; ++i) per_norm_[i] = norms[i] > 0 ? 1 / norms[i] : 0;
}

template <std::size_t terms>
SmoothLight::Products SmoothLight::multiply() const {
  Four terms_off[terms] = {};
  Four terms_level[terms] = {};
  Four off_off{}, level_level{}, off_level{};
  for (std::size_t i = 0; i < padded_; i += kFour) {
    const Four off = four(off_, i);
    const Four level = four(level_, i);
    for (std::size_t k = 0; k < terms; ++k) {
      const Four term = four(basis_, k * padded_ + i);
      terms_off[k] += term * off;
      terms_level[k] += term * level;
    }
    off_off += off * off;
    level_level += level * level;
    off_level += off * level;
  }
  const auto sum = [](Four value) { return static_cast<double>(total(value)); };
  Products products;
  for (std::size_t k = 0; k < terms; ++k) {
    products.terms_off[k] = sum(terms_off[k]);
    products.terms_level[k] = sum(terms_level[k]);
  }
  products.off_off = sum(off_off);
  products.level_level = sum(level_level);
  products.off_level = sum(off_level);
  return products;
}

/// With the width known at compile time, rows are a few vectors.
template <int across>
void SmoothLight::cut_out(const float* off, const float* level, float middle) {
  float* to_off = off_.data();
  float* to_level = level_.data();
  for (int v = 0; v < down_; ++v, off += width_, level += width_, to_off += across, to_level += across) {
    for (int u = 0; u < across; ++u) {
      to_off[u] = off[u];
      to_level[u] = level[u] - middle;
    }
  }
}

double SmoothLight::leaves(std::span<const float> deviation, std::span<const float> usual, int left,
                           int top) {
  // The constant term takes up any offset of the levels: subtracting one of them keeps the products small.
  const float middle = usual[static_cast<std::size_t>((top + down_ / 2) * width_ + left + across_ / 2)];
  const float* const off = deviation.data() + top * width_ + left;
  const float* const level = usual.data() + top * width_ + left;
  if (across_ == 7) {
    cut_out<7>(off, level, middle);
  } else if (across_ == 11) {
    cut_out<11>(off, level, middle);
  } else {
    for (int at = 0; at < across_ * down_; ++at) {
      const int from = at / across_ * width_ + at % across_;
      off_[static_cast<std::size_t>(at)] = off[from];
      level_[static_cast<std::size_t>(at)] = level[from] - middle;
    }
  }
  Products of = terms_ == kPlane ? multiply<kPlane>() : multiply<kBent>();
  const double energy = of.off_off;
  for (std::size_t i = 0; i < terms_; ++i) {
    of.off_off -= of.terms_off[i] * of.terms_off[i] * per_norm_[i];
    of.level_level -= of.terms_level[i] * of.terms_level[i] * per_norm_[i];
    of.off_level -= of.terms_off[i] * of.terms_level[i] * per_norm_[i];
  }
  const double structure = std::max(0.0, of.level_level);
  const double prior = across_ * down_ * kPrior * kPrior;
  const double contrast = std::max(kMinContrast, of.off_level / (structure + prior));
  const double left_over = of.off_off - 2 * contrast * of.off_level + contrast * contrast * structure;
  return std::max(0.0, left_over - kImperfect * (energy - of.off_off));
}

}  // namespace sfft::video
