// SPDX-License-Identifier: Apache-2.0
// Limits how long discovery may take before a dense transform is the better choice, runs it, and turns
// its result, or the dense spectrum, into a Discovery.
#include "sfft/discover.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>

#include "kernels/base/math/elements.hpp"
#include "kernels/runtime/argument_checks.hpp"
#include "kernels/runtime/elapsed.hpp"
#include "kernels/runtime/log.hpp"
#include "kernels/runtime/run_scope.hpp"
#include "kernels/runtime/trace.hpp"
#include "sfft/error.hpp"
#include "sfft/learning/discover_impl.hpp"
#include "sfft/learning/learning.hpp"
#include "sfft/template.hpp"
#include "template/data/template_data.hpp"
#include "template/discovery/round.hpp"
#include "template/learning/select.hpp"

namespace sfft {

namespace {

using detail::DiscoveryComponent;
using detail::DiscoveryResult;

/// Below this number of points, a dense transform takes less time than the first round.
constexpr std::int64_t kShort = 4096;
/// Minimum number of samples per wanted frequency. With fewer, a first round would read so much that a
/// dense transform is as good.
constexpr std::int64_t kSamplesPerFrequency = 64;
/// Limits as fractions of a dense transform's predicted time: without progress, and for the search for the
/// rest of a likely answer. The transform that follows a failed search is learn()'s, in double precision, and
/// takes more than three times as long as predicted for single precision.
constexpr double kStallShare = 0.06;
constexpr double kSearch = 0.7;
/// The same for a likely answer that only has to be refined and checked.
constexpr double kPersistence = 2;
/// The same for a trial before learn()'s own dense transform; it gives up at the first sign of noise.
constexpr double kTrialStallShare = 0.04;
constexpr double kTrialPersistence = 1.5;
/// The fraction that may be spent on explaining the first round before the search for tones between bins, if
/// no dense transform may follow.
constexpr double kFirstLook = 0.5;
/// Minimum time limit in microseconds, for very short signals if no dense transform may follow.
constexpr double kMinEffort = 2e4;
/// Time to fetch samples from a GPU: a launch, the gather, the copy to the host and the wait.
constexpr double kDeviceReadUs = 20;
/// Number of such reads by which the limit without progress grows: growing to an unknown k takes a few
/// rounds.
constexpr double kFreeReads = 4;
/// Up to this many points, the energy of the whole signal is read: one pass takes little time compared with a
/// dense transform or discovery.
constexpr std::int64_t kReadAsAWhole = std::int64_t{1} << 16;
/// Up to this many points, rounds may read samples again, and more than N in total. For longer signals,
/// `dense_fallback = false` reads fewer than N.
constexpr std::int64_t kManyReads = std::int64_t{1} << 17;
/// Standard errors within which two magnitudes count as equal.
constexpr double kTie = 3;
constexpr const char* kTied = ". k cuts through coefficients of one size: others are as large as the least";
/// What "stands out of the noise" means in standard deviations, for the dense transform if the number of
/// frequencies is unknown.
constexpr double kOutstanding = 6;

void check(const Shape& shape, ElementType type, const DiscoverOptions& options) {
  const auto invalid = [](const std::string& message) { throw Error(ErrorCode::invalid_argument, message); };
  const detail::SpectrumLayout spectrum{shape, !is_complex(type)};
  detail::check_enumerator(options.path, Path::dense, "DiscoverOptions::path");
  detail::check_enumerator(options.check, DiscoverOptions::Check::everything, "DiscoverOptions::check");
  if (options.k && *options.k < 1)
    invalid(fmt::format("k = {} must be at least 1: leave it out if it is unknown", *options.k));
  if (options.k && *options.k > spectrum.distinct()) {
    invalid(fmt::format("k = {} exceeds the {} distinct frequencies of a {} {} signal", *options.k,
                        spectrum.distinct(), shape.to_string(), spectrum.real ? "real" : "complex"));
  }
  if (!(options.accuracy >= 0) || !std::isfinite(options.accuracy))
    invalid(fmt::format("accuracy = {} must be 0 or a positive relative error", options.accuracy));
  if (!(options.noise_gain >= 1))
    invalid(fmt::format("noise_gain = {} must be at least 1", options.noise_gain));
  if (!(options.confidence > 0 && options.confidence < 1)) {
    invalid(fmt::format("confidence = {} must be a probability between 0 and 1, of a miss: 1e-9 for one",
                        options.confidence));
  }
  if (options.path == Path::direct)
    invalid("the direct path needs a known support: use automatic, comb, flat_window or dense");
}

struct FoundTerm {
  std::int64_t flat;
  std::complex<double> value;
  double variance;
  double multiplicity;
};

/// Components as the frequencies of a spectrum, ascending; each conjugate pair of a real signal becomes one.
std::vector<FoundTerm> distinct(const DiscoveryResult& result, const Shape& shape, bool real) {
  std::vector<FoundTerm> found;
  found.reserve(result.components.size());
  for (const DiscoveryComponent& component : result.components) {
    std::int64_t flat = 0;
    for (int d = 0; d < shape.rank(); ++d) flat = flat * shape[d] + component.f[static_cast<std::size_t>(d)];
    found.push_back({flat, component.value, component.variance, 1});
    if (!real) continue;
    FoundTerm& own = found.back();
    own.flat = detail::pair_representative(shape, flat);
    if (own.flat != flat) own.value = std::conj(own.value);
    if (detail::conjugate_index(shape, flat) == flat) {
      own.value = own.value.real();
    } else {
      own.multiplicity = 2;
    }
  }
  std::sort(found.begin(), found.end(),
            [](const FoundTerm& a, const FoundTerm& b) { return a.flat < b.flat; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (kept > 0 && found[kept - 1].flat == found[i].flat) {
      found[kept - 1].value = 0.5 * (found[kept - 1].value + found[i].value);
      // Both come from the same real samples, so their errors are conjugates of each other.
      found[kept - 1].variance = 0.5 * (found[kept - 1].variance + found[i].variance);
    } else {
      found[kept++] = found[i];
    }
  }
  found.resize(kept);
  return found;
}

/// Relative rounding error of coefficients computed from samples of this type.
double rounding_of(ElementType type) {
  return 4 * (detail::exceeds_float(type) ? std::numeric_limits<double>::epsilon()
                                          : std::numeric_limits<float>::epsilon());
}

/// The frequencies that were found but dropped because of k.
struct Cut {
  double energy = 0;
  double largest = 0;  ///< |X| plus its error
  bool tie = false;    ///< ties with the smallest that was kept
};

/// Keeps the k largest.
Cut keep_largest(std::vector<FoundTerm>& found, std::int64_t k, double rounding) {
  Cut cut;
  if (k == 0 || static_cast<std::int64_t>(found.size()) <= k) return cut;
  const auto end = found.begin() + static_cast<std::ptrdiff_t>(k);
  std::nth_element(found.begin(), end - 1, found.end(), [](const FoundTerm& a, const FoundTerm& b) {
    const double pa = std::norm(a.value);
    const double pb = std::norm(b.value);
    return pa != pb ? pa > pb : a.flat < b.flat;
  });
  const FoundTerm& min = *(end - 1);
  const double size = std::abs(min.value);
  for (auto other = end; other != found.end(); ++other) {
    const double own = std::abs(other->value);
    cut.energy += other->multiplicity * std::norm(other->value);
    cut.largest = std::max(cut.largest, own + kTie * std::sqrt(other->variance));
    cut.tie = cut.tie || size - own <= kTie * std::sqrt(min.variance + other->variance) + rounding * size;
  }
  found.erase(end, found.end());
  std::sort(found.begin(), found.end(),
            [](const FoundTerm& a, const FoundTerm& b) { return a.flat < b.flat; });
  return cut;
}

/// Says what a verified answer cannot vouch for. Samples may have been read more than once, so the share of
/// unread ones is a lower bound.
std::string unread(const DiscoveryResult& result, const Shape& shape) {
  const double read = static_cast<double>(result.samples) / static_cast<double>(shape.points());
  const std::string share = read < 0.999 ? fmt::format("at least {:.1f} %", 100 * (1 - read)) : "some";
  return fmt::format(
      "; {} of the samples were not read and may hold a click or a NaN: DiscoverOptions::Check::everything "
      "reads all",
      share);
}

std::vector<OffGridTone> tones_of(const std::vector<FoundTerm>& found, const Shape& shape, bool real,
                                  double bound) {
  std::vector<detail::KnownCoefficient> known;
  known.reserve(found.size());
  for (const FoundTerm& one : found) known.push_back({one.flat, one.value, one.variance});
  return detail::suspected_tones(shape, real, std::move(known), bound);
}

std::complex<double> times_power_of_two(const std::complex<double>& x, int exponent) {
  return {std::ldexp(x.real(), exponent), std::ldexp(x.imag(), exponent)};
}

/// Converts from units in which squares are in range to those of the samples, in which X itself must
/// be in range.
void undo_scale(Discovery& discovery, int exponent) {
  if (exponent == 0) return;
  bool finite = true;
  for (std::complex<double>& value : discovery.spectrum.values) {
    value = times_power_of_two(value, exponent);
    finite = finite && std::isfinite(value.real()) && std::isfinite(value.imag());
  }
  for (double& error : discovery.spectrum.standard_error) error = std::ldexp(error, exponent);
  for (OffGridTone& tone : discovery.off_grid_tones)
    tone.amplitude = times_power_of_two(tone.amplitude, exponent);
  discovery.spectrum.quality.error_l2 = std::ldexp(discovery.spectrum.quality.error_l2, exponent);
  discovery.missed_bound = std::ldexp(discovery.missed_bound, exponent);
  discovery.spectrum.quality.tail_energy = std::ldexp(discovery.spectrum.quality.tail_energy, 2 * exponent);
  if (!finite) {
    throw Error(ErrorCode::invalid_argument,
                "a coefficient of the signal is too large for double precision: scale the samples down");
  }
}

/// For a call that is stopped before a search, or without one.
Discovery nothing_found(const detail::DiscoveryTarget& target) {
  Discovery none;
  none.spectrum.support = std::make_shared<const std::vector<std::int64_t>>();
  none.spectrum.shape = target.shape;
  none.spectrum.domain = domain_of(target.samples.type());
  none.spectrum.backend = target.backend;
  none.verified = false;
  none.missed_bound = std::numeric_limits<double>::infinity();
  none.reason = "stopped on request before anything was found";
  return none;
}

std::string named(const Shape& shape, bool real) {
  return fmt::format("{} {}", real ? "real" : "complex", shape.to_string());
}

Discovery to_discovery(DiscoveryResult&& result, const detail::DiscoveryTarget& target, std::int64_t k,
                       int exponent) {
  const ElementType type = target.samples.type();
  std::vector<FoundTerm> found = distinct(result, target.shape, !is_complex(type));
  Discovery discovery;
  std::vector<OffGridTone> tones = result.verified || result.off_grid_tones.empty()
                                       ? tones_of(found, target.shape, !is_complex(type), result.missed_bound)
                                       : std::move(result.off_grid_tones);
  const Cut cut = keep_largest(found, k, rounding_of(type));
  discovery.spectrum.quality.tail_energy = result.tail_energy + cut.energy;
  discovery.missed_bound = std::max(result.missed_bound, cut.largest);
  discovery.tie_at_k = cut.tie;
  discovery.verified = result.verified;
  discovery.spectrum.quality.finite = result.finite;
  discovery.samples = result.samples;
  discovery.check_samples = result.check_samples;
  discovery.energy_checked = result.whole_agrees;
  if (result.whole_agrees) {
    discovery.shortest_burst = 1;
  } else if (result.check_samples > 0) {
    discovery.shortest_burst = std::max<std::int64_t>(
        1, std::llround(std::ceil(result.unseen_share * static_cast<double>(target.shape.points()))));
  }
  discovery.rounds = result.rounds;
  discovery.spectrum.shape = target.shape;
  discovery.spectrum.domain = domain_of(target.samples.type());
  discovery.spectrum.path = result.path;
  discovery.spectrum.backend = target.backend;
  discovery.reason = result.reason;
  if (result.verified && discovery.shortest_burst > 1) discovery.reason += unread(result, target.shape);
  if (cut.tie) discovery.reason += kTied;
  detail::report_leakage(discovery, std::move(tones));
  auto support = std::make_shared<std::vector<std::int64_t>>();
  support->reserve(found.size());
  discovery.spectrum.values.reserve(found.size());
  discovery.spectrum.standard_error.reserve(found.size());
  double error = 0;
  double norm = 0;
  double held = 0;
  for (const FoundTerm& one : found) {
    support->push_back(one.flat);
    discovery.spectrum.values.push_back(one.value);
    discovery.spectrum.standard_error.push_back(std::sqrt(one.variance));
    if (one.flat == 0) continue;
    error += one.variance;
    norm += std::norm(one.value);
    held += one.multiplicity * std::norm(one.value);
  }
  discovery.spectrum.support = std::move(support);
  discovery.spectrum.quality.error_l2 = std::sqrt(error);
  discovery.spectrum.quality.relative_error = norm > 0 ? std::sqrt(error / norm) : 0;
  const double all = discovery.spectrum.quality.tail_energy + held;
  discovery.spectrum.quality.residual = all > 0 ? std::sqrt(discovery.spectrum.quality.tail_energy / all) : 0;
  undo_scale(discovery, exponent);
  return discovery;
}

}  // namespace

namespace detail {

LearnOptions dense_options(const DiscoverOptions& options, const SpectrumLayout& layout) {
  LearnOptions learning{.threads = options.threads};
  if (options.k) {
    learning.keep = Largest{with_neighbours(*options.k, layout.distinct())};
  } else {
    learning.keep = AboveNoise{kOutstanding};
  }
  return learning;
}

Discovery from_dense(Learned&& learned, ElementType type, Backend backend, const DiscoverOptions& options,
                     const std::string& why) {
  const int exponent = learned.exponent;
  std::vector<OffGridTone> tones = suspected_tones(learned);
  if (options.k) keep_largest(learned, *options.k);
  const double largest_outside = learned.largest_outside;
  const auto data = to_template(std::move(learned));
  Discovery discovery;
  discovery.spectrum.support = data->support;
  discovery.spectrum.values = std::move(data->values);
  discovery.spectrum.standard_error.assign(discovery.spectrum.values.size(), 0.0);
  discovery.spectrum.quality.tail_energy = data->tail_energy;
  discovery.spectrum.quality.residual = std::sqrt(std::max(0.0, 1 - data->energy_captured));
  discovery.missed_bound = std::sqrt(largest_outside);
  double min = std::numeric_limits<double>::infinity();
  for (const std::complex<double>& value : discovery.spectrum.values) min = std::min(min, std::abs(value));
  // With unknown k a threshold decides, so there is no k-th magnitude that others could tie with.
  discovery.tie_at_k =
      options.k && discovery.missed_bound > 0 && min - discovery.missed_bound <= rounding_of(type) * min;
  discovery.spectrum.shape = data->shape;
  discovery.spectrum.domain = data->domain();
  discovery.spectrum.path = Path::dense;
  discovery.spectrum.backend = backend;
  discovery.support_learned_densely = true;
  discovery.samples = data->shape.points();
  discovery.shortest_burst = 1;
  discovery.energy_checked = true;
  discovery.reason = fmt::format("{}: support and values come from a dense transform", why);
  if (discovery.tie_at_k) discovery.reason += kTied;
  report_leakage(discovery, std::move(tones));
  undo_scale(discovery, exponent);
  return discovery;
}

std::optional<Discovery> discover_or_explain(const SignalView& signal, const DiscoverOptions& options,
                                             std::string& why) {
  HostSamples samples(signal, signal.type(), signal.shape().points());
  return discover_or_explain({samples, signal.shape(), Backend::cpu}, options, why);
}

std::optional<Discovery> discover_exactly(const SignalView& signal, const DiscoverOptions& options,
                                          std::string& why) {
  HostSamples samples(signal, signal.type(), signal.shape().points());
  return discover_or_explain({samples, signal.shape(), Backend::cpu, true}, options, why);
}

std::optional<Discovery> discover_or_explain(const DiscoveryTarget& target, const DiscoverOptions& options,
                                             std::string& why) {
  const TraceRange range("discovery");
  if (options.until_stopped != nullptr) *options.until_stopped = nothing_found(target);
  const Shape& shape = target.shape;
  const ElementType type = target.samples.type();
  check(shape, type, options);
  const bool real = !is_complex(type);
  const std::int64_t wanted = options.k.value_or(0) * (real ? 2 : 1);
  const bool dense_allowed = options.dense_fallback;
  if (options.path == Path::dense) {
    why = "requested";
  } else if (dense_allowed && options.path == Path::automatic && shape.points() <= kShort) {
    why = "the signal is short";
  } else if (dense_allowed && options.path == Path::automatic &&
             kSamplesPerFrequency * wanted > shape.points()) {
    why = "k is large against the number of samples";
  } else if (target.exact_only && !worth_a_trial(shape, real, wanted)) {
    why = "with this k, discovery would take too large a share of a dense transform's time";
  }
  if (!why.empty()) {
    log_decision("discovery",
                 [&] { return fmt::format("{} is left to a dense transform: {}", named(shape, real), why); });
    return std::nullopt;
  }
  DiscoveryRequest request;
  request.k = wanted;
  request.accuracy = options.accuracy;
  request.noise_gain = options.noise_gain;
  request.seed = options.seed;
  request.path = options.path;
  // If no dense transform may follow, the limit is still the time of one on the CPU.
  const bool on_device = target.backend == Backend::cuda;
  const double dense = on_device && dense_allowed ? dense_device_us(shape, real) : dense_us(shape, real);
  request.read_us = on_device ? kDeviceReadUs : 0;
  request.patience_us =
      dense_allowed ? kStallShare * dense + kFreeReads * request.read_us : std::max(dense, kMinEffort);
  request.search_us = dense_allowed ? kSearch * dense : request.patience_us;
  request.effort_us = dense_allowed ? kPersistence * dense : request.patience_us;
  if (!dense_allowed && shape.points() > kManyReads) request.max_samples = shape.points() - 1;
  if (target.exact_only) {
    request.patience_us = kTrialStallShare * dense;
    request.search_us = kTrialPersistence * dense;
    request.effort_us = request.search_us;
    request.exact_only = true;
  }
  request.off_grid = !dense_allowed;
  request.first_look_us = kFirstLook * dense;
  request.confidence = options.confidence;
  request.everything =
      options.check == DiscoverOptions::Check::everything ||
      (options.check == DiscoverOptions::Check::automatic && shape.points() <= kReadAsAWhole);
  const bool twice = exceeds_float(type);
  ScaledSamples samples(target.samples);
  DiscoveryResult result;
  std::int64_t read_in_vain = 0;
  // The caller gets what was found in any case, even if it is of little use.
  const auto keep = [&](DiscoveryResult&& so_far) {
    if (options.until_stopped == nullptr) return;
    const RunScope::Use none(nullptr);
    try {
      Discovery found = to_discovery(std::move(so_far), target, options.k.value_or(0), samples.exponent());
      found.missed_bound = std::numeric_limits<double>::infinity();
      *options.until_stopped = std::move(found);
    } catch (const std::exception&) {  // it stays empty: the outcome of the call counts
    }
  };
  DiscoveryResult so_far;
  try {
    do {
      read_in_vain += result.samples;
      result = twice ? run_discovery<double>(samples, shape, request, &so_far)
                     : run_discovery<float>(samples, shape, request, &so_far);
      // The scale grows by a factor of millions each time, so this ends soon.
    } while (samples.outgrown());
  } catch (const Stopped&) {
    keep(std::move(so_far));
    throw;
  }
  result.samples += read_in_vain;
  log_decision("discovery", [&] {
    return fmt::format("{}: {} frequencies from {} samples in {} rounds, {}: {}", named(shape, real),
                       result.components.size(), result.samples, result.rounds,
                       result.verified ? "verified"
                       : dense_allowed ? "not verified, so a dense transform follows"
                                       : "not verified",
                       result.reason);
  });
  if (result.verified || !dense_allowed)
    return to_discovery(std::move(result), target, options.k.value_or(0), samples.exponent());
  why = result.reason;
  keep(std::move(result));
  return std::nullopt;
}

}  // namespace detail

Discovery discover(const SignalView& signal, const DiscoverOptions& options) {
  const detail::TraceRange range("discover");
  std::string why;
  const auto start = std::chrono::steady_clock::now();
  std::optional<Discovery> found = detail::discover_or_explain(signal, options, why);
  const double seconds = detail::seconds_since(start);
  if (found) {
    found->search_seconds = seconds;
    return std::move(*found);
  }
  detail::Learned learned = detail::learn_on_cpu(
      {&signal, 1}, detail::dense_options(options, {signal.shape(), !is_complex(signal.type())}), true);
  Discovery discovery = detail::from_dense(std::move(learned), signal.type(), Backend::cpu, options, why);
  discovery.search_seconds = seconds;
  return discovery;
}

}  // namespace sfft
