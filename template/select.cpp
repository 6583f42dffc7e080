#include "template/select.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "template/template_data.hpp"

namespace sfft::detail {

std::int64_t PowerSpectrum::row_points() const noexcept {
  const std::int64_t last = shape[shape.rank() - 1];
  return real ? last / 2 + 1 : last;
}

std::int64_t PowerSpectrum::flat_index(std::int64_t i) const noexcept {
  const std::int64_t row = row_points();
  return i / row * shape[shape.rank() - 1] + i % row;
}

bool PowerSpectrum::representative(std::int64_t i) const noexcept {
  if (!real) return true;
  const std::int64_t column = i % row_points();
  const std::int64_t last = shape[shape.rank() - 1];
  if (column != 0 && 2 * column != last) return true;
  const std::int64_t flat = flat_index(i);
  return flat <= conjugate_index(shape, flat);
}

double PowerSpectrum::multiplicity(std::int64_t i) const noexcept {
  if (!real) return 1;
  const std::int64_t flat = flat_index(i);
  return conjugate_index(shape, flat) == flat ? 1 : 2;
}

std::int64_t PowerSpectrum::distinct() const noexcept {
  if (!real) return shape.points();
  std::int64_t own_conjugates = 1;  // frequencies whose every coordinate is 0 or n_d/2
  for (const std::int64_t extent : shape.extents()) own_conjugates *= extent % 2 == 0 ? 2 : 1;
  return (shape.points() + own_conjugates) / 2;
}

double total_energy(const PowerSpectrum& spectrum) {
  double total = 0;
  const auto count = static_cast<std::int64_t>(spectrum.power.size());
  for (std::int64_t i = 1; i < count; ++i) {
    if (spectrum.representative(i))
      total += spectrum.multiplicity(i) * spectrum.power[static_cast<std::size_t>(i)];
  }
  return total;
}

namespace {

std::vector<std::int64_t> representatives(const PowerSpectrum& spectrum) {
  std::vector<std::int64_t> indices;
  indices.reserve(static_cast<std::size_t>(spectrum.distinct()));
  const auto count = static_cast<std::int64_t>(spectrum.power.size());
  for (std::int64_t i = 0; i < count; ++i) {
    if (spectrum.representative(i)) indices.push_back(i);
  }
  return indices;
}

auto stronger(const PowerSpectrum& spectrum) {
  return [&spectrum](std::int64_t a, std::int64_t b) {
    const double pa = spectrum.power[static_cast<std::size_t>(a)];
    const double pb = spectrum.power[static_cast<std::size_t>(b)];
    return pa != pb ? pa > pb : a < b;
  };
}

std::vector<std::int64_t> with_mean(const PowerSpectrum& spectrum, std::vector<std::int64_t> chosen) {
  if (spectrum.power[0] > 0) chosen.push_back(0);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace

std::vector<std::int64_t> select_largest(const PowerSpectrum& spectrum, std::int64_t k) {
  std::vector<std::int64_t> indices = representatives(spectrum);
  std::nth_element(indices.begin(), indices.begin() + (k - 1), indices.end(), stronger(spectrum));
  indices.resize(static_cast<std::size_t>(k));
  std::sort(indices.begin(), indices.end());
  return indices;
}

std::vector<std::int64_t> select_energy(const PowerSpectrum& spectrum, double share) {
  std::vector<std::int64_t> indices = representatives(spectrum);
  std::erase(indices, 0);
  std::sort(indices.begin(), indices.end(), stronger(spectrum));
  const double wanted = share * total_energy(spectrum);
  double held = 0;
  std::size_t count = 0;
  while (count < indices.size() && held < wanted &&
         spectrum.power[static_cast<std::size_t>(indices[count])] > 0) {
    held += spectrum.multiplicity(indices[count]) * spectrum.power[static_cast<std::size_t>(indices[count])];
    ++count;
  }
  indices.resize(count);
  return with_mean(spectrum, std::move(indices));
}

std::vector<std::int64_t> select_threshold(const PowerSpectrum& spectrum, double sigmas) {
  std::vector<std::int64_t> indices = representatives(spectrum);
  std::vector<double> powers;
  powers.reserve(indices.size());
  for (const std::int64_t i : indices) powers.push_back(spectrum.power[static_cast<std::size_t>(i)]);
  const auto middle = powers.begin() + static_cast<std::ptrdiff_t>(powers.size() / 2);
  std::nth_element(powers.begin(), middle, powers.end());
  // |X|² of complex Gaussian noise is exponential: its median is the variance times ln 2.
  const double variance = *middle / std::numbers::ln2;
  const double rounding = 64 * std::numeric_limits<double>::epsilon();
  const double strongest = *std::max_element(powers.begin(), powers.end());
  const double floor = std::max(sigmas * sigmas * variance, strongest * rounding * rounding);
  std::erase_if(indices, [&](std::int64_t i) {
    return i == 0 || !(spectrum.power[static_cast<std::size_t>(i)] > floor);
  });
  return with_mean(spectrum, std::move(indices));
}

}  // namespace sfft::detail
