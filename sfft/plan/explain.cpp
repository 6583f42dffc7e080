// SPDX-License-Identifier: Apache-2.0
// Plan::explain(): says in a few lines what was chosen and why.
#include <fmt/format.h>

#include "sfft/plan/plan_impl.hpp"

namespace sfft::detail {

std::string explain(const PlanInfo& info, const Template& source) {
  std::string text = fmt::format("path       {} on the {}: {}\n", to_string(info.path),
                                 to_string(info.backend), info.reason);
  text += fmt::format("signal     {} {}, k = {}{}\n", source.shape().to_string(), to_string(source.domain()),
                      source.k(), info.reference ? ", as the difference to a reference frame" : "");
  if (info.path == Path::comb || info.path == Path::flat_window) {
    const bool comb = info.path == Path::comb;
    std::string grid = fmt::format("{}", info.buckets[0]);
    for (int d = 1; d < source.shape().rank(); ++d)
      grid += fmt::format("x{}", info.buckets[static_cast<std::size_t>(d)]);
    text += fmt::format("buckets    {} ({})\n", comb ? grid : fmt::format("{}", info.bucket_count),
                        info.bucket_count);
    text += fmt::format("{:<10} {}\n", comb ? "delays" : "lines", info.delays);
    text +=
        fmt::format("samples    {} ({:.3g} % of the frame){}\n", info.samples, 100 * info.samples_fraction,
                    info.witness_samples > 0 ? fmt::format(", {} of them a witness", info.witness_samples)
                                             : ", no witness");
    text += fmt::format(
        "bursts     of {} samples or more ({:.2g} % of the frame) are missed with at most {:.2g}\n",
        info.shortest_burst,
        100 * static_cast<double>(info.shortest_burst) / static_cast<double>(source.shape().points()),
        info.burst_miss);
    text += fmt::format("error      {:.3g} predicted{}, noise gain at most {:.3g}\n", info.predicted_error,
                        info.reference ? " of the change since the reference" : "", info.noise_gain);
  }
  text += fmt::format("time       {:.1f} us predicted, dense {:.1f} us; planned in {:.1f} ms\n",
                      info.predicted_us, info.predicted_dense_us, 1e3 * info.plan_seconds);
  text += fmt::format("engine     {}\n", info.engine);
  if (info.kept) text += "kept       taken from the template, without a search\n";
  if (!info.kept_note.empty())
    text += fmt::format("kept       the template's plan is not used: {}\n", info.kept_note);
  for (const PlanInfo::Rejected& other : info.rejected) {
    text += fmt::format("rejected   {}: {}\n", other.description, other.reason);
  }
  return text;
}

}  // namespace sfft::detail
