// SPDX-License-Identifier: Apache-2.0
// Recordings that continue each other, as recorders cut them.
#pragma once

#include <atomic>
#include <string>
#include <vector>

namespace sfft::video {

/// Puts recordings that continue each other into one list, in order of time; others are alone, in the order
/// of the inputs. A recording continues another one if their names differ in numbers and dates alone, their
/// pictures are coded alike, and it begins where the other one ends: by their dates within 2 s, or by time
/// stamps that go on. Recordings of one name that overlap are not joined by dates. `track` as in
/// SourceOptions. What cannot be opened is alone.
std::vector<std::vector<std::string>> find_sequences(const std::vector<std::string>& inputs, int track,
                                                     const std::atomic<bool>& stop);

}  // namespace sfft::video
