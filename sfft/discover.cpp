#include "sfft/discover.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>

#include "sfft/discover_impl.hpp"
#include "sfft/error.hpp"
#include "sfft/template.hpp"
#include "template/blind_discovery.hpp"
#include "template/cost_model.hpp"
#include "template/select.hpp"
#include "template/template_data.hpp"

namespace sfft {

namespace {

using detail::BlindComponent;
using detail::BlindResult;

/// Below this a dense transform takes less time than the first round.
constexpr std::int64_t kShort = 4096;
/// Share of the samples that a first round may need before dense is as good.
constexpr std::int64_t kSamplesPerFrequency = 64;
/// Share of a dense transform's predicted time that may be spent without success where it has to follow: a
/// tenth of its time, predicted none too well.
constexpr double kPatience = 0.06;
/// Share of it that may be spent on what looks like the answer: the transform that it saves is learn()'s, in
/// double precision.
constexpr double kPersistence = 2;
/// Where none may follow: microseconds to spend on signals however short.
constexpr double kLeastEffort = 2e4;
/// Asking a GPU for samples: a launch, the gather, its way to the host, and waiting for it.
constexpr double kDeviceReadUs = 20;
/// Such waits that patience does not count: an unknown k takes a few rounds to grow to.
constexpr double kFreeReads = 4;
/// Learning from a dense transform on a GPU: memory and a cuFFT plan, then double precision, the powers and
/// the search for the largest, in transforms of a float signal.
constexpr double kDeviceLearnUs = 1000;
constexpr double kDeviceLearnTransforms = 8;
/// "Stands out of the noise", for the dense transform of an unknown number of frequencies.
constexpr double kOutstanding = 6;

/// Whether small radices alone make up the extent.
bool smooth(std::int64_t extent) {
  extent >>= std::countr_zero(static_cast<std::uint64_t>(extent));
  for (const std::int64_t prime : {3, 5, 7, 11, 13}) {
    if (extent == 1) break;
    while (extent % prime == 0) extent /= prime;
  }
  return extent == 1;
}

/// What a dense transform of the shape costs. Large primes take two transforms of at least twice the length
/// (Bluestein), which short lines do in cache.
double dense_us(const Shape& shape, bool real) {
  constexpr std::int64_t kShortLine = 4096;
  constexpr double kShortLineFactor = 1.6;
  double us = detail::predict_dense_us(shape, real);
  for (const std::int64_t extent : shape.extents()) {
    if (smooth(extent)) continue;
    if (extent <= kShortLine) {
      us *= kShortLineFactor;
      continue;
    }
    const auto padded = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(2 * extent - 1)));
    us *= 2 * detail::predict_dense_us(Shape{padded}, real) / detail::predict_dense_us(Shape{extent}, real);
  }
  return us;
}

/// The same of a dense transform with learn()'s work on a GPU.
double dense_device_us(const Shape& shape, bool real) {
  return kDeviceLearnUs + kDeviceLearnTransforms * detail::predict_dense_device_us(shape, real, 1);
}

void check(const Shape& shape, ElementType type, const DiscoverOptions& options) {
  const auto invalid = [](const std::string& message) { throw Error(ErrorCode::invalid_argument, message); };
  const detail::SpectrumLayout spectrum{shape, !is_complex(type)};
  if (options.k < 0) invalid(fmt::format("k = {} must be positive, or 0 for unknown", options.k));
  if (options.k > spectrum.distinct()) {
    invalid(fmt::format("k = {} exceeds the {} distinct frequencies of a {} {} signal", options.k,
                        spectrum.distinct(), shape.to_string(), spectrum.real ? "real" : "complex"));
  }
  if (!(options.accuracy >= 0) || !std::isfinite(options.accuracy))
    invalid(fmt::format("accuracy = {} must be 0 or a positive relative error", options.accuracy));
  if (!(options.noise_gain >= 1))
    invalid(fmt::format("noise_gain = {} must be at least 1", options.noise_gain));
  if (options.path == Path::direct)
    invalid("the direct path needs a known support: use automatic, comb, flat_window or dense");
}

