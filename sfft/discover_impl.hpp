// Behind sfft::discover: what learn() shares with it.
#pragma once

#include <optional>
#include <string>

#include "sfft/discover.hpp"

namespace sfft::detail {

/// Checks the options and discovers. Nothing where a dense transform is called for, with the reason in `why`:
/// always when discovery did not pay or was not verified, unless options.fallback is none.
std::optional<Discovery> discover_or_explain(const SignalView& signal, const DiscoverOptions& options,
                                             std::string& why);

}  // namespace sfft::detail
