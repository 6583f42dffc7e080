// SPDX-License-Identifier: Apache-2.0
// Finds recordings that continue each other, as video recorders split them.
#pragma once

#include <atomic>
#include <string>
#include <vector>

namespace sfft::video {

/// Puts recordings that continue each other into one list, in order of time. Other recordings are alone, in
/// the order of the inputs. A recording continues another one if their names differ only in numbers and
/// dates, their pictures are coded alike, and it begins where the other one ends. Dates must then agree
/// within 2 s, or time stamps continue. Overlapping recordings of one name are not joined by dates. `track`
/// is as in SourceOptions. Recordings that cannot be opened are alone.
std::vector<std::vector<std::string>> find_sequences(const std::vector<std::string>& inputs, int track,
                                                     const std::atomic<bool>& stop);

}  // namespace sfft::video