/// One of each conjugate pair, the one that a half spectrum stores, as learn() keeps it.
std::int64_t representative(const Shape& shape, std::int64_t flat) {
  const std::int64_t last = shape[shape.rank() - 1];
  const std::int64_t mirrored = detail::conjugate_index(shape, flat);
  const std::int64_t column = flat % last;
  if (column == 0 || 2 * column == last) return std::min(flat, mirrored);
  return 2 * column < last ? flat : mirrored;
}

struct Found {
  std::int64_t flat;
  std::complex<double> value;
  double variance;
  double multiplicity;
};

/// Components as the frequencies of a spectrum, ascending; a real signal's pairs as one.
std::vector<Found> distinct(const BlindResult& result, const Shape& shape, bool real) {
  std::vector<Found> found;
  found.reserve(result.components.size());
  for (const BlindComponent& component : result.components) {
    std::int64_t flat = 0;
    for (int d = 0; d < shape.rank(); ++d) flat = flat * shape[d] + component.f[static_cast<std::size_t>(d)];
    found.push_back({flat, component.value, component.variance, 1});
    if (!real) continue;
    Found& own = found.back();
    own.flat = representative(shape, flat);
    if (own.flat != flat) own.value = std::conj(own.value);
    if (detail::conjugate_index(shape, flat) == flat) {
      own.value = own.value.real();
    } else {
      own.multiplicity = 2;
    }
  }
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.flat < b.flat; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (kept > 0 && found[kept - 1].flat == found[i].flat) {
      found[kept - 1].value = 0.5 * (found[kept - 1].value + found[i].value);
      found[kept - 1].variance = 0.25 * (found[kept - 1].variance + found[i].variance);
    } else {
      found[kept++] = found[i];
    }
  }
  found.resize(kept);
  return found;
}

/// Keeps the k largest; returns the energy of the others.
double keep_largest(std::vector<Found>& found, std::int64_t k) {
  if (k == 0 || static_cast<std::int64_t>(found.size()) <= k) return 0;
  const auto end = found.begin() + static_cast<std::ptrdiff_t>(k);
  std::nth_element(found.begin(), end - 1, found.end(), [](const Found& a, const Found& b) {
    const double pa = std::norm(a.value);
    const double pb = std::norm(b.value);
    return pa != pb ? pa > pb : a.flat < b.flat;
  });
  double energy = 0;
  for (auto other = end; other != found.end(); ++other)
    energy += other->multiplicity * std::norm(other->value);
  found.erase(end, found.end());
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.flat < b.flat; });
  return energy;
}

Discovery to_discovery(BlindResult&& result, const detail::DiscoveryTarget& target, std::int64_t k) {
  const bool real = !is_complex(target.samples.type());
  std::vector<Found> found = distinct(result, target.shape, real);
  Discovery discovery;
  discovery.tail_energy = result.tail_energy + keep_largest(found, k);
  discovery.missed_bound = result.missed_bound;
  discovery.verified = result.verified;
  discovery.finite = result.finite;
  discovery.samples = result.samples;
  discovery.rounds = result.rounds;
  discovery.path = result.path;
  discovery.backend = target.backend;
  discovery.reason = result.reason;
  auto support = std::make_shared<std::vector<std::int64_t>>();
  support->reserve(found.size());
  discovery.values.reserve(found.size());
  discovery.standard_error.reserve(found.size());
  double error = 0;
  double norm = 0;
  double held = 0;
  for (const Found& one : found) {
    support->push_back(one.flat);
    discovery.values.push_back(one.value);
    discovery.standard_error.push_back(std::sqrt(one.variance));
    if (one.flat == 0) continue;
    error += one.variance;
    norm += std::norm(one.value);
    held += one.multiplicity * std::norm(one.value);
  }
  discovery.support = std::move(support);
  discovery.error_l2 = std::sqrt(error);
  discovery.relative_error = norm > 0 ? std::sqrt(error / norm) : 0;
  const double all = discovery.tail_energy + held;
  discovery.residual = all > 0 ? std::sqrt(discovery.tail_energy / all) : 0;
  return discovery;
}

}  // namespace

