// SPDX-License-Identifier: Apache-2.0
// The public function; messages go through kernels/runtime/log.hpp.
#include "sfft/log.hpp"

#include <utility>

#include "kernels/runtime/log.hpp"

namespace sfft {

void set_log(LogReceiver receiver) {
  detail::Log::set(std::move(receiver));
}

}  // namespace sfft
