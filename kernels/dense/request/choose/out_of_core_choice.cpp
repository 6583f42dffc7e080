// SPDX-License-Identifier: Apache-2.0
// Decides whether a transform exceeds the memory of its GPUs, and keeps measured shares in wisdom.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <sstream>
#include <string_view>

#include "kernels/dense/out_of_core/real_fft.hpp"
#include "kernels/dense/request/runner.hpp"
#include "kernels/dense/slabs/slab_grid.hpp"
#include "kernels/dense/slabs/slab_model.hpp"
#include "kernels/dense/wisdom/wisdom.hpp"

namespace sfft::detail {

namespace {

/// Bytes of signal and spectrum.
template <class Real>
double bytes_of_arrays(const DenseProblem& problem) {
  const double sample = problem.real ? sizeof(Real) : sizeof(std::complex<Real>);
  return static_cast<double>(span_points(problem)) * sample +
         static_cast<double>(total_spectrum_points(problem)) * sizeof(std::complex<Real>);
}

/// Supports contiguous signals, and real ones whose rows have room for half spectra.
bool works(const DenseProblem& problem) {
  return problem.contiguous() || padded_for_spectrum(problem);
}

/// Row pitch of real signals that are not contiguous.
std::int64_t row_pitch(const DenseProblem& problem) {
  return problem.contiguous() ? problem.row_points() : 2 * (problem.row_points() / 2 + 1);
}

template <class Real>
std::unique_ptr<OutOfCorePlan> make_plan(const DenseProblem& problem, OutOfCoreDevices devices,
                                         const OutOfCoreOptions& options) {
  if (problem.real)
    return std::make_unique<OutOfCoreRealFft<Real>>(problem.shape, problem.batch, row_pitch(problem), devices,
                                                    options);
  return std::make_unique<OutOfCoreFft>(OutOfCoreGrid(problem.shape, problem.batch),
                                        sizeof(std::complex<Real>), std::move(devices), options);
}

/// The GPUs that share the array. Each entry of the list of devices is a place. The list may name a GPU
/// several times; its places then share its memory.
struct Places {
  std::vector<int> devices;
  std::int64_t max_of_one = 1;  ///< maximum number of places of one GPU

  explicit Places(const DenseRequest& request)
      : devices(request.options.device.gpus().begin(), request.options.device.gpus().end()) {
    if (devices.empty()) devices.push_back(request.problem.device);
    std::map<int, std::int64_t> of;
    for (const int device : devices) max_of_one = std::max(max_of_one, ++of[device]);
  }
  bool several() const noexcept { return devices.size() > 1; }
  bool usable() const { return std::all_of(devices.begin(), devices.end(), gpu_usable); }
};

/// Whether signal and spectrum fit, given the memory of each place: in one GPU, or in slabs on as many places
/// as can have one. Planning in GPU memory reports more precisely what workspaces lack.
template <class Real>
bool fits_memory(const DenseProblem& problem, const Places& places, std::int64_t memory) {
  const auto place = static_cast<double>(memory);
  if (!places.several() || problem.batch > 1 || problem.shape.rank() == 1)
    return bytes_of_arrays<Real>(problem) <= place;
  const int slabs =
      std::min(SlabGrid::max_devices(problem.shape, problem.real), static_cast<int>(places.devices.size()));
  return slab_memory_bytes(problem.shape, problem.real, sizeof(std::complex<Real>), slabs) <= place;
}

/// The wisdom key: measurements are valid for one budget and one number of threads.
template <class Real>
WisdomProblem wisdom_key(const DenseRequest& request) {
  WisdomProblem key = wisdom_problem<Real>(request.problem);
  key.transform +=
      fmt::format(" out-of-core {} bytes {} threads{}", request.options.device_memory.value_or(0),
                  thread_count(request.options), exchanges_packed<Real>(request) ? " block16" : "");
  if (request.options.device.several())
    key.transform += fmt::format(" {} GPUs", request.options.device.gpus().size());
  return key;
}

/// Parses "host_shares=0.1000,0.2500", one share per step. Empty for any other text.
std::vector<double> shares_of(const std::string& text) {
  constexpr std::string_view kName = "host_shares=";
  std::vector<double> shares;
  if (text.compare(0, kName.size(), kName) != 0) return shares;
  std::istringstream words(text.substr(kName.size()));
  for (std::string word; std::getline(words, word, ',');) {
    double share = -1;
    if (std::sscanf(word.c_str(), "%lf", &share) != 1 || !(share >= 0 && share <= 1)) return {};
    shares.push_back(share);
  }
  return shares;
}

/// Partitions the rounds by a measurement, either new or from wisdom, and returns the reason.
template <class Real>
std::string choose_shares(OutOfCorePlan& fft, const DenseRequest& request, const WisdomPlatform& platform) {
  const WisdomProblem key = wisdom_key<Real>(request);
  if (request.options.planning == dense::Options::Planning::measure) {
    fft.measure();
    if (request.options.host_share) return "the host's share was requested";
    std::string shares;
    for (const double share : fft.host_shares())
      shares += fmt::format("{}{:.4f}", shares.empty() ? "host_shares=" : ",", share);
    double us = 0;
    for (const RoundTimes& times : fft.predicted()) us += times.us;
    Wisdom::global().add(platform, key, {dense::to_string(dense::Engine::cufft), shares, us});
    return "the host's shares were measured";
  }
  if (request.options.host_share) return "the host's share was requested";
  if (const auto known = Wisdom::global().find(platform, key, Wisdom::Batch::exact)) {
    const std::vector<double> shares = shares_of(known->kernel);
    if (!shares.empty() && shares.size() == fft.host_shares().size()) {
      fft.set_host_shares(shares);
      return "wisdom: the host's shares were measured before";
    }
  }
  return "the host's shares follow from assumed rates; planning = measure finds out";
}

/// Arrays stay in host memory and pass through the GPUs in pieces.
template <class Real>
class OutOfCoreRunner final : public Runner<FullCall> {
 public:
  OutOfCoreRunner(std::unique_ptr<const OutOfCorePlan> fft, const DenseRequest& request)
      : fft_(std::move(fft)), type_(own_type<Real>(request.problem)), scales_(request.scales) {}

