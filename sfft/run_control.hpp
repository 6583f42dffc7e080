// SPDX-License-Identifier: Apache-2.0
// Progress of long calls, how to stop them, and a limit for their memory.
#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>

#include "sfft/export.hpp"

namespace sfft {

/// Receives the stage of a long call ("planning: delays"; a text for people, in static storage) and the share
/// of the stage that is done, from 0 to 1. Called on the thread of the call, at most every 50 ms, and not
/// while that thread waits for others. Must not use objects that the call uses. Returns false to stop the
/// call. An exception that it throws also stops the call, and reaches the caller of run_with_control().
using ProgressReport = std::function<bool(const char* stage, double share)>;

/// Calls work(), in which the calls of this library on this thread report their progress and can be stopped:
/// learning, planning, discovery, dense transforms on the CPU and out of core, frames, and what a Tracker
/// does in push(). Throws what work() throws.
///
/// A stop may be requested on any thread. The call in progress then ends, usually within 100 ms
/// (docs/run-control.md has what was measured, and the exceptions), and run_with_control() throws
/// Error(ErrorCode::stopped). Inside work(), the exception is not derived from std::exception, and a
/// `catch (...)` must rethrow it. Afterwards plans, templates, trackers and workspaces are as after any other
/// exception; the arrays that a stopped call was writing have unspecified values. A call that is nearly done
/// may still return its result; then the next one stops.
///
/// Not stopped: kernels that run on a GPU and the host's work for them, compilation of a kernel, the engine
/// `fftw`, transforms over MPI, threads that a Tracker has started. Calls may be nested; the innermost
/// counts.
///   std::stop_source source;
///   sfft::run_with_control(source.get_token(), {}, [&] { found = sfft::discover(signal); });
SFFT_EXPORT void run_with_control(const std::stop_token& stop, const ProgressReport& progress,
                                  const std::function<void()>& work);

/// Calls work(), in which the calls of this library on this thread hold at most `bytes` of host memory at the
/// same time in arrays that grow with the signal or the number of frequencies: spectra, workspaces, reference
/// frames, copies, tables of plans. A call that needs more throws Error(ErrorCode::out_of_memory), which
/// names the bytes needed and the limit, before it allocates them. Throws what work() throws.
///
/// What plans, templates, trackers and workspaces made in work() hold counts until they are destroyed, and so
/// does what a Tracker's threads hold for frames that were pushed in work(). Small objects and results do not
/// count: allow 8 MiB, and 64 bytes per frequency of a result (docs/run-control.md). Neither do arrays of the
/// caller and memory of GPUs (dense::Options::device_memory limits that). Limits may be nested; the innermost
/// counts.
///   sfft::run_with_memory_limit(std::size_t{1} << 30, [&] { tmpl = sfft::learn(signal, options); });
SFFT_EXPORT void run_with_memory_limit(std::size_t bytes, const std::function<void()>& work);

}  // namespace sfft
