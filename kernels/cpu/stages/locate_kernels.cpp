// SPDX-License-Identifier: Apache-2.0
// Processes eight buckets at a time: the phase between neighbouring delays gives a coarse frequency, the
// phase across four delays refines it, and a fit gives value and residual.
#include "kernels/base/math/roots_of_unity.hpp"
#include "kernels/cpu/platform/simd.hpp"
#include "kernels/cpu/stages/locate.hpp"

namespace sfft::detail::cpu::SFFT_ISA {

namespace {

/// The number of buckets processed together: every loop over them is one vector or a few.
constexpr int kBlock = 8;
constexpr double kPi = 3.14159265358979323846;
/// Adding and subtracting this rounds to the nearest integer, without a call and at any vector width.
constexpr double kRound = 6755399441055744.0;

inline __attribute__((always_inline)) double nearest(double x) {
  return (x + kRound) - kRound;
}

inline __attribute__((always_inline)) double below(double x) {
  const double r = nearest(x);
  return r > x ? r - 1 : r;
}

/// exp(2 pi i turns), like root_of_turns() in kernels/base/math/roots_of_unity.hpp but without branches.
inline __attribute__((always_inline)) void root(double turns, double& re, double& im) {
  const double quarters = nearest(4 * turns);
  double s, c;
  sine_cosine(2 * kPi * (turns - 0.25 * quarters), s, c);
  const double quadrant = quarters - 4 * below(0.25 * quarters);
  const bool odd = quadrant == 1 || quadrant == 3;
  const double sign_re = quadrant == 1 || quadrant == 2 ? -1.0 : 1.0;
  const double sign_im = quadrant >= 2 ? -1.0 : 1.0;
  re = sign_re * (odd ? s : c);
  im = sign_im * (odd ? c : s);
}

/// The angle of (x, y) in turns, in [-1/2, 1/2], within 2e-11.
inline __attribute__((always_inline)) double turns_of(double y, double x) {
  const double ax = x < 0 ? -x : x;
  const double ay = y < 0 ? -y : y;
  const double large = ax > ay ? ax : ay;
  const double small = ax > ay ? ay : ax;
  const double ratio = small / (large > 0 ? large : 1.0);
  // Near an eighth of a turn the series would converge slowly, so it is expanded around that angle.
  const bool far = ratio > 0.41421356237309503;
  const double t = far ? (ratio - 1) / (ratio + 1) : ratio;
  const double z = t * t;
  double p = 1.0 / 21;
  p = p * z - 1.0 / 19;
  p = p * z + 1.0 / 17;
  p = p * z - 1.0 / 15;
  p = p * z + 1.0 / 13;
  p = p * z - 1.0 / 11;
  p = p * z + 1.0 / 9;
  p = p * z - 1.0 / 7;
  p = p * z + 1.0 / 5;
  p = p * z - 1.0 / 3;
  p = p * z * t + t;
  double turns = p * (0.5 / kPi) + (far ? 0.125 : 0.0);
  turns = ay > ax ? 0.25 - turns : turns;
  turns = x < 0 ? 0.5 - turns : turns;
  return y < 0 ? -turns : turns;
}

/// f·t mod n for integers whose product is below 2^53.
inline __attribute__((always_inline)) double product_mod(double f, double t, double n) {
  const double product = f * t;
  double rest = product - below(product / n) * n;
  rest = rest < 0 ? rest + n : rest;
  return rest >= n ? rest - n : rest;
}

template <class Real>
void explain_run(const Real* re, const Real* im, const std::int32_t* buckets, std::int64_t count,
                 const RunGeometry& geometry, const SingletonOutput& out) {
  constexpr int kHalf = static_cast<int>(kRunDelays) / 2;
  constexpr int kDelays = static_cast<int>(kRunDelays);
  const double n = geometry.points;
  const double stride = geometry.stride;
  for (std::int64_t first = 0; first < count; first += kBlock) {
    double yr[kDelays][kBlock], yi[kDelays][kBlock], bucket[kBlock];
    for (int i = 0; i < kBlock; ++i) {
      const std::int64_t b = buckets[first + i < count ? first + i : count - 1];
      bucket[i] = static_cast<double>(b);
      for (int j = 0; j < kDelays; ++j) {
        yr[j][i] = static_cast<double>(re[b * kDelays + j]);
        yi[j][i] = static_cast<double>(im[b * kDelays + j]);
      }
    }
    double near_re[kBlock] = {}, near_im[kBlock] = {}, far_re[kBlock] = {}, far_im[kBlock] = {};
    double energy[kBlock] = {};
    for (int j = 0; j + 1 < kDelays; ++j) {
      for (int i = 0; i < kBlock; ++i) {
        near_re[i] += yr[j + 1][i] * yr[j][i] + yi[j + 1][i] * yi[j][i];
        near_im[i] += yi[j + 1][i] * yr[j][i] - yr[j + 1][i] * yi[j][i];
      }
    }
    for (int j = 0; j < kHalf; ++j) {
      for (int i = 0; i < kBlock; ++i) {
        far_re[i] += yr[j + kHalf][i] * yr[j][i] + yi[j + kHalf][i] * yi[j][i];
        far_im[i] += yi[j + kHalf][i] * yr[j][i] - yr[j + kHalf][i] * yi[j][i];
      }
    }
    for (int j = 0; j < kDelays; ++j) {
      for (int i = 0; i < kBlock; ++i) energy[i] += yr[j][i] * yr[j][i] + yi[j][i] * yi[j][i];
    }
    double f[kBlock], step_re[kBlock], step_im[kBlock], base_re[kBlock], base_im[kBlock];
    for (int i = 0; i < kBlock; ++i) {
      const double coarse = turns_of(near_im[i], near_re[i]);
      const double fine = turns_of(far_im[i], far_re[i]);
      const double turns = (nearest(kHalf * coarse - fine) + fine) * (1.0 / kHalf);
      // The nearest frequency that hashes to the bucket.
      double g = nearest((turns - bucket[i] / n) * stride);
      g -= below(g / stride) * stride;
      g = g >= stride ? g - stride : g;
      f[i] = bucket[i] + geometry.buckets * g;
    }
    for (int i = 0; i < kBlock; ++i) root(f[i] / n, step_re[i], step_im[i]);
    for (int i = 0; i < kBlock; ++i)
      root(product_mod(f[i], geometry.first_delay, n) / n, base_re[i], base_im[i]);
    double pr[kDelays][kBlock], pi[kDelays][kBlock], sum_re[kBlock], sum_im[kBlock], residual[kBlock] = {};
    for (int i = 0; i < kBlock; ++i) {
      pr[0][i] = 1;
      pi[0][i] = 0;
      sum_re[i] = yr[0][i];
      sum_im[i] = yi[0][i];
    }
    for (int j = 1; j < kDelays; ++j) {
      for (int i = 0; i < kBlock; ++i) {
        pr[j][i] = pr[j - 1][i] * step_re[i] - pi[j - 1][i] * step_im[i];
        pi[j][i] = pr[j - 1][i] * step_im[i] + pi[j - 1][i] * step_re[i];
        sum_re[i] += yr[j][i] * pr[j][i] + yi[j][i] * pi[j][i];
        sum_im[i] += yi[j][i] * pr[j][i] - yr[j][i] * pi[j][i];
      }
    }
    for (int i = 0; i < kBlock; ++i) {
      sum_re[i] *= 1.0 / kDelays;
      sum_im[i] *= 1.0 / kDelays;
    }
    for (int j = 0; j < kDelays; ++j) {
      for (int i = 0; i < kBlock; ++i) {
        const double dr = yr[j][i] - (sum_re[i] * pr[j][i] - sum_im[i] * pi[j][i]);
        const double di = yi[j][i] - (sum_re[i] * pi[j][i] + sum_im[i] * pr[j][i]);
        residual[i] += dr * dr + di * di;
      }
    }
    const double scale = geometry.scale;
    const std::int64_t own = count - first < kBlock ? count - first : kBlock;
    for (std::int64_t i = 0; i < own; ++i) {
      out.f[first + i] = f[i];
      out.value_re[first + i] = scale * (sum_re[i] * base_re[i] + sum_im[i] * base_im[i]);
      out.value_im[first + i] = scale * (sum_im[i] * base_re[i] - sum_re[i] * base_im[i]);
      out.energy[first + i] = scale * scale * energy[i];
      out.residual[first + i] = scale * scale * residual[i];
    }
  }
}

std::int64_t correlate(const double* y_re, const double* y_im, const CandidateLine& line, std::int64_t count,
                       double& power) {
  constexpr int kDelays = static_cast<int>(kRunDelays);
  // kBlock candidates at a time: phases of delay j in row j.
  double wr[kDelays][kBlock], wi[kDelays][kBlock], jump_re[kDelays], jump_im[kDelays];
  for (int j = 0; j < kDelays; ++j) {
    double re = line.base_re[j], im = line.base_im[j], jr = 1, ji = 0;
    for (int i = 0; i < kBlock; ++i) {
      wr[j][i] = re;
      wi[j][i] = im;
      const double next = re * line.step_re[j] - im * line.step_im[j];
      im = re * line.step_im[j] + im * line.step_re[j];
      re = next;
      const double jump = jr * line.step_re[j] - ji * line.step_im[j];
      ji = jr * line.step_im[j] + ji * line.step_re[j];
      jr = jump;
    }
    jump_re[j] = jr;
    jump_im[j] = ji;
  }
  double best[kBlock] = {}, best_first[kBlock] = {};
  for (std::int64_t first = 0; first < count; first += kBlock) {
    double sum_re[kBlock] = {}, sum_im[kBlock] = {};
    for (int j = 0; j < kDelays; ++j) {
      for (int i = 0; i < kBlock; ++i) {
        sum_re[i] += y_re[j] * wr[j][i] + y_im[j] * wi[j][i];
        sum_im[i] += y_im[j] * wr[j][i] - y_re[j] * wi[j][i];
        const double next = wr[j][i] * jump_re[j] - wi[j][i] * jump_im[j];
        wi[j][i] = wr[j][i] * jump_im[j] + wi[j][i] * jump_re[j];
        wr[j][i] = next;
      }
    }
    const auto own = static_cast<double>(count - first);
    const auto at = static_cast<double>(first);
    for (int i = 0; i < kBlock; ++i) {
      const double found = sum_re[i] * sum_re[i] + sum_im[i] * sum_im[i];
      const bool better = found > best[i] && i < own;
      best[i] = better ? found : best[i];
      best_first[i] = better ? at : best_first[i];
    }
  }
  int lane = 0;
  for (int i = 1; i < kBlock; ++i) lane = best[i] > best[lane] ? i : lane;
  power = best[lane];
  return static_cast<std::int64_t>(best_first[lane]) + lane;
}

void roots(const double* f, std::int64_t count, double first, double step, double n, std::int64_t delays,
           double* re, double* im) {
  for (std::int64_t at = 0; at < count; at += kBlock) {
    double own[kBlock], pr[kBlock], pi[kBlock], step_re[kBlock], step_im[kBlock];
    const std::int64_t block = count - at < kBlock ? count - at : kBlock;
    for (std::int64_t i = 0; i < kBlock; ++i) own[i] = f[at + (i < block ? i : 0)];
    for (int i = 0; i < kBlock; ++i) root(product_mod(own[i], first, n) / n, pr[i], pi[i]);
    for (int i = 0; i < kBlock && delays > 1; ++i)
      root(product_mod(own[i], step, n) / n, step_re[i], step_im[i]);
    for (std::int64_t j = 0; j < delays; ++j) {
      for (std::int64_t i = 0; i < block; ++i) {
        re[(at + i) * delays + j] = pr[i];
        im[(at + i) * delays + j] = pi[i];
      }
      if (j + 1 == delays) break;
      for (int i = 0; i < kBlock; ++i) {
        const double next = pr[i] * step_re[i] - pi[i] * step_im[i];
        pi[i] = pr[i] * step_im[i] + pi[i] * step_re[i];
        pr[i] = next;
      }
    }
  }
}

template <class Real, int kDelays>
void leftover_fixed(const Real* re, const Real* im, std::int64_t buckets, std::int64_t runtime_delays,
                    const KnownFrequencies& known, double* __restrict rest_re, double* __restrict rest_im,
                    double* __restrict rest) {
  const std::int64_t delays = kDelays > 0 ? kDelays : runtime_delays;
  for (std::int64_t i = 0; i < buckets * delays; ++i) {
    rest_re[i] = static_cast<double>(re[i]);
    rest_im[i] = static_cast<double>(im[i]);
  }
  for (std::int64_t i = 0; i < known.count; ++i) {
    const double vr = known.value_re[i], vi = known.value_im[i];
    const double* root_re = known.roots_re + i * delays;
    const double* root_im = known.roots_im + i * delays;
    double* to_re = rest_re + known.bucket[i] * delays;
    double* to_im = rest_im + known.bucket[i] * delays;
    for (std::int64_t j = 0; j < delays; ++j) {
      to_re[j] -= vr * root_re[j] - vi * root_im[j];
      to_im[j] -= vr * root_im[j] + vi * root_re[j];
    }
  }
  for (std::int64_t b = 0; b < buckets; ++b) {
    double sum = 0;
    for (std::int64_t j = b * delays; j < (b + 1) * delays; ++j)
      sum += rest_re[j] * rest_re[j] + rest_im[j] * rest_im[j];
    rest[b] = sum;
  }
}

template <class Real>
void leftover(const Real* re, const Real* im, std::int64_t buckets, std::int64_t delays,
              const KnownFrequencies& known, double* scratch, double* rest) {
  const auto run = delays == 4   ? leftover_fixed<Real, 4>
                   : delays == 8 ? leftover_fixed<Real, 8>
                                 : leftover_fixed<Real, 0>;
  run(re, im, buckets, delays, known, scratch, scratch + buckets * delays, rest);
}

template <class Real>
constexpr LocateKernels<Real> kTable{explain_run<Real>, correlate, roots, leftover<Real>};

}  // namespace

const LocateKernels<float>& locate_table_float() noexcept {
  return kTable<float>;
}
const LocateKernels<double>& locate_table_double() noexcept {
  return kTable<double>;
}

}  // namespace sfft::detail::cpu::SFFT_ISA
