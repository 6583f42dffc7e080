// SPDX-License-Identifier: Apache-2.0
// Checks the frames and options, then selects frequencies and builds power envelopes from queries of a
// LearningSpectrum. Learning by discovery tries discovery first and falls back to this if the result is not
// verified.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "kernels/base/math/elements.hpp"
#include "kernels/base/math/region.hpp"
#include "kernels/runtime/argument_checks.hpp"
#include "kernels/runtime/elapsed.hpp"
#include "kernels/runtime/log.hpp"
#include "kernels/runtime/trace.hpp"
#include "sfft/error.hpp"
#include "sfft/learning/discover_impl.hpp"
#include "sfft/learning/learning.hpp"
#include "sfft/template_access.hpp"
#include "template/data/template_data.hpp"
#include "template/learning/select.hpp"

namespace sfft {

namespace {

using detail::CellGrid;
using detail::Learned;
using detail::LearningSpectrum;
using detail::RankedPower;
using detail::SpectrumLayout;
using detail::TemplateData;

[[noreturn]] void invalid(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

constexpr const char* kTooLarge =
    "the power of the learning frames overflows double precision: scale them down";

void check(std::span<const SignalView> frames, const LearnOptions& options) {
  if (frames.empty()) invalid("learning needs at least one frame");
  for (const SignalView& frame : frames) {
    if (frame.shape() != frames[0].shape()) {
      throw Error(ErrorCode::shape_mismatch,
                  fmt::format("learning frames differ in shape: {} and {}", frames[0].shape().to_string(),
                              frame.shape().to_string()));
    }
    if (frame.type() != frames[0].type()) {
      throw Error(ErrorCode::type_mismatch,
                  fmt::format("learning frames differ in element type: {} and {}",
                              to_string(frames[0].type()), to_string(frame.type())));
    }
  }
  detail::check_criteria(options);
  if (options.device.backend() == Backend::cuda) detail::check_gpu_type(frames[0].type(), "the frame's type");
}

/// Mean over cells of a sum accumulated in `power`; cells without members take the mean of all.
void finish(detail::Envelope& envelope, const std::vector<double>& counts) {
  double sum = 0;
  double number = 0;
  for (std::size_t c = 0; c < counts.size(); ++c) {
    sum += envelope.power[c];
    number += counts[c];
  }
  const double mean = number > 0 ? sum / number : 0;
  for (std::size_t c = 0; c < counts.size(); ++c) {
    envelope.power[c] = counts[c] > 0 ? envelope.power[c] / counts[c] : mean;
  }
}

/// The change's envelope models f = 0 by its strongest neighbour, because brightness drifts.
void fill_mean_cell(detail::Envelope& envelope) {
  double strongest = 0;
  for (std::size_t c = 1; c < envelope.power.size(); ++c) strongest = std::max(strongest, envelope.power[c]);
  envelope.power[0] = strongest;
}

void check_sums(const std::vector<double>& sums) {
  if (!std::all_of(sums.begin(), sums.end(), [](double sum) { return std::isfinite(sum); }))
    invalid(kTooLarge);
}

std::vector<RankedPower> select(const LearningSpectrum& spectrum, const std::vector<double>& sums,
                                const LearnOptions& options) {
  check_sums(sums);
  if (const std::int64_t k = detail::largest_k(options); k > 0) return select_largest(spectrum, k);
  if (std::none_of(sums.begin(), sums.end(), [](double sum) { return sum > 0; }))
    invalid("an all-zero frame has no energy to keep a share of: keep the Largest instead");
  if (const auto* energy = std::get_if<Energy>(&*options.keep))
    return select_energy(spectrum, sums, energy->share);
  const double sigmas = std::get<AboveNoise>(*options.keep).sigmas;
  std::vector<RankedPower> chosen = select_threshold(spectrum, sums, sigmas);
  if (chosen.empty()) {
    invalid(fmt::format(
        "no frequency is above {} standard deviations of the noise floor: lower them or keep the Largest",
        sigmas));
  }
  return chosen;
}

void fill_envelopes(TemplateData& data, const Learned& learned) {
  const CellGrid grid(data.shape);
  std::vector<double> counts = grid.counts();
  std::vector<double> tail_counts = counts;
  // With a single frame, its power takes the place of the power of changes.
  std::vector<double> change = learned.several ? learned.change : learned.tail;
  double held = 0;
  for (std::size_t i = 0; i < learned.chosen.size(); ++i) {
    const RankedPower& element = learned.chosen[i];
    const double weight = learned.layout.multiplicity(element.index);
    const std::size_t cell = grid.cell(detail::coordinates(data.shape, (*data.support)[i]));
    tail_counts[cell] -= weight;
    if (!learned.several) change[cell] += weight * element.power;
    if (element.index != 0) held += weight * element.power;
  }
  const double tail_without_mean = std::accumulate(learned.tail.begin() + 1, learned.tail.end(), 0.0);
  data.tail_energy = tail_without_mean + learned.tail[0];
  const double total = held + tail_without_mean;
  data.energy_captured = total > 0 ? held / total : 1.0;
  data.tail_envelope.power = learned.tail;
  finish(data.tail_envelope, tail_counts);
  change[0] = 0;
  counts[0] = 0;
  data.change_envelope.power = std::move(change);
  finish(data.change_envelope, counts);
  fill_mean_cell(data.change_envelope);
}

/// A template from a discovery, with a white tail.
std::shared_ptr<TemplateData> from_discovery(const Discovery& discovery, const Shape& shape, bool real) {
  auto data = std::make_shared<TemplateData>();
  data->shape = shape;
  data->real = real;
  data->support = discovery.spectrum.support;
  data->values = discovery.spectrum.values;
  double held = 0;
  double outside = static_cast<double>(shape.points());
  for (std::size_t i = 0; i < discovery.spectrum.values.size(); ++i) {
    const std::int64_t f = (*discovery.spectrum.support)[i];
    const double power = std::norm(discovery.spectrum.values[i]);
    const double multiplicity = data->real && detail::conjugate_index(data->shape, f) != f ? 2 : 1;
    data->power.push_back(power);
    outside -= multiplicity;
    if (f != 0) held += multiplicity * power;
  }
  data->tail_energy = discovery.spectrum.quality.tail_energy;
  const double total = held + data->tail_energy;
  if (!std::isfinite(total)) invalid(kTooLarge);
  data->energy_captured = total > 0 ? held / total : 1.0;
  const CellGrid grid(data->shape);
  const double level = data->tail_energy / std::max(1.0, outside);
  data->tail_envelope.power.assign(grid.cells(), level);
  data->change_envelope.power.assign(grid.cells(), level + held / static_cast<double>(shape.points()));
  return data;
}

/// Null, and the reason in `why`, if learning needs a dense transform.
std::shared_ptr<TemplateData> try_discovery(std::span<const SignalView> frames, const LearnOptions& options,
                                            std::string& why) {
  if (detail::largest_k(options) == 0) {
    why = "a share of the energy or a noise floor needs a dense transform";
  } else if (frames.size() > 1) {
    why = "means of several frames need dense transforms";
  } else if (options.device.backend() == Backend::cuda) {
    why = "discovery runs on the CPU";
  } else if (options.reference) {
    why = "values for a reference have to be exact";
  } else if (detail::is_integer(frames[0].type())) {
    why = "integers are rounded: their spectra are not exactly sparse";
  }
  if (!why.empty()) return nullptr;
  const auto discovery = detail::discover_exactly(
      frames[0],
      {.k = detail::largest_k(options), .seed = options.seed, .check = DiscoverOptions::Check::everything},
      why);
  if (!discovery) return nullptr;
  why = discovery->reason;
  if (!discovery->verified || discovery->spectrum.values.empty() || discovery->tie_at_k) return nullptr;
  return from_discovery(*discovery, frames[0].shape(), !is_complex(frames[0].type()));
}

/// Null if learning needs a dense transform.
std::shared_ptr<TemplateData> learn_by_discovery(std::span<const SignalView> frames,
                                                 const LearnOptions& options, std::string& why) {
  if (detail::largest_k(options) == 0) {
    invalid(
        "learning by discovery needs Largest: a share of the energy or a noise floor needs a dense "
        "transform");
  }
  if (frames.size() > 1)
    invalid("learning by discovery takes one frame: means of several need dense transforms");
  auto discovery = detail::discover_or_explain(
      frames[0],
      {.k = detail::largest_k(options), .dense_fallback = options.dense_fallback, .seed = options.seed}, why);
  return detail::verified_template(std::move(discovery), frames[0].shape(), !is_complex(frames[0].type()),
                                   options, why);
}

void keep_frame(TemplateData& data, const SignalView& frame, bool reference) {
  data.reference_type = frame.type();
  if (!reference) return;
  data.reference.resize(frame.bytes());
  detail::copy_elements(frame, data.reference.data());
}

}  // namespace

void detail::check_finite(const std::complex<double>& mean, std::size_t frame) {
  if (!std::isfinite(mean.real()) || !std::isfinite(mean.imag()))
    invalid(fmt::format("the signal holds NaN or infinite samples{}",
                        frame == 0 ? "" : fmt::format(" in frame {}, counted from 0", frame)));
}

std::int64_t detail::largest_k(const LearnOptions& options) noexcept {
  const auto* largest = options.keep ? std::get_if<Largest>(&*options.keep) : nullptr;
  return largest != nullptr ? largest->k : 0;
}

void detail::note_criterion(TemplateData& data, const LearnOptions& options) noexcept {
  if (const auto* energy = std::get_if<Energy>(&*options.keep)) data.learned_energy = energy->share;
  if (const auto* noise = std::get_if<AboveNoise>(&*options.keep))
    data.learned_threshold_sigma = noise->sigmas;
}

void detail::check_criteria(const LearnOptions& options) {
  check_enumerator(options.method, LearnOptions::Method::automatic, "LearnOptions::method");
  if (options.device.several()) invalid("learning runs on one GPU: give Device::gpu() instead of several");
  if (!options.keep || options.keep->valueless_by_exception())
    invalid("set LearnOptions::keep to Largest{k}, Energy{share} or AboveNoise{sigmas}");
  if (const auto* largest = std::get_if<Largest>(&*options.keep); largest && largest->k < 1)
    invalid(fmt::format("Largest{{{}}}: k must be at least 1", largest->k));
  if (const auto* energy = std::get_if<Energy>(&*options.keep);
      energy && !(energy->share > 0 && energy->share <= 1))
    invalid(fmt::format("Energy{{{}}}: the share must be in (0, 1]", energy->share));
  if (const auto* noise = std::get_if<AboveNoise>(&*options.keep);
      noise && !(noise->sigmas > 0 && std::isfinite(noise->sigmas)))
    invalid(
        fmt::format("AboveNoise{{{}}}: the number of standard deviations must be positive", noise->sigmas));
}

void detail::check_k(const SpectrumLayout& layout, const LearnOptions& options) {
  const std::int64_t k = largest_k(options);
  if (k <= layout.distinct()) return;
  invalid(fmt::format("k = {} exceeds the {} distinct frequencies of a {} {} signal", k, layout.distinct(),
                      layout.shape.to_string(), layout.real ? "real" : "complex"));
}

std::shared_ptr<TemplateData> detail::verified_template(std::optional<Discovery>&& discovery,
                                                        const Shape& shape, bool real,
                                                        const LearnOptions& options, std::string& why) {
  if (!discovery) return nullptr;
  if (!discovery->verified || discovery->spectrum.values.empty()) {
    throw Error(ErrorCode::not_sparse,
                fmt::format("discovery of k = {} frequencies was not verified, {}: set dense_fallback",
                            largest_k(options), discovery->reason));
  }
  why = discovery->reason;
  return from_discovery(*discovery, shape, real);
}

void detail::to_frame_units(TemplateData& data, int exponent) {
  if (exponent == 0) return;
  bool finite = true;
  const auto power = [&](double& p) {
    p = std::ldexp(p, 2 * exponent);
    finite = finite && std::isfinite(p);
  };
  for (std::complex<double>& value : data.values)
    value = {std::ldexp(value.real(), exponent), std::ldexp(value.imag(), exponent)};
  for (double& p : data.power) power(p);
  for (double& p : data.tail_envelope.power) power(p);
  for (double& p : data.change_envelope.power) power(p);
  power(data.tail_energy);
  if (!finite) invalid(kTooLarge);
}

Template learn(const SignalView& first_frame, const LearnOptions& options) {
  return learn(std::span<const SignalView>(&first_frame, 1), options);
}

Template learn(std::span<const SignalView> frames, const LearnOptions& options) {
  const detail::TraceRange range("learn");
  const auto start = std::chrono::steady_clock::now();
  check(frames, options);
  const SignalView& first = frames[0];
  std::string why = "a dense transform was requested";
  if (options.method != LearnOptions::Method::dense) {
    why.clear();
    const bool discovery = options.method == LearnOptions::Method::discovery;
    if (auto data =
            discovery ? learn_by_discovery(frames, options, why) : try_discovery(frames, options, why)) {
      keep_frame(*data, first, options.reference);
      data->learned_by_discovery = true;
      data->why_learned_so = std::move(why);
      data->learn_seconds = detail::seconds_since(start);
      detail::log_learned(*data);
      return detail::make_template(std::move(data));
    }
  }
  detail::check_k({first.shape(), !is_complex(first.type())}, options);
  detail::Learned learned = options.device.backend() == Backend::cuda ? detail::learn_on_gpu(frames, options)
                                                                      : detail::learn_on_cpu(frames, options);
  const int exponent = learned.exponent;
  const auto data = detail::to_template(std::move(learned));
  detail::to_frame_units(*data, exponent);
  keep_frame(*data, first, options.reference);
  detail::note_criterion(*data, options);
  data->why_learned_so = std::move(why);
  data->learn_seconds = detail::seconds_since(start);
  detail::log_learned(*data);
  return detail::make_template(data);
}

void detail::log_learned(const TemplateData& data) {
  log_decision("learn", [&] {
    return fmt::format("{} frequencies of {} {} {}: {}; {:.3g} ms", data.support->size(),
                       to_string(data.domain()), data.shape.to_string(),
                       data.learned_by_discovery ? "by discovery" : "by a dense transform",
                       data.why_learned_so, 1e3 * data.learn_seconds);
  });
}

void detail::check_range(const Learned& learned) {
  double all = std::accumulate(learned.tail.begin(), learned.tail.end(), 0.0);
  for (const RankedPower& element : learned.chosen) all += 2 * element.power;
  if (std::isfinite(all)) return;
  std::vector<double> sums = learned.tail;  // then the cells' sums before the selection
  const CellGrid grid(learned.layout.shape);
  for (const RankedPower& element : learned.chosen) {
    const std::int64_t f = learned.layout.linear_index(element.index);
    sums[grid.cell(coordinates(learned.layout.shape, f))] +=
        learned.layout.multiplicity(element.index) * element.power;
  }
  check_sums(sums);
}

detail::Learned detail::select_from(LearningSpectrum& spectrum, bool several, const LearnOptions& options,
                                    bool bound) {
  const std::vector<double> sums = spectrum.power_sums();
  Learned learned;
  learned.layout = spectrum.layout();
  learned.exponent = spectrum.exponent();
  learned.several = several;
  learned.chosen = select(spectrum, sums, options);
  learned.memory = MemoryShare(learned.chosen.size() * (sizeof(RankedPower) + sizeof(std::complex<double>)));
  learned.values = spectrum.first_values(learned.chosen);
  if (several) learned.change = spectrum.change_sums();
  spectrum.remove(learned.chosen);
  learned.tail = spectrum.power_sums();
  if (bound && static_cast<std::int64_t>(learned.chosen.size()) < learned.layout.distinct())
    learned.largest_outside = std::max(0.0, spectrum.power_at_rank(1));
  return learned;
}

std::shared_ptr<TemplateData> detail::to_template(Learned&& learned) {
  const SpectrumLayout& layout = learned.layout;
  auto data = std::make_shared<TemplateData>();
  data->shape = layout.shape;
  data->real = layout.real;
  auto support = std::make_shared<std::vector<std::int64_t>>();
  support->reserve(learned.chosen.size());
  data->power.reserve(learned.chosen.size());
  for (const RankedPower& element : learned.chosen) {
    support->push_back(layout.linear_index(element.index));
    data->power.push_back(element.power);
  }
  data->support = std::move(support);
  data->values = std::move(learned.values);
  data->change_measured = learned.several;
  fill_envelopes(*data, learned);
  return data;
}

}  // namespace sfft
