// SPDX-License-Identifier: Apache-2.0
// How the GPUs of one machine reach each other.
#pragma once

#include <string>
#include <vector>

namespace sfft::detail::cuda {

/// Throws Error(backend_unavailable) unless this build's code runs on all of them.
void check_several(const std::vector<int>& devices);
/// Lets kernels of `from` access memory of `to`, until the process ends; a GPU always reaches itself. Returns
/// why it cannot, or an empty string. Throws Error(device).
std::string reach_peer(int from, int to);
/// Whether NVLink, not the bus, joins them: atomics of one then work in the other's memory.
bool linked(int from, int to);
/// Peak bytes per second of the GPU's memory, from its clock and width; 0: the driver does not say.
double peak_memory_rate(int device);

}  // namespace sfft::detail::cuda
