// SPDX-License-Identifier: Apache-2.0
// Takes a dense spectrum like learn(), with a given selection.
#include "sfft/learn_at.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "kernels/runtime/elapsed.hpp"
#include "kernels/runtime/trace.hpp"
#include "sfft/error.hpp"
#include "sfft/learning/learning.hpp"
#include "sfft/template_access.hpp"
#include "template/data/template_data.hpp"

namespace sfft {

namespace {

/// The stored element that represents a frequency or its conjugate.
std::int64_t stored_element(const detail::SpectrumLayout& layout, std::int64_t flat) {
  const std::int64_t last = layout.shape[layout.shape.rank() - 1];
  const auto element = [&](std::int64_t f) { return f / last * layout.row_points() + f % last; };
  if (!layout.real) return element(flat);
  const std::int64_t conjugate = detail::conjugate_index(layout.shape, flat);
  if (flat % last >= layout.row_points()) return element(conjugate);
  if (conjugate % last >= layout.row_points()) return element(flat);
  return element(std::min(flat, conjugate));
}

}  // namespace

Template learn_at(const SignalView& frame, std::span<const std::int64_t> support, int threads) {
  const detail::TraceRange range("learn_at");
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::int64_t> sorted(support.begin(), support.end());
  std::ranges::sort(sorted);
  detail::check_support(frame.shape(), !is_complex(frame.type()), sorted);
  const auto spectrum = detail::stored_spectrum({&frame, 1}, threads);
  detail::Learned learned;
  learned.layout = spectrum->layout();
  learned.exponent = spectrum->exponent();
  for (const std::int64_t f : sorted) learned.chosen.push_back({stored_element(learned.layout, f), 0.0});
  std::ranges::sort(learned.chosen, {}, &detail::RankedPower::index);
  learned.values = spectrum->first_values(learned.chosen);
  for (std::size_t i = 0; i < learned.values.size(); ++i)
    learned.chosen[i].power = std::norm(learned.values[i]);
  spectrum->remove(learned.chosen);
  learned.tail = spectrum->power_sums();
  const int exponent = learned.exponent;
  const auto data = detail::to_template(std::move(learned));
  detail::to_frame_units(*data, exponent);
  data->reference_type = frame.type();
  data->why_learned_so = "its frequencies were given";
  data->learn_seconds = detail::seconds_since(start);
  detail::log_learned(*data);
  return detail::make_template(data);
}

}  // namespace sfft
