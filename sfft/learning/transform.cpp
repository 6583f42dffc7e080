// SPDX-License-Identifier: Apache-2.0
// One-shot transforms: with k by discovery, with another criterion by learning from a dense transform, and at
// a known support by a plan used once.
#include <algorithm>
#include <cmath>
#include <utility>

#include "sfft/error.hpp"
#include "sfft/learning/discover_impl.hpp"
#include "sfft/learning/learning.hpp"
#include "sfft/sfft.hpp"
#include "sfft/template_access.hpp"

namespace sfft {

Discovery transform(const SignalView& signal, const Criterion& keep, const DiscoverOptions& options) {
  if (options.k) {
    throw Error(ErrorCode::invalid_argument,
                "transform() keeps what its second argument says: leave DiscoverOptions::k out");
  }
  const LearnOptions learning{.keep = keep, .threads = options.threads};
  detail::check_criteria(learning);
  if (const std::int64_t k = detail::largest_k(learning); k > 0) {
    DiscoverOptions largest = options;
    largest.k = k;
    return discover(signal, largest);
  }
  return detail::from_dense(
      detail::learn_on_cpu({&signal, 1}, learning, true), signal.type(), Backend::cpu, options,
      "how many frequencies to keep follows from all of them: a dense transform found them");
}

Spectrum<double> transform(const SignalView& frame, const Template& tmpl, const PlanOptions& options) {
  return Plan<double>(tmpl, options).execute(frame);
}

}  // namespace sfft
