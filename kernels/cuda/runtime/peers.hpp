// SPDX-License-Identifier: Apache-2.0
// What GPUs of one machine are to each other.
#pragma once

#include <string>
#include <vector>

namespace sfft::detail::cuda {

/// Throws Error(backend_unavailable) unless this build's code runs on all of them.
void check_several(const std::vector<int>& devices);
/// Lets kernels of `from` load from and store into memory of `to`, for the rest of the process; a GPU always
/// reaches itself. Returns why it cannot, or nothing. Throws Error(device).
std::string reach_peer(int from, int to);
/// Whether they are joined by NVLink, rather than by the bus: then one's atomics work in the other's memory.
bool linked(int from, int to);
/// Bytes per second that the GPU's memory could give, by its clock and width; 0: the driver does not say.
double peak_memory_rate(int device);

}  // namespace sfft::detail::cuda
