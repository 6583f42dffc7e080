// SPDX-License-Identifier: Apache-2.0
// Messages about what the library decides.
#pragma once

#include <functional>
#include <string_view>

#include "sfft/export.hpp"

namespace sfft {

/// Receives a message for people, such as "complex 4096, f32: built_in; no wisdom for this transform", and
/// its topic: "plan", "learn", "discovery", "tracker", "dense" or "wisdom". Called on the thread that
/// decides, which may be one that a Tracker has started, and by one thread at a time. The texts are valid
/// during the call. An exception that it throws is discarded.
using LogReceiver = std::function<void(std::string_view topic, std::string_view message)>;

/// From now on `receiver` receives the messages of the process; an empty one ends them. It may be set at any
/// time and from any thread. When this returns, the previous receiver is not running and will not be called
/// again. Threads wait for the receiver, so it should be quick. It must not wait for threads that use the
/// library, and so must not plan or use a Tracker. Calls of the library that it makes itself are not logged.
/// Without a receiver, which is the default, a message costs one comparison. Throws invalid_argument if a
/// receiver calls it.
///   sfft::set_log([](std::string_view topic, std::string_view message) {
///     std::cerr << "sfft " << topic << ": " << message << '\n';
///   });
SFFT_EXPORT void set_log(LogReceiver receiver);

}  // namespace sfft
