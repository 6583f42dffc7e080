// SPDX-License-Identifier: Apache-2.0
// learn() of a frame in GPU memory.
#include <fmt/format.h>

#include <chrono>

#include "kernels/runtime/argument_checks.hpp"
#include "kernels/runtime/elapsed.hpp"
#include "kernels/runtime/step_trace.hpp"
#include "kernels/runtime/trace.hpp"
#include "sfft/error.hpp"
#include "sfft/learning/discover_impl.hpp"
#include "sfft/learning/learning.hpp"
#include "sfft/template_access.hpp"
#include "template/data/template_data.hpp"

namespace sfft {

namespace {

using detail::DeviceSignal;

void check(const DeviceView& frame, const LearnOptions& options) {
  const Device& device = options.device;
  const bool named = device.backend() == Backend::cuda;
  if (device.backend() == Backend::cpu ||
      (named && frame.gpu.value_or(device.gpu_number()) != device.gpu_number())) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("the frame is in the memory of GPU {}, and LearnOptions::device is {}: leave it "
                    "automatic, set DeviceView::gpu, or copy the frame to the host and pass a SignalView",
                    frame.gpu.value_or(0), to_string(device)));
  }
  detail::check_criteria(options);
}

/// Null if learning needs a dense transform.
std::shared_ptr<detail::TemplateData> learn_by_discovery(const DeviceSignal& frame,
                                                         const LearnOptions& options, std::string& why) {
  if (detail::largest_k(options) == 0) {
    throw Error(ErrorCode::invalid_argument,
                "learning by discovery needs Largest: a share of the energy or a noise floor needs a dense "
                "transform");
  }
  auto discovery = detail::discover_or_explain(
      frame,
      {.k = detail::largest_k(options), .dense_fallback = options.dense_fallback, .seed = options.seed}, why);
  return detail::verified_template(std::move(discovery), frame.shape, !is_complex(frame.type), options, why);
}

const char* why_dense(LearnOptions::Method method) {
  return method == LearnOptions::Method::dense
             ? "a dense transform was requested"
             : "a GPU transforms densely in the time of a trial of discovery";
}

}  // namespace

detail::DeviceSignal detail::checked_signal(const DeviceView& view, CUstream_st* stream, const char* what) {
  detail::check_gpu_type(view.type, "DeviceView::type");
  if (view.data == nullptr)
    throw Error(ErrorCode::invalid_argument, fmt::format("the {}'s data pointer is null", what));
  if (view.count != 1)
    throw Error(ErrorCode::invalid_argument, fmt::format("the view has {} signals: give one", view.count));
  return {view.data, view.type, view.shape, view.gpu.value_or(0), stream};
}

Template learn(const DeviceView& view, const LearnOptions& options, CUstream_st* stream) {
  const detail::TraceRange range("learn");
  const auto start = std::chrono::steady_clock::now();
  check(view, options);
  DeviceSignal frame = detail::checked_signal(view, stream, "frame");
  if (!view.gpu) frame.device = options.device.gpu_number();
  detail::step_done("learn: checks");
  std::string why = why_dense(options.method);
  std::shared_ptr<detail::TemplateData> data;
  if (options.method == LearnOptions::Method::discovery) {
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
  detail::note_criterion(*data, options);
  data->why_learned_so = std::move(why);
  data->learn_seconds = detail::seconds_since(start);
  detail::log_learned(*data);
  return detail::make_template(std::move(data));
}

}  // namespace sfft
