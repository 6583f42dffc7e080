// SPDX-License-Identifier: Apache-2.0
// Finds recordings that continue each other, as video recorders split them.
#pragma once

#include <atomic>
#include <string>
#include <vector>

namespace sfft::video {

/// Returns one list, in order of time, per set of recordings that continue each other. Any other recording
/// has a list of one. The lists are in the order of the inputs. A recording continues another one if it
/// begins where the other one ends: by the dates within 2 s, or by the time stamps within 0.3 s. Their names
/// may differ only in numbers and dates, and their pictures must be coded alike. If recordings of one name
/// overlap, their dates are ignored. `track` is as in SourceOptions. A recording that cannot be opened has a
/// list of one.
std::vector<std::vector<std::string>> find_sequences(const std::vector<std::string>& inputs, int track,
                                                     const std::atomic<bool>& stop);

}  // namespace sfft::video
