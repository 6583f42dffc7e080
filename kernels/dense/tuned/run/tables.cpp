// SPDX-License-Identifier: Apache-2.0
// Computes roots with exact index arithmetic. A convolution's kernel is transformed on the CPU by the
// built-in FFT.
#include "kernels/dense/tuned/run/tables.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/base/math/index.hpp"
#include "kernels/dense/cpu/line_stage.hpp"
#include "kernels/dense/tuned/plan/shared_layout.hpp"

namespace sfft::detail::tuned {

namespace {

/// exp(−2πi j/n), 0 <= j < n. Roots that mirror each other agree to the last bit.
std::complex<double> root(std::int64_t j, std::int64_t n) {
  return std::conj(unit_root(j, n));
}

/// The FFT over `values.size()` points, divided by their number. It runs on the CPU, in the stage that the
/// built-in engine uses for rows.
Table spectrum(const Table& values) {
  const RowStage<double> row(static_cast<std::int64_t>(values.size()), false);
  std::vector<double> workspace(row.workspace_reals());
  Table out(values.size());
  row.forward(values.data(), ElementType::c128, out.data(), reinterpret_cast<std::byte*>(workspace.data()));
  for (auto& value : out) value /= static_cast<double>(values.size());
  return out;
}

Convolution bluestein(std::int64_t n, std::int64_t length) {
  Convolution result;
  for (std::int64_t j = 0; j < n; ++j) result.chirp.push_back(root(j * j % (2 * n), 2 * n));
  Table wrapped(static_cast<std::size_t>(length));
  for (std::int64_t j = 0; j < n; ++j) {
    const auto value = std::conj(result.chirp[static_cast<std::size_t>(j)]);
    wrapped[static_cast<std::size_t>(j)] = value;
    wrapped[static_cast<std::size_t>((length - j) % length)] = value;
  }
  result.kernel = spectrum(wrapped);
  return result;
}

/// The smallest number whose powers are all of 1 … p − 1.
std::int64_t generator(std::int64_t p) {
  for (std::int64_t g = 2;; ++g) {
    std::int64_t power = g, order = 1;
    while (power != 1) {
      power = power * g % p;
      ++order;
    }
    if (order == p - 1) return g;
  }
}

/// X[g^−q] − x_0 = Σ_s x[g^s] w^(g^(s−q)).
Convolution rader(std::int64_t p) {
  Convolution result;
  const std::int64_t g = generator(p), length = p - 1;
  std::vector<std::int64_t> powers{1};
  while (static_cast<std::int64_t>(powers.size()) < length) powers.push_back(powers.back() * g % p);
  Table factors;
  for (std::int64_t q = 0; q < length; ++q) {
    const auto inverse = powers[static_cast<std::size_t>((length - q) % length)];
    result.gather.push_back(static_cast<int>(powers[static_cast<std::size_t>(q)]));
    result.scatter.push_back(static_cast<int>(inverse));
    factors.push_back(root(inverse, p));
  }
  result.kernel = spectrum(factors);
  return result;
}

/// The same on a grid with one dimension per radix (Good 1958). Element e of the convolution has the
/// coordinates e mod R_i, the first one slowest. Element Σ f_i n/R_i of its DFT has the coordinates f_i, the
/// first one fastest.
Convolution on_grid(const Convolution& line, const IntList& radices) {
  const auto n = static_cast<std::int64_t>(line.gather.size());
  Convolution grid = line;
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t position = 0, frequency = 0, rest = i;
    for (const int radix : radices) {
      position = position * radix + i % radix;
      frequency += rest % radix * (n / radix);
      rest /= radix;
    }
    const auto here = static_cast<std::size_t>(i), to = static_cast<std::size_t>(position);
    grid.gather[to] = line.gather[here];
    grid.scatter[to] = line.scatter[here];
    grid.kernel[here] = line.kernel[static_cast<std::size_t>(frequency % n)];
  }
  return grid;
}

}  // namespace

Table roots(std::int64_t n, std::int64_t count, std::int64_t step) {
  Table table;
  table.reserve(static_cast<std::size_t>(count));
  for (std::int64_t j = 0; j < count; ++j) table.push_back(root(multiply_mod(j % n, step % n, n), n));
  return table;
}

Table pass_roots_of(const IntList& radices, Twiddles twiddles, int rows, double min) {
  Table table;
  for (unsigned i = 0; i < radices.size(); ++i) {
    const PassRoots pass = pass_roots(radices, twiddles, rows, i, 0);
    if (pass.kinds == 0) continue;
    const std::int64_t n = std::int64_t{pass.before} * radices[i];
    if (!is_fused(twiddles, radices[i])) {
      for (std::int64_t k = 1; k < radices[i]; ++k) {
        for (std::int64_t q = 0; q < pass.before; ++q) table.push_back(root(q * k, n));
      }
      continue;
    }
    // Sizes 2, 4, … R have the roots w^(R/size) exp(−2πi m/size), where w = exp(−2πi q/n).
    for (std::int64_t size = 2; size <= radices[i]; size *= 2) {
      for (std::int64_t m = 0; m < std::max<std::int64_t>(1, size / 4); ++m) {
        for (std::int64_t q = 0; q < pass.before; ++q) {
          const std::complex<double> z = root((q * (radices[i] / size) + m * (n / size)) % n, n);
          const double re = std::copysign(std::max(std::abs(z.real()), min), z.real());
          table.push_back({re, z.imag() / re});
        }
      }
    }
  }
  return table;
}

Convolution convolution(const Step& step) {
  if (step.method == Method::bluestein) return bluestein(step.points, step.policy.length());
  return step.twiddle_free() ? on_grid(rader(step.points), step.policy.radices) : rader(step.points);
}

}  // namespace sfft::detail::tuned
