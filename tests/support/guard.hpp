// SPDX-License-Identifier: Apache-2.0
// Makes a judge of the guard that has already learned what is usual.
#pragma once

#include "video/guard/judge.hpp"

namespace sfft::video {

/// Returns a judge that has seen an ordinary scene for twice its warm-up time.
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
