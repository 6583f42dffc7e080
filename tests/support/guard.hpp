// SPDX-License-Identifier: Apache-2.0
// A judge of the guard that knows what is usual.
#pragma once

#include "video/guard/judge.hpp"

namespace sfft::video {

/// Has seen an ordinary scene for twice as long as it warms up.
inline Judge experienced() {
  Judge judge({}, 100);
  Observation usual;
  usual.registration.sure = true;
  usual.registration.coherence = 0.8;
  for (int i = 0; i < 2 * frames_in(Thresholds{}.warm_up_s, Observation{}.interval_s); ++i)
    judge.learn(usual);
  return judge;
}

}  // namespace sfft::video