  std::size_t workspace_bytes() const noexcept override {
    return static_cast<std::size_t>(fft_->workspace_bytes());
  }
  /// Throws Error(type_mismatch) for elements other than those of the plan.
  void run(const FullCall& call) const override {
    if (call.direction == Direction::inverse)
      return fft_->inverse(call.from, call.to, static_cast<Real>(scales_.inverse), call.workspace);
    if (call.type != type_) {
      throw Error(ErrorCode::type_mismatch,
                  fmt::format("a transform that exceeds the GPU reads {} values: convert the {} signal first",
                              to_string(type_), to_string(call.type)));
    }
    fft_->forward(call.from, call.to, static_cast<Real>(scales_.forward), call.workspace);
  }
  bool on_gpu() const noexcept override { return false; }
  bool real_in_place() const noexcept override { return true; }
  std::string name() const override { return fft_->name(); }
  std::string explain() const override { return fft_->explain(); }

 private:
  std::unique_ptr<const OutOfCorePlan> fft_;
  ElementType type_;
  DenseScales scales_;
};

}  // namespace

template <class Real>
std::optional<Choice<FullCall>> choose_out_of_core(const DenseRequest& request) {
  const dense::Options& options = request.options;
  const bool host_alone = options.host_share.value_or(0) >= 1;
  const Places places(request);
  OutOfCoreDevices devices;
  OutOfCoreOptions device_options{static_cast<std::int64_t>(options.device_memory.value_or(0)),
                                  options.host_share.value_or(-1), thread_count(options)};
  device_options.packed = exchanges_packed<Real>(request);
  if (!host_alone) {
    const bool asked = options.host_share || options.device_memory;
    if (!options.host_share && options.device_memory &&
        fits_memory<Real>(request.problem, places, device_options.device_memory / places.max_of_one))
      return std::nullopt;
    // Planning in GPU memory reports more precisely what is missing.
    if (!asked && (!works(request.problem) || !places.usable())) return std::nullopt;
    for (const int device : places.devices)
      devices.push_back(make_gpu_device(device, sizeof(std::complex<Real>)));
    std::int64_t memory = devices[0]->memory_bytes(), free = devices[0]->free_bytes();
    for (const auto& device : devices) {
      memory = std::min(memory, device->memory_bytes() / places.max_of_one);
      free = std::min(free, device->free_bytes());
    }
    // This compares total memory, not free memory, because the arrays of enqueued calls may already be
    // allocated. Batches of signals that fit go through a GPU in parts, from any element type.
    const DenseProblem one = contiguous_problem(request.problem, 1);
    if (!asked && (fits_memory<Real>(request.problem, places, memory) ||
                   (request.problem.batch > 1 && bytes_of_arrays<Real>(one) <= static_cast<double>(memory))))
      return std::nullopt;
    if (places.max_of_one > 1)
      device_options.device_memory =
          (options.device_memory ? device_options.device_memory : free / 10 * 9) / places.max_of_one;
  }
  if (!works(request.problem)) {
    throw Error(
        ErrorCode::backend_unavailable,
        fmt::format(
            "{} goes through the GPU in pieces only if its signals are contiguous, or real in rows that "
            "have room for half spectra: change that, or raise device_memory and leave host_share "
            "out",
            wisdom_problem<Real>(request.problem).transform));
  }
  auto fft = make_plan<Real>(request.problem, std::move(devices), device_options);
  std::string reason = "the host does everything, as requested";
  if (!host_alone) {
    reason = fmt::format("the transform exceeds the memory of {}: {}",
                         places.several() ? fmt::format("{} GPUs", places.devices.size()) : "the GPU",
                         choose_shares<Real>(*fft, request, gpu_platform(places.devices[0])));
  }
  return Choice<FullCall>{std::make_unique<const OutOfCoreRunner<Real>>(std::move(fft), request),
                          host_alone ? dense::Engine::built_in : dense::Engine::cufft, std::move(reason)};
}

template std::optional<Choice<FullCall>> choose_out_of_core<float>(const DenseRequest&);
template std::optional<Choice<FullCall>> choose_out_of_core<double>(const DenseRequest&);

}  // namespace sfft::detail
