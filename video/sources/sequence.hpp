// SPDX-License-Identifier: Apache-2.0
// Finds recordings that continue each other, as video recorders split them.
#pragma once

#include <atomic>
#include <string>
#include <vector>

namespace sfft::video {

/// Returns a list, in order of time, for each set of recordings that continue each other, and a list of one
/// for any other recording. The lists are in the order of the inputs. A recording continues another one if
/// their names differ only in numbers and dates, their pictures are coded alike, and it begins where the
/// other one ends: by the dates within 2 s, or by the time stamps within 0.3 s. If recordings of one name
/// overlap, their dates are ignored. `track` is as in SourceOptions. A recording that cannot be opened has a
/// list of one.
std::vector<std::vector<std::string>> find_sequences(const std::vector<std::string>& inputs, int track,
                                                     const std::atomic<bool>& stop);

}  // namespace sfft::video
