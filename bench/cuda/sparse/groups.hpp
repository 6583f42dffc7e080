// SPDX-License-Identifier: Apache-2.0
// The measurements of bench_cuda_sparse other than single transforms.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>

#include "bench/cuda/timing.hpp"
#include "bench/recording.hpp"

namespace sfft::bench {

/// Frames in page-locked host memory, sustained: every way the samples can cross the bus, against copying
/// whole frames and cuFFT R2C. One row.
nlohmann::json time_host_frames(const Recording& recording, double max_samples);

/// How the time of staged kernels splits and what bandwidth each reaches, compared with the fused kernel: for
/// one signal of N = 2^24, and for a batch of frames.
nlohmann::json time_stages_of_signal(Timer& timer, std::int64_t points, std::int64_t k);
nlohmann::json time_stages_of_frames(Timer& timer, const Recording& recording, std::int64_t batch,
                                     double max_samples);

/// Discovery of one exactly sparse 1D signal of complex floats in device memory, against cuFFT of the
/// same signal. Wall clock from the call to its answer, because rounds run on the host. One row.
nlohmann::json time_discovery(std::int64_t points, std::int64_t k);

/// The input-adaptive experiment of Chen and Li (LCPC 2014; ICS 2014): learning once and transforming the
/// rest, against cuFFT on every frame, in device memory, after 1, 10, 100, … frames. One row. `threads` plan;
/// 0: one per core.
nlohmann::json time_adaptive(const Recording& recording, double max_samples, int threads);

/// Every step of the preparation that time_adaptive() counts, from the frame to the first result. One row.
nlohmann::json time_preparation(Timer& timer, const Recording& recording, double max_samples, int threads);

/// Combs drawn from those that planners consider, one row each: their time per frame, and the cost
/// model's prediction.
nlohmann::json time_costs(Timer& timer, std::uint64_t seed, int count);

/// Whether automatic takes the faster of a comb and a dense transform: frames in page-locked and in GPU
/// memory, one and many per call, for several k. Gives every row to `add`.
void time_choice(Timer& timer, const Recording& recording,
                 const std::function<void(const nlohmann::json&)>& add);

}  // namespace sfft::bench
