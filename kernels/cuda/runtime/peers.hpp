// SPDX-License-Identifier: Apache-2.0
// Peer access and links between the GPUs of one machine.
#pragma once

#include <string>
#include <vector>

namespace sfft::detail::cuda {

/// Throws Error(backend_unavailable) unless this build's code runs on all of them.
void check_several(const std::vector<int>& devices);
/// Lets kernels of `from` access memory of `to`, until the process ends; a GPU can always access its own
/// memory. Returns the reason if access is impossible, else an empty string. Throws Error(device).
std::string enable_peer_access(int from, int to);
/// Whether NVLink rather than the bus connects them: atomics of one GPU then work in the other's memory.
bool linked(int from, int to);
/// Peak bytes per second of the GPU's memory, from its clock and width; 0: the driver does not say.
double peak_memory_rate(int device);

}  // namespace sfft::detail::cuda
