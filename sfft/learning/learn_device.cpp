// SPDX-License-Identifier: Apache-2.0
// learn() of a frame in GPU memory.
#include <chrono>

#include "kernels/base/error.hpp"
#include "kernels/base/step_trace.hpp"
#include "sfft/learning/discover_impl.hpp"
#include "sfft/learning/learning.hpp"
#include "sfft/template.hpp"
#include "template/data/template_data.hpp"

namespace sfft {

namespace {

void check(const DeviceSignal& frame, const LearnOptions& options) {
  if (static_cast<std::uint8_t>(frame.type) > static_cast<std::uint8_t>(ElementType::c128))
    throw Error(ErrorCode::invalid_argument, "unknown element type");
  if (frame.data == nullptr) throw Error(ErrorCode::invalid_argument, "the frame's data pointer is null");
  if (options.backend == Backend::cpu) {
    throw Error(ErrorCode::invalid_argument,
                "the frame is in GPU memory: leave the backend automatic, or copy the frame to the host and "
                "pass a SignalView");
  }
  detail::check_criteria(options);
}

/// Null if learning needs a dense transform.
std::shared_ptr<detail::TemplateData> learn_by_discovery(const DeviceSignal& frame,
                                                         const LearnOptions& options, std::string& why) {
  if (options.k == 0) {
    throw Error(
        ErrorCode::invalid_argument,
        "learning by discovery needs k: a share of the energy or a noise floor needs a dense transform");
  }
  auto discovery = detail::discover_or_explain(
      frame, {.k = options.k, .fallback = options.fallback, .seed = options.seed}, why);
  return detail::verified_template(std::move(discovery), frame.shape, !is_complex(frame.type), options, why);
}

const char* why_dense(LearnMethod method) {
  return method == LearnMethod::dense ? "a dense transform was requested"
                                      : "a GPU transforms densely in the time of a trial of discovery";
}

}  // namespace

Template learn(const DeviceSignal& frame, const LearnOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  check(frame, options);
  detail::step_done("learn: checks");
  std::string why = why_dense(options.method);
  std::shared_ptr<detail::TemplateData> data;
  if (options.method == LearnMethod::discovery) {
    why.clear();
    data = learn_by_discovery(frame, options, why);
  }
  const bool discovered = data != nullptr;
  if (!discovered) {
    detail::check_k({frame.shape, !is_complex(frame.type)}, options);
    data = detail::to_template(detail::learn_on_gpu(frame, options));
  }
  if (options.reference) {
    data->reference_type = frame.type;
    data->reference.resize(static_cast<std::size_t>(frame.shape.points()) * element_bytes(frame.type));
    detail::copy_to_host(frame, data->reference.data());
  }
  detail::step_done("learn: template");
  data->learned_by_discovery = discovered;
  data->learned_energy = options.energy;
  data->learned_threshold_sigma = options.threshold_sigma;
  data->why_learned_so = std::move(why);
  data->learn_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return Template(std::move(data));
}

}  // namespace sfft
