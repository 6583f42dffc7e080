// SPDX-License-Identifier: Apache-2.0
// Checks the options of a plan and chooses its backend.
#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <utility>

#include "kernels/runtime/argument_checks.hpp"
#include "kernels/runtime/log.hpp"
#include "sfft/error.hpp"
#include "sfft/plan/device_memory.hpp"
#include "sfft/plan/plan_impl.hpp"
#include "sfft/template_access.hpp"
#include "template/data/template_data.hpp"

namespace sfft::detail {

namespace {

void check(const Template& tmpl, const PlanOptions& options) {
  const auto invalid = [](const std::string& message) { throw Error(ErrorCode::invalid_argument, message); };
  check_enumerator(options.path, Path::dense, "PlanOptions::path");
  check_enumerator(options.witness, PlanOptions::Witness::none, "PlanOptions::witness");
  check_enumerator(options.effort, PlanEffort::thorough, "PlanOptions::effort");
  check_enumerator(options.transfer, PlanOptions::Transfer::rows, "PlanOptions::transfer");
  if (options.compiled_for)
    check_enumerator(*options.compiled_for, ElementType::cu8, "PlanOptions::compiled_for");
  if (!(options.accuracy >= 0) || !std::isfinite(options.accuracy)) {
    invalid(fmt::format("accuracy = {} must be 0 or a positive relative error", options.accuracy));
  }
  if (options.max_samples && !(*options.max_samples > 0 && *options.max_samples <= 1)) {
    invalid(fmt::format("max_samples = {} must be a share of the frame in (0, 1]: leave it out for automatic",
                        *options.max_samples));
  }
  if (!(options.burst >= 0 && options.burst < 1)) {
    invalid(
        fmt::format("burst = {} must be a share of the frame in (0, 1), or 0 for what the plan sees anyway",
                    options.burst));
  }
  if (!(options.burst_miss > 0 && options.burst_miss < 1))
    invalid(fmt::format("burst_miss = {} must be a probability in (0, 1)", options.burst_miss));
  if (options.burst > 0 && options.witness == PlanOptions::Witness::none)
    invalid(
        "the witness sees bursts, and it is switched off: set witness to PlanOptions::Witness::scattered, or "
        "burst to 0");
  if (options.batch < 1) invalid(fmt::format("batch = {} must be at least 1", options.batch));
  if (options.compiled_for && domain_of(*options.compiled_for) != tmpl.domain()) {
    invalid(fmt::format("compiled_for = {}, but the template is for {} signals",
                        to_string(*options.compiled_for), to_string(tmpl.domain())));
  }
  if (options.device.backend() != Backend::cuda) return;
  if (options.compiled_for) check_gpu_type(*options.compiled_for, "PlanOptions::compiled_for");
  if (options.device.several()) {
    check_devices(options.device.gpus());
  } else {
    static_cast<void>(device_traits(options.device.gpu_number()));
  }
}

/// Microseconds per frame that a GPU adds to the transform of frames in host memory: launches, copies and
/// waits, which the frames of a batch share, and the transfer of the plan's samples over the bus.
double host_path_us(const PlanInfo& info, int batch, Domain domain) {
  constexpr double kRoundTrip = 40, kSamplePicked = 1e-3, kByteCopied = 2e-5;
  const auto samples = static_cast<double>(info.samples);
  const bool whole = info.path == Path::dense || info.path == Path::direct;
  return kRoundTrip / std::min(batch, 32) +
         samples * (whole ? kByteCopied * (domain == Domain::real ? 4 : 8) : kSamplePicked);
}

std::string decision(const PlanInfo& info, const Template& tmpl) {
  std::string text =
      fmt::format("{} {}, k = {}: {} on the {}, {}: {}", to_string(tmpl.domain()), tmpl.shape().to_string(),
                  tmpl.k(), to_string(info.path), to_string(info.backend), info.engine, info.reason);
  if (info.path == Path::comb || info.path == Path::flat_window) {
    text += fmt::format("; reads {} samples ({:.3g} %), predicted error {:.3g}", info.samples,
                        100 * info.samples_fraction, info.predicted_error);
  }
  if (info.kept) text += "; taken from the template, without a search";
  if (!info.kept_note.empty()) text += fmt::format("; the template's plan is not used: {}", info.kept_note);
  return text + fmt::format("; planned in {:.3g} ms", 1e3 * info.plan_seconds);
}

/// The CPU, unless there is a GPU that is predicted to be faster for frames from the host.
template <class Real>
std::shared_ptr<const PlanDesign<Real>> choose_backend(const Template& tmpl, PlanOptions options) {
  const int gpu = options.device.gpu_number();
  options.device = Device::cpu();
  const auto on_cpu = design_on_backend<Real>(tmpl, options);
  if (!is_for_gpus(options.compiled_for.value_or(data_of(tmpl)->reference_type))) return on_cpu;
  // A GPU plan reads about as many samples. If their transfer alone takes longer than the whole transform on
  // the CPU, there is no need to start the driver and plan again.
  if (on_cpu->info.predicted_us <= host_path_us(on_cpu->info, options.batch, tmpl.domain())) return on_cpu;
  if (const std::string problem = device_problem(gpu); !problem.empty()) {
    log_decision("plan", [&] { return fmt::format("GPU {} is not used: {}", gpu, problem); });
    return on_cpu;
  }
  options.device = Device::gpu(gpu);
  // The backend is chosen before anything is compiled: compiling takes seconds, and frames in host memory
  // use the library's precompiled kernels.
  const std::optional<ElementType> compiled_for = std::exchange(options.compiled_for, std::nullopt);
  try {
    auto on_gpu = design_on_backend<Real>(tmpl, options);
    // For page-locked frames the predicted time includes the transfer, whatever the path.
    const double gpu_us =
        on_gpu->info.predicted_us +
        (options.page_locked_frames ? 0 : host_path_us(on_gpu->info, options.batch, tmpl.domain()));
    if (gpu_us < on_cpu->info.predicted_us) {
      if (compiled_for) {
        options.compiled_for = compiled_for;
        on_gpu = design_on_backend<Real>(tmpl, options);
      }
      on_gpu->decisions.push_back(on_cpu->decisions[0]);
      return on_gpu;
    }
    on_cpu->info.rejected.push_back(
        {on_gpu->info.engine, fmt::format("{:.1f} us with the way there and back", gpu_us)});
  } catch (const Error& error) {
    log_decision("plan", [&] { return fmt::format("GPU {} is not used: {}", gpu, error.what()); });
    on_cpu->info.rejected.push_back({"GPU", error.what()});
  }
  return on_cpu;
}

}  // namespace

template <class Real>
std::shared_ptr<const PlanDesign<Real>> make_design(const Template& tmpl, const PlanOptions& options) {
  check(tmpl, options);
  std::shared_ptr<const PlanDesign<Real>> design;
  if (options.device.backend() == Backend::automatic)
    design = choose_backend<Real>(tmpl, options);
  else
    design = design_on_backend<Real>(tmpl, options);
  log_decision("plan", [&] { return decision(design->info, tmpl); });
  return design;
}

template std::shared_ptr<const PlanDesign<float>> make_design<float>(const Template&, const PlanOptions&);
template std::shared_ptr<const PlanDesign<double>> make_design<double>(const Template&, const PlanOptions&);

}  // namespace sfft::detail
