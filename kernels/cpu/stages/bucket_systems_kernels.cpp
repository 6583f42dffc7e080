// SPDX-License-Identifier: Apache-2.0
// Whitens by a Cholesky factor, then solves the normal equations with the prior on their diagonal. Compiled
// without contraction, so that the same seed gives the same plan on every machine.
#include "kernels/cpu/platform/simd.hpp"
#include "kernels/cpu/stages/bucket_systems.hpp"

namespace sfft::detail::cpu::SFFT_ISA {

namespace {

#define SFFT_INLINE inline __attribute__((always_inline))

/// Eight doubles as vectors of the instruction set.
struct Lanes {
  using S = Simd<double>;
  static constexpr int kParts = kSystemLanes / S::kLanes;
  S::Vector part[kParts];
};

#define SFFT_LANE_OPERATOR(op)                                                  \
  SFFT_INLINE Lanes operator op(Lanes a, Lanes b) {                             \
    for (int p = 0; p < Lanes::kParts; ++p) a.part[p] = a.part[p] op b.part[p]; \
    return a;                                                                   \
  }
SFFT_LANE_OPERATOR(+)
SFFT_LANE_OPERATOR(-)
SFFT_LANE_OPERATOR(*)
SFFT_LANE_OPERATOR(/)
#undef SFFT_LANE_OPERATOR
SFFT_INLINE Lanes& operator+=(Lanes& a, Lanes b) {
  return a = a + b;
}
SFFT_INLINE Lanes& operator-=(Lanes& a, Lanes b) {
  return a = a - b;
}

SFFT_INLINE Lanes every(double value) {
  Lanes all;
  for (auto& part : all.part) part = Lanes::S::broadcast(value);
  return all;
}
SFFT_INLINE Lanes smaller(Lanes a, Lanes b) {
  for (int p = 0; p < Lanes::kParts; ++p) a.part[p] = a.part[p] < b.part[p] ? a.part[p] : b.part[p];
  return a;
}
SFFT_INLINE Lanes larger(Lanes a, Lanes b) {
  for (int p = 0; p < Lanes::kParts; ++p) a.part[p] = a.part[p] > b.part[p] ? a.part[p] : b.part[p];
  return a;
}
SFFT_INLINE Lanes lanes(const double* from) {
  Lanes value;
  for (int p = 0; p < Lanes::kParts; ++p) value.part[p] = Lanes::S::load(from + p * Lanes::S::kLanes);
  return value;
}
SFFT_INLINE void put(double* to, Lanes value) {
  for (int p = 0; p < Lanes::kParts; ++p) Lanes::S::store(to + p * Lanes::S::kLanes, value.part[p]);
}
SFFT_INLINE Lanes root(Lanes a) {
  for (auto& part : a.part) {
    for (int l = 0; l < Lanes::S::kLanes; ++l) part[l] = __builtin_sqrt(part[l]);
  }
  return a;
}

struct Complex {
  Lanes re, im;
};

SFFT_INLINE Complex zero() {
  return {every(0), every(0)};
}
SFFT_INLINE Complex load(const double* from) {
  return {lanes(from), lanes(from + kSystemLanes)};
}
SFFT_INLINE void store(double* to, Complex value) {
  put(to, value.re);
  put(to + kSystemLanes, value.im);
}
SFFT_INLINE Lanes squared(Complex a) {
  return a.re * a.re + a.im * a.im;
}
SFFT_INLINE Complex scaled(Complex a, Lanes by) {
  return {a.re * by, a.im * by};
}
/// sum += a·b, sum += a·conj(b), sum -= a·b, sum -= a·conj(b)
SFFT_INLINE void add(Complex& sum, Complex a, Complex b) {
  sum.re += a.re * b.re - a.im * b.im;
  sum.im += a.re * b.im + a.im * b.re;
}
SFFT_INLINE void add_conj(Complex& sum, Complex a, Complex b) {
  sum.re += a.re * b.re + a.im * b.im;
  sum.im += a.im * b.re - a.re * b.im;
}
SFFT_INLINE void take(Complex& sum, Complex a, Complex b) {
  sum.re -= a.re * b.re - a.im * b.im;
  sum.im -= a.re * b.im + a.im * b.re;
}
SFFT_INLINE void take_conj(Complex& sum, Complex a, Complex b) {
  sum.re -= a.re * b.re + a.im * b.im;
  sum.im -= a.im * b.re - a.re * b.im;
}
/// Entry (i, j) of a square table.
SFFT_INLINE double* entry(double* table, int side, int i, int j) {
  return table + (i * side + j) * kPair;
}

constexpr double kTiny = 1e-300;

/// The lower Cholesky factor of the tail's covariance; the real part of a diagonal entry is the inverse of
/// the factor's entry.
void factor_tail(const BucketSystems& s, const BucketScratch& scratch) {
  const Lanes power = lanes(s.tail_power);
  for (int j = 0; j < s.delays; ++j) {
    Lanes pivot = power;
    for (int k = 0; k < j; ++k) pivot -= squared(load(entry(scratch.factor, scratch.side, j, k)));
    // If the covariance is rank-deficient, some combination of delays does not see the tail.
    pivot = larger(pivot, larger(every(1e-13) * power, every(kTiny)));
    const Lanes inverse = every(1) / root(pivot);
    store(entry(scratch.factor, scratch.side, j, j), {inverse, every(0)});
    for (int i = j + 1; i < s.delays; ++i) {
      Complex sum = load(s.tails + s.tail_at[i * (i - 1) / 2 + j] * kPair);
      for (int k = 0; k < j; ++k)
        take_conj(sum, load(entry(scratch.factor, scratch.side, i, k)),
                  load(entry(scratch.factor, scratch.side, j, k)));
      store(entry(scratch.factor, scratch.side, i, j), scaled(sum, inverse));
    }
  }
}

/// white[m][j]: the responses of member m, whitened.
void whiten(const BucketSystems& s, const BucketScratch& scratch) {
  for (int m = 0; m < s.members; ++m) {
    const Lanes present = lanes(s.present + m * kSystemLanes);
    for (int i = 0; i < s.delays; ++i) {
      Complex sum = scaled(load(s.responses + (s.response_at[i] * s.members + m) * kPair), present);
      if (s.tails != nullptr) {
        for (int k = 0; k < i; ++k)
          take(sum, load(entry(scratch.factor, scratch.side, i, k)),
               load(entry(scratch.white, scratch.side, m, k)));
        sum = scaled(sum, lanes(entry(scratch.factor, scratch.side, i, i)));
      }
      store(entry(scratch.white, scratch.side, m, i), sum);
    }
  }
}

bool variances(const BucketSystems& s, const BucketScratch& scratch, double* variance) {
  const Lanes power = lanes(s.tail_power);
  if (s.tails != nullptr) factor_tail(s, scratch);
  whiten(s, scratch);
  const Lanes weight = s.tails != nullptr ? every(1) : every(1) / larger(power, every(kTiny));

  // Computes the normal equations' Cholesky factor; an absent member has a one on the diagonal.
  Lanes min = every(1e300), max = every(0);
  for (int j = 0; j < s.members; ++j) {
    const Lanes present = lanes(s.present + j * kSystemLanes);
    const Lanes prior = lanes(s.inverse_power + j * kSystemLanes);
    for (int i = j; i < s.members; ++i) {
      Complex sum = zero();
      for (int d = 0; d < s.delays; ++d)
        add_conj(sum, load(entry(scratch.white, scratch.side, j, d)),
                 load(entry(scratch.white, scratch.side, i, d)));
      sum = scaled(sum, weight);
      if (i == j) sum.re += prior + (every(1) - present);
      const Lanes diagonal = sum.re;
      for (int k = 0; k < j; ++k)
        take_conj(sum, load(entry(scratch.gram, scratch.side, i, k)),
                  load(entry(scratch.gram, scratch.side, j, k)));
      if (i == j) {
        const Lanes pivot = larger(sum.re, every(1e-15) * diagonal);
        min = smaller(pivot, min);
        max = larger(pivot, max);
        store(entry(scratch.gram, scratch.side, j, j), {every(1) / root(pivot), every(0)});
      } else {
        store(entry(scratch.gram, scratch.side, i, j),
              scaled(sum, lanes(entry(scratch.gram, scratch.side, j, j))));
      }
    }
  }

  // Computes the inverse of the factor; variances are the squared norms of its columns.
  for (int j = 0; j < s.members; ++j) {
    Complex diagonal = {lanes(entry(scratch.gram, scratch.side, j, j)), every(0)};
    store(entry(scratch.inverse, scratch.side, j, j), diagonal);
    Lanes norm = squared(diagonal);
    for (int i = j + 1; i < s.members; ++i) {
      Complex sum = zero();
      for (int k = j; k < i; ++k)
        take(sum, load(entry(scratch.gram, scratch.side, i, k)),
             load(entry(scratch.inverse, scratch.side, k, j)));
      sum = scaled(sum, lanes(entry(scratch.gram, scratch.side, i, i)));
      store(entry(scratch.inverse, scratch.side, i, j), sum);
      norm += squared(sum);
    }
    put(variance + j * kSystemLanes, norm);
  }
  if (!s.least_squares) return true;
  double low[kSystemLanes], high[kSystemLanes];
  put(low, min);
  put(high, max);
  for (int l = 0; l < kSystemLanes; ++l) {
    if (!(low[l] > 1e-13 * high[l])) return false;
  }
  return true;
}

/// Entry (i, m) of the inverse of the normal equations.
SFFT_INLINE Complex covariance(const BucketSystems& s, const BucketScratch& scratch, int i, int m) {
  Complex sum = zero();
  for (int k = i > m ? i : m; k < s.members; ++k)
    add_conj(sum, load(entry(scratch.inverse, scratch.side, k, m)),
             load(entry(scratch.inverse, scratch.side, k, i)));
  return sum;
}

/// Normal equations square the condition number. One step of Newton's iteration for inverses undoes that:
/// w − (w a − 1) w, with w a − 1 in scratch.gram.
void refine(const BucketSystems& s, const BucketScratch& scratch, double* weights) {
  const int count = s.members * s.delays;
  for (int n = 0; n < count; ++n) store(scratch.factor + n * kPair, load(weights + n * kPair));
  for (int i = 0; i < s.members; ++i) {
    for (int d = 0; d < s.delays; ++d) {
      Complex sum = load(weights + (i * s.delays + d) * kPair);
      for (int m = 0; m < s.members; ++m)
        take(sum, load(entry(scratch.gram, scratch.side, i, m)),
             load(scratch.factor + (m * s.delays + d) * kPair));
      store(weights + (i * s.delays + d) * kPair, sum);
    }
  }
}

void rows(const BucketSystems& s, const BucketScratch& scratch, double* weights, double* noise, double* bias,
          double* response) {
  const Lanes weight = s.tails != nullptr ? every(1) : every(1) / larger(lanes(s.tail_power), every(kTiny));
  for (int i = 0; i < s.members; ++i) {
    Complex row[kSystemMax], share[kSystemMax];
    Lanes shrinking = every(0);
    for (int m = 0; m < s.members; ++m) {
      share[m] = covariance(s, scratch, i, m);
      shrinking += squared(share[m]) * lanes(s.inverse_power + m * kSystemLanes);
    }
    // Computes the row for whitened values, and its response to the tail.
    Lanes tail = every(0);
    for (int d = 0; d < s.delays; ++d) {
      Complex sum = zero();
      for (int m = 0; m < s.members; ++m)
        add_conj(sum, share[m], load(entry(scratch.white, scratch.side, m, d)));
      row[d] = sum;
      tail += squared(sum);
    }
    Lanes kept = every(0);
    for (int m = 0; m < s.members; ++m) {
      Complex leak = zero();
      for (int d = 0; d < s.delays; ++d) add(leak, row[d], load(entry(scratch.white, scratch.side, m, d)));
      const Lanes prior = lanes(s.inverse_power + m * kSystemLanes);
      const Lanes present = lanes(s.present + m * kSystemLanes);
      leak = scaled(leak, weight);
      kept += present * squared(leak) / larger(prior, every(kTiny));
      if (i == m) leak.re -= present;
      store(entry(scratch.gram, scratch.side, i, m), leak);
    }
    // Converts the row from whitened values to the bucket's values.
    for (int d = s.delays - 1; s.tails != nullptr && d >= 0; --d) {
      Complex sum = row[d];
      for (int k = d + 1; k < s.delays; ++k)
        take(sum, row[k], load(entry(scratch.factor, scratch.side, k, d)));
      row[d] = scaled(sum, lanes(entry(scratch.factor, scratch.side, d, d)));
    }
    for (int d = 0; d < s.delays; ++d) store(weights + (i * s.delays + d) * kPair, scaled(row[d], weight));
    put(noise + i * kSystemLanes, tail * weight);
    put(bias + i * kSystemLanes, shrinking);
    put(response + i * kSystemLanes, kept);
  }
  if (s.least_squares) refine(s, scratch, weights);
}

void products(const double* first, const int* first_at, const double* second, const int* second_at, int cells,
              int count, double* out) {
  for (int n = 0; n < count; ++n) {
    const double* a = first + static_cast<long>(first_at[n]) * cells;
    const double* b = second + static_cast<long>(second_at[n]) * cells;
    Lanes sum = lanes(a) * lanes(b);
    for (int c = kSystemLanes; c < cells; c += kSystemLanes) sum += lanes(a + c) * lanes(b + c);
    double parts[kSystemLanes];
    put(parts, sum);
    out[n] =
        ((parts[0] + parts[4]) + (parts[2] + parts[6])) + ((parts[1] + parts[5]) + (parts[3] + parts[7]));
  }
}

void mixture(const double* weights, const double* rows, int count, int cells, double* out) {
  for (int c = 0; c < cells; c += kSystemLanes) {
    Lanes sum = every(0);
    for (int n = 0; n < count; ++n) sum += every(weights[n]) * lanes(rows + static_cast<long>(n) * cells + c);
    put(out + c, sum);
  }
}

bool separate(double* near, int count, double* power, const double* frequencies, bool level_is_white) {
  const Lanes whole = lanes(power), none = every(0);
  Lanes sum = none, others = lanes(frequencies);
  for (int q = 0; q < count; ++q) {
    const Lanes p = lanes(near + q * kSystemLanes);
    sum += p;
    // Each nonzero power counts as 1, however small.
    others -= smaller(p * every(1e300), every(1));
  }
  // A tail that is level over all aliases is white between delays: phases matter only above that level.
  Lanes level = none;
  if (level_is_white) {
    double left[kSystemLanes], white[kSystemLanes];
    put(left, others);
    put(white, larger(whole - sum, none) / larger(others, every(1e-300)));
    for (int l = 0; l < kSystemLanes; ++l) white[l] = left[l] > 0 ? white[l] : 0;
    level = lanes(white);
  }
  Lanes kept = none;
  for (int q = 0; q < count; ++q) kept += larger(lanes(near + q * kSystemLanes) - level, none);
  // If near aliases have little of the tail's power, modelling their phases does not pay. Otherwise a small
  // part of the tail stays white, because no model of a spectrum is exact.
  double all[kSystemLanes], part[kSystemLanes], used[kSystemLanes];
  put(all, whole);
  put(part, kept);
  bool any = false;
  for (int l = 0; l < kSystemLanes; ++l) {
    const bool matters = part[l] > 0 && part[l] >= 0.2 * all[l];
    used[l] = matters ? 1 : 0;
    any = any || matters;
    if (!matters) continue;
    const double rest = all[l] - part[l], min = 1e-3 * all[l];
    power[l] = (rest > min ? rest : min) + part[l];
  }
  for (int q = 0; q < count; ++q) {
    double* const at = near + q * kSystemLanes;
    put(at, larger(lanes(at) - level, none) * lanes(used));
  }
  return any;
}

void tail(const NearAliases& near, const double* const phases[3], double* out) {
  Complex total = zero();
  const double* power = near.power;
  for (int a = 0; a < near.extents[0]; ++a) {
    Complex plane = zero();
    for (int b = 0; b < near.extents[1]; ++b) {
      Complex line = zero();
      for (int c = 0; c < near.extents[2]; ++c, power += kSystemLanes) {
        const Lanes p = lanes(power);
        line.re += p * every(phases[2][2 * c]);
        line.im += p * every(phases[2][2 * c + 1]);
      }
      add(plane, line, {every(phases[1][2 * b]), every(phases[1][2 * b + 1])});
    }
    add(total, plane, {every(phases[0][2 * a]), every(phases[0][2 * a + 1])});
  }
  store(out, total);
}

}  // namespace

const BucketSystemKernels& bucket_system_table() noexcept {
  static const BucketSystemKernels table{variances, rows, products, mixture, separate, tail};
  return table;
}

}  // namespace sfft::detail::cpu::SFFT_ISA
