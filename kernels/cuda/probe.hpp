// Whether the kernels of this build run on the current device.
#pragma once

namespace sfft::detail::cuda {

bool has_code() noexcept;

}  // namespace sfft::detail::cuda
