// SPDX-License-Identifier: Apache-2.0
// The measurements of bench_cuda_sparse other than single transforms.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>

#include "bench/cuda/timing.hpp"
#include "bench/recording.hpp"

namespace sfft::bench {

/// Times frames in page-locked host memory, sustained: every way that the samples can cross the bus, against
/// copying whole frames and cuFFT R2C. Returns one row.
nlohmann::json time_host_frames(const Recording& recording, double max_samples);

/// How the time of staged kernels splits and what bandwidth each reaches, compared with the fused kernel. One
/// function is for one signal of N = 2^24, the other for a batch of frames.
nlohmann::json time_stages_of_signal(Timer& timer, std::int64_t points, std::int64_t k);
nlohmann::json time_stages_of_frames(Timer& timer, const Recording& recording, std::int64_t batch,
                                     double max_samples);

/// Times discovery of one exactly sparse 1D signal of complex floats in device memory, against cuFFT of the
/// same signal. The time is wall clock from the call to its answer, because rounds run on the host. Returns
/// one row.
nlohmann::json time_discovery(std::int64_t points, std::int64_t k);

/// The input-adaptive experiment of Chen and Li (LCPC 2014; ICS 2014): learns once and transforms the rest,
/// against cuFFT on every frame, in device memory, after 1, 10, 100, … frames. Plans on `threads` threads; 0
/// means one per core. Returns one row.
nlohmann::json time_adaptive(const Recording& recording, double max_samples, int threads);

/// Times every step of the preparation that time_adaptive() includes, from the frame to the first result.
/// Returns one row.
nlohmann::json time_preparation(Timer& timer, const Recording& recording, double max_samples, int threads);

/// Draws combs that planners may consider. Each row has the time per frame and the cost model's prediction.
nlohmann::json time_costs(Timer& timer, std::uint64_t seed, int count);

/// Whether `automatic` takes the faster of a comb and a dense transform, for frames in page-locked and in GPU
/// memory, one and many per call, and several k. Passes every row to `add`.
void time_choice(Timer& timer, const Recording& recording,
                 const std::function<void(const nlohmann::json&)>& add);

}  // namespace sfft::bench