namespace detail {

LearnOptions dense_options(const DiscoverOptions& options) {
  LearnOptions learning{.threads = options.threads};
  options.k > 0 ? void(learning.k = options.k) : void(learning.threshold_sigma = kOutstanding);
  return learning;
}

Discovery from_dense(const Template& tmpl, Backend backend, const DiscoverOptions& options,
                     const std::string& why) {
  Discovery discovery;
  discovery.support = tmpl.data()->support;
  discovery.values.assign(tmpl.values().begin(), tmpl.values().end());
  discovery.standard_error.assign(discovery.values.size(), 0.0);
  discovery.tail_energy = tmpl.tail_energy();
  // Whatever was left out is no larger than what was kept.
  discovery.missed_bound = std::sqrt(tmpl.tail_energy());
  for (std::size_t i = 0; i < discovery.values.size(); ++i) {
    if ((*discovery.support)[i] != 0 || options.k > 0)
      discovery.missed_bound = std::min(discovery.missed_bound, std::abs(discovery.values[i]));
  }
  discovery.residual = std::sqrt(std::max(0.0, 1 - tmpl.energy_captured()));
  discovery.path = Path::dense;
  discovery.backend = backend;
  discovery.support_learned_densely = true;
  discovery.samples = tmpl.shape().points();
  discovery.reason = fmt::format("{}: support and values come from a dense transform", why);
  return discovery;
}

std::optional<Discovery> discover_or_explain(const SignalView& signal, const DiscoverOptions& options,
                                             std::string& why) {
  HostSamples samples(signal, signal.type());
  return discover_or_explain({samples, signal.shape(), Backend::cpu}, options, why);
}

std::optional<Discovery> discover_or_explain(const DiscoveryTarget& target, const DiscoverOptions& options,
                                             std::string& why) {
  const Shape& shape = target.shape;
  const ElementType type = target.samples.type();
  check(shape, type, options);
  const bool real = !is_complex(type);
  const std::int64_t wanted = options.k * (real ? 2 : 1);
  const bool dense_allowed = options.fallback == Fallback::dense;
  if (options.path == Path::dense) {
    why = "asked for";
  } else if (dense_allowed && options.path == Path::automatic && shape.points() <= kShort) {
    why = "the signal is short";
  } else if (dense_allowed && options.path == Path::automatic &&
             kSamplesPerFrequency * wanted > shape.points()) {
    why = "k is large against the number of samples";
  }
  if (!why.empty()) return std::nullopt;
  BlindRequest request;
  request.k = wanted;
  request.accuracy = options.accuracy;
  request.noise_gain = options.noise_gain;
  request.seed = options.seed;
  request.path = options.path;
  // Where no dense transform may follow, what one takes on the CPU is as good a limit as any.
  const bool on_device = target.backend == Backend::cuda;
  const double dense = on_device && dense_allowed ? dense_device_us(shape, real) : dense_us(shape, real);
  request.read_us = on_device ? kDeviceReadUs : 0;
  request.patience_us =
      dense_allowed ? kPatience * dense + kFreeReads * request.read_us : std::max(dense, kLeastEffort);
  request.effort_us = dense_allowed ? kPersistence * dense : request.patience_us;
  const bool twice = type == ElementType::f64 || type == ElementType::c128;
  BlindResult result = twice ? discover_blindly<double>(target.samples, shape, request)
                             : discover_blindly<float>(target.samples, shape, request);
  if (result.verified || !dense_allowed) return to_discovery(std::move(result), target, options.k);
  why = result.reason;
  return std::nullopt;
}

}  // namespace detail

Discovery discover(const SignalView& signal, const DiscoverOptions& options) {
  std::string why;
  const auto start = std::chrono::steady_clock::now();
  std::optional<Discovery> found = detail::discover_or_explain(signal, options, why);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  Discovery discovery =
      found ? std::move(*found)
            : detail::from_dense(learn(signal, detail::dense_options(options)), Backend::cpu, options, why);
  discovery.search_seconds = seconds;
  return discovery;
}

}  // namespace sfft
