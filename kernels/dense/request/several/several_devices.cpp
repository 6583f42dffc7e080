// SPDX-License-Identifier: Apache-2.0
// Uses the first devices of the list: for a batch as many as get a signal, for one transform in slabs the
// number that is predicted to be fastest. A list that names a device twice is a test; its slabs use all
// devices that get one.
#include "kernels/dense/request/several/several_devices.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "kernels/cuda/runtime/peers.hpp"
#include "kernels/dense/slabs/slab_grid.hpp"
#include "kernels/dense/wisdom/wisdom.hpp"

namespace sfft::detail {

namespace {

/// The fraction of a memory's nominal rate (clock times width) that copies achieve.
constexpr double kMemoryEfficiency = 0.85;

/// Collects the slowest rates and their causes.
SlabRates rates_of(const std::vector<int>& devices, dense::Storage exchange,
                   std::vector<std::string>& notes) {
  SlabRates rates;
  if (exchange == dense::Storage::block16) rates.sent_fraction = 0.5 * (1 + 1.0 / 64);
  rates.link = SlabLink::memory;
  double min = 0;
  for (const int device : devices) {
    const double rate = kMemoryEfficiency * cuda::peak_memory_rate(device);
    if (rate > 0 && (min == 0 || rate < min)) min = rate;
  }
  if (min > 0) rates.memory_rate = min;
  for (const int from : devices) {
    for (const int to : devices) {
      if (from == to) continue;
      const std::string why = cuda::enable_peer_access(from, to);
      const SlabLink link = !why.empty()             ? SlabLink::staged
                            : cuda::linked(from, to) ? SlabLink::nvlink
                                                     : SlabLink::bus;
      if (!why.empty()) notes.push_back(why + ": copies pass through page-locked memory of the host");
      rates.link = std::max(rates.link, link);
    }
  }
  return rates;
}

std::vector<std::string> notes_on(const std::vector<int>& devices) {
  std::vector<std::string> notes;
  const std::set<int> different(devices.begin(), devices.end());
  if (different.size() < devices.size()) {
    notes.push_back(fmt::format("{} places share {} GPU{}: good for tests, and slower than naming each once",
                                devices.size(), different.size(), different.size() == 1 ? "" : "s"));
  }
  std::set<std::string> names;
  for (const int device : different) names.insert(cuda::device_info(device).name);
  if (names.size() > 1) {
    std::string all;
    for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
    notes.push_back(fmt::format("the GPUs differ ({}): shares are equal, so the slowest sets the pace", all));
  }
  return notes;
}

/// Whether the first `count` devices have room for their slabs; a device named several times needs room for
/// each.
template <class Real>
bool fits(const DenseProblem& problem, const std::vector<int>& devices, int count) {
  std::map<int, double> bytes;
  for (int d = 0; d < count; ++d)
    bytes[devices[static_cast<std::size_t>(d)]] +=
        slab_memory_bytes(problem.shape, problem.real, sizeof(std::complex<Real>), count);
  return std::all_of(bytes.begin(), bytes.end(), [](const auto& of) {
    return of.second <= static_cast<double>(cuda::device_info(of.first).memory_bytes);
  });
}

/// The measured time of the transform on one device, if the engine is automatic.
template <class Real>
std::optional<double> measured_alone_us(const DenseRequest& request, int device) {
  if (request.options.engine != dense::Engine::automatic) return std::nullopt;
  const auto known = Wisdom::global().find(gpu_platform(device), wisdom_problem<Real>(request.problem),
                                           Wisdom::Batch::exact);
  return known ? std::optional(known->us) : std::nullopt;
}

void keep_first(ChosenDevices& chosen, int count, const std::string& why) {
  if (static_cast<std::size_t>(count) >= chosen.devices.size()) return;
  chosen.reason = fmt::format("{} of {} devices: {}", count, chosen.devices.size(), why);
  chosen.devices.resize(static_cast<std::size_t>(count));
}

template <class Real>
void choose_for_slabs(const DenseRequest& request, ChosenDevices& chosen, bool all) {
  const DenseProblem& problem = request.problem;
  keep_first(chosen, SlabGrid::max_devices(problem.shape, problem.real), "others would have no slab");
  std::vector<SlabChoice> choices;
  const auto named = static_cast<int>(chosen.devices.size());
  for (int count = all ? named : 1; count <= named; ++count) {
    choices.push_back(
        {count, fits<Real>(problem, chosen.devices, count),
         predict_slabs(problem.shape, problem.real, sizeof(std::complex<Real>), count, chosen.rates)});
  }
  const auto alone_us = all ? std::nullopt : measured_alone_us<Real>(request, chosen.devices[0]);
  if (alone_us) choices[0].times = measured_alone(*alone_us);
  const SlabChoice* best = fastest_choice(choices);
  if (best == nullptr) {
    throw Error(
        ErrorCode::out_of_memory,
        fmt::format("a transform of {} needs {:.0f} bytes on each of {} devices, with GPU {} having {}: "
                    "name more GPUs",
                    problem.shape.to_string(),
                    slab_memory_bytes(problem.shape, problem.real, sizeof(std::complex<Real>), named), named,
                    chosen.devices[0], cuda::device_info(chosen.devices[0]).memory_bytes));
  }
  const SlabChoice& max = choices.back();
  keep_first(chosen, best->devices,
             max.fits ? fmt::format("{} to take {:.3g} us, {} would take {:.3g}",
                                    best->devices == 1 && alone_us ? "measured" : "predicted",
                                    best->times.total_us, max.devices, max.times.total_us)
                      : "the slabs of more would not fit");
}

}  // namespace

template <class Real>
ChosenDevices choose_devices(const DenseRequest& request) {
  const DenseProblem& problem = request.problem;
  const std::span<const int> gpus = request.options.device.gpus();
  ChosenDevices chosen{{gpus.begin(), gpus.end()}, {}, {}, {}};
  cuda::check_several(chosen.devices);
  chosen.notes = notes_on(chosen.devices);
  const bool repeated =
      std::set<int>(chosen.devices.begin(), chosen.devices.end()).size() < chosen.devices.size();
  if (problem.batch > 1) {
    keep_first(chosen, static_cast<int>(std::min<std::int64_t>(problem.batch, 1 << 20)),
               "there are no more signals");
    if (chosen.reason.empty())
      chosen.reason = fmt::format("{} devices share {} signals", chosen.devices.size(), problem.batch);
    return chosen;
  }
  if (chosen.devices.size() == 1) {
    chosen.reason = fmt::format("only GPU {}, as requested", chosen.devices[0]);
    return chosen;
  }
  if (problem.shape.rank() == 1) {
    throw Error(ErrorCode::backend_unavailable,
                "one transform of one dimension is not shared by several GPUs: set Options::device to "
                "Device::gpu(), or plan a "
                "batch");
  }
  if (!problem.contiguous()) {
    throw Error(ErrorCode::backend_unavailable,
                "one transform in slabs takes contiguous signals: leave the strides at 0, or set "
                "Options::device to Device::gpu()");
  }
  chosen.rates = rates_of(chosen.devices, request.options.exchange, chosen.notes);
  choose_for_slabs<Real>(request, chosen, repeated);
  if (chosen.reason.empty())
    chosen.reason = fmt::format("one transform in slabs on {} devices", chosen.devices.size());
  return chosen;
}

template ChosenDevices choose_devices<float>(const DenseRequest&);
template ChosenDevices choose_devices<double>(const DenseRequest&);

}  // namespace sfft::detail
