#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstring>

#include "sfft/dense.hpp"
#include "sfft/discover_impl.hpp"
#include "sfft/error.hpp"
#include "sfft/template.hpp"
#include "template/select.hpp"
#include "template/template_data.hpp"

namespace sfft {

namespace {

using detail::CellGrid;
using detail::PowerSpectrum;
using detail::TemplateData;

[[noreturn]] void invalid(const std::string& message) {
  throw Error(ErrorCode::invalid_argument, message);
}

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
  const int criteria = (options.k != 0) + (options.energy != 0) + (options.threshold_sigma != 0);
  if (criteria != 1)
    invalid("set exactly one of k, energy and threshold_sigma to say how many frequencies to keep");
  if (options.k < 0) invalid(fmt::format("k = {} must be at least 1", options.k));
  if (options.energy != 0 && !(options.energy > 0 && options.energy <= 1)) {
    invalid(fmt::format("energy = {} must be in (0, 1]", options.energy));
  }
  if (options.threshold_sigma != 0 &&
      !(options.threshold_sigma > 0 && std::isfinite(options.threshold_sigma))) {
    invalid(fmt::format("threshold_sigma = {} must be positive", options.threshold_sigma));
  }
}

void check_finite(const std::vector<std::complex<double>>& spectrum, std::size_t frame) {
  // A NaN or infinity anywhere in the frame reaches every coefficient, f = 0 included.
  if (!std::isfinite(spectrum[0].real()) || !std::isfinite(spectrum[0].imag())) {
    invalid(fmt::format("learning frame {} holds NaN or infinite samples", frame));
  }
}

/// Mean over cells of a sum accumulated in `power`; cells without members borrow the mean of all.
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

/// The change's envelope models f = 0 by its strongest neighbour: brightness drifts.
void fill_mean_cell(detail::Envelope& envelope) {
  double strongest = 0;
  for (std::size_t c = 1; c < envelope.power.size(); ++c) strongest = std::max(strongest, envelope.power[c]);
  envelope.power[0] = strongest;
}

void fill_envelopes(TemplateData& data, const PowerSpectrum& mean, const std::vector<double>& change_power,
                    const std::vector<std::int64_t>& stored) {
  const CellGrid grid(data.shape);
  const auto count = static_cast<std::int64_t>(mean.power.size());
  std::vector<char> kept(mean.power.size(), 0);
  for (const std::int64_t i : stored) kept[static_cast<std::size_t>(i)] = 1;
  std::vector<double> counts = grid.counts();
  std::vector<double> tail_counts = counts;
  data.tail_envelope.power.assign(grid.cells(), 0.0);
  data.change_envelope.power.assign(grid.cells(), 0.0);
  data.tail_energy = 0;
  double held = 0;
  const std::vector<double>& change = change_power.empty() ? mean.power : change_power;
  for (std::int64_t i = 0; i < count; ++i) {
    if (!mean.representative(i)) continue;
    const auto at = static_cast<std::size_t>(i);
    const std::size_t cell = grid.cell(detail::coordinates(data.shape, mean.flat_index(i)));
    const double weight = mean.multiplicity(i);
    if (i != 0) data.change_envelope.power[cell] += weight * change[at];
    if (kept[at]) {
      if (i != 0) held += weight * mean.power[at];
      tail_counts[cell] -= weight;
    } else {
      data.tail_envelope.power[cell] += weight * mean.power[at];
      data.tail_energy += weight * mean.power[at];
    }
  }
  const double tail_without_mean = data.tail_energy - (kept[0] ? 0 : mean.power[0]);
  const double total = held + tail_without_mean;
  data.energy_captured = total > 0 ? held / total : 1.0;
  finish(data.tail_envelope, tail_counts);
  counts[0] = 0;
  finish(data.change_envelope, counts);
  fill_mean_cell(data.change_envelope);
  data.change_measured = !change_power.empty();
}

/// A template from what was discovered, its tail white.
std::shared_ptr<TemplateData> from_discovery(const Discovery& discovery, const SignalView& frame) {
  auto data = std::make_shared<TemplateData>();
  data->shape = frame.shape();
  data->real = !is_complex(frame.type());
  data->support = discovery.support;
  data->values = discovery.values;
  double held = 0;
  double outside = static_cast<double>(frame.shape().points());
  for (std::size_t i = 0; i < discovery.values.size(); ++i) {
    const std::int64_t f = (*discovery.support)[i];
    const double power = std::norm(discovery.values[i]);
    const double multiplicity = data->real && detail::conjugate_index(data->shape, f) != f ? 2 : 1;
    data->power.push_back(power);
    outside -= multiplicity;
    if (f != 0) held += multiplicity * power;
  }
  data->tail_energy = discovery.tail_energy;
  const double total = held + data->tail_energy;
  data->energy_captured = total > 0 ? held / total : 1.0;
  const CellGrid grid(data->shape);
  const double level = data->tail_energy / std::max(1.0, outside);
  data->tail_envelope.power.assign(grid.cells(), level);
  data->change_envelope.power.assign(grid.cells(),
                                     level + held / static_cast<double>(frame.shape().points()));
  return data;
}

/// Null where a dense transform has to learn.
std::shared_ptr<TemplateData> learn_blindly(std::span<const SignalView> frames, const LearnOptions& options) {
  if (options.k == 0)
    invalid("learning blindly needs k: a share of the energy or a noise floor needs a dense transform");
  if (frames.size() > 1) invalid("learning blindly takes one frame: means of several need dense transforms");
  std::string why;
  const auto discovery = detail::discover_or_explain(
      frames[0], {.k = options.k, .fallback = options.fallback, .seed = options.seed}, why);
  if (!discovery) return nullptr;
  if (!discovery->verified || discovery->values.empty()) {
    throw Error(ErrorCode::not_sparse,
                fmt::format("discovery of k = {} frequencies was not verified, {}: allow Fallback::dense",
                            options.k, discovery->reason));
  }
  return from_discovery(*discovery, frames[0]);
}

void keep_reference(TemplateData& data, const SignalView& frame) {
  data.reference_type = frame.type();
  data.reference.resize(frame.bytes());
  std::memcpy(data.reference.data(), frame.data(), frame.bytes());
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Template learn(const SignalView& first_frame, const LearnOptions& options) {
  return learn(std::span<const SignalView>(&first_frame, 1), options);
}

Template learn(std::span<const SignalView> frames, const LearnOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  check(frames, options);
  const SignalView& first = frames[0];
  if (options.method == LearnMethod::blind) {
    if (auto data = learn_blindly(frames, options)) {
      if (options.reference) keep_reference(*data, first);
      data->learn_seconds = seconds_since(start);
      return Template(std::move(data));
    }
  }
  const bool real = !is_complex(first.type());
  const dense::Plan<double> dense(first.shape(), real, {.threads = options.threads});
  PowerSpectrum mean{first.shape(), real, std::vector<double>(dense.spectrum_points(), 0.0)};
  if (options.k > mean.distinct()) {
    invalid(fmt::format("k = {} exceeds the {} distinct frequencies of a {} {} signal", options.k,
                        mean.distinct(), first.shape().to_string(), real ? "real" : "complex"));
  }

  std::vector<std::complex<double>> spectrum(dense.spectrum_points());
  dense.forward(first, spectrum);
  check_finite(spectrum, 0);
  const std::vector<std::complex<double>> first_spectrum = spectrum;
  for (std::size_t i = 0; i < spectrum.size(); ++i) mean.power[i] = std::norm(spectrum[i]);
  std::vector<double> change;
  if (frames.size() > 1) change.assign(spectrum.size(), 0.0);
  const double share = 1.0 / static_cast<double>(frames.size());
  for (std::size_t t = 1; t < frames.size(); ++t) {
    dense.forward(frames[t], spectrum);
    check_finite(spectrum, t);
    for (std::size_t i = 0; i < spectrum.size(); ++i) {
      mean.power[i] += std::norm(spectrum[i]);
      change[i] += std::norm(spectrum[i] - first_spectrum[i]) / static_cast<double>(frames.size() - 1);
    }
  }
  for (double& p : mean.power) p *= share;
  if (options.k == 0 && !(total_energy(mean) > 0) && !(mean.power[0] > 0)) {
    invalid("an all-zero frame has no energy to keep a share of: give k instead");
  }

  const std::vector<std::int64_t> stored = options.k > 0 ? select_largest(mean, options.k)
                                           : options.energy > 0
                                               ? select_energy(mean, options.energy)
                                               : select_threshold(mean, options.threshold_sigma);
  if (stored.empty()) {
    invalid(fmt::format(
        "no frequency is above {} standard deviations of the noise floor: lower threshold_sigma or "
        "give k",
        options.threshold_sigma));
  }
  auto data = std::make_shared<TemplateData>();
  data->shape = first.shape();
  data->real = real;
  auto support = std::make_shared<std::vector<std::int64_t>>();
  for (const std::int64_t i : stored) {
    support->push_back(mean.flat_index(i));
    data->values.push_back(first_spectrum[static_cast<std::size_t>(i)]);
    data->power.push_back(mean.power[static_cast<std::size_t>(i)]);
  }
  data->support = std::move(support);
  fill_envelopes(*data, mean, change, stored);
  if (options.reference) keep_reference(*data, first);
  data->learn_seconds = seconds_since(start);
  return Template(std::move(data));
}

}  // namespace sfft
