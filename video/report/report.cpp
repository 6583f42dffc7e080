// SPDX-License-Identifier: Apache-2.0
// Formats one RunReport as JSON, as CSV rows and as a summary for a terminal. All take their numbers from
// RunStatistics.
#include "video/report/report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "video/pipeline/statistics.hpp"
#include "video/report/input_log.hpp"
#include "video/report/json_number.hpp"
#include "video/report/text.hpp"

namespace sfft::video {

namespace {

/// Median and minimum of shares; 1 is the best.
nlohmann::ordered_json shares(const Distribution& values) {
  return {{"median", number_or_null(values.quantile(0.5))}, {"least", number_or_null(values.quantile(0))}};
}

nlohmann::ordered_json stages(const RunReport& report) {
  const RunReport::Stages& all = report.stages;
  const double each = 1 / static_cast<double>(report.frames.size());
  return {{"waiting", number_or_null(all.waiting_us * each)},
          {"ahead", number_or_null(all.ahead_us * each)},
          {"tracker", number_or_null(all.tracker_us * each)},
          {"results", number_or_null(all.results_us * each)}};
}

nlohmann::ordered_json renewals(const RunReport& report) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const FrameRecord& frame : report.frames.renewals()) {
    const TrackedFrame::Similarity known = frame.similarity.value_or(TrackedFrame::Similarity{});
    list.push_back({{"frame", frame.index},
                    {"action", to_string(frame.action)},
                    {"reason", frame.reason},
                    {"overlap", number_or_null(known.overlap)},
                    {"correlation", number_or_null(known.correlation)},
                    {"energy", number_or_null(known.energy)}});
  }
  return list;
}

/// The keys of `input` that follow its counts: gaps, changes, damage.
void add_log(const SourceLog& log, nlohmann::ordered_json& input) {
  input["interval_s"] = {{"least", number_or_null(log.min_interval_seconds)},
                         {"most", number_or_null(log.max_interval_seconds)}};
  const auto text_or_null = [](const std::string& text) {
    return text.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(text);
  };
  input["decoder"] = text_or_null(log.decoder);
  input["decoder_note"] = text_or_null(log.decoder_note);
  input["timing"] = nlohmann::ordered_json::parse(timing_json(log));
  input["frames_without_time"] = log.frames_without_time;
  input["damaged_packets"] = log.damaged_packets;
  input["damaged_frames"] = log.damaged_frames;
  input["lost_frames"] = log.lost_frames;
  input["gaps"] = nlohmann::ordered_json::parse(gaps_json(log));
  input["changes"] = nlohmann::ordered_json::parse(changes_json(log));
}

}  // namespace

std::string json_report(const RunReport& report) {
  using nlohmann::ordered_json;
  const RunStatistics numbers(report);
  ordered_json json;
  json["schema"] = "sfft-video/1";
  json["status"] = to_string(report.status);
  json["message"] = report.message;
  const SourceInfo& input = report.input;
  json["input"] = {{"path", input.path},
                   {"width", input.width},
                   {"height", input.height},
                   {"fps", input.fps > 0 ? ordered_json(input.fps) : ordered_json(nullptr)},
                   {"frames_expected",
                    input.frames_expected >= 0 ? ordered_json(input.frames_expected) : ordered_json(nullptr)},
                   {"frames_read", report.frames_read}};
  add_log(report.input_log, json["input"]);
  const bool learned = report.first_template.has_value();
  json["template"] = {
      {"k", learned ? report.first_template->k() : 0},
      {"energy_captured", learned ? number_or_null(report.first_template->energy_captured()) : nullptr},
      {"learn_ms", report.learn_ms}};
  const PlanInfo& plan = report.plan;
  json["plan"] = {
      {"path", learned ? to_string(plan.path) : ""},
      {"backend", to_string(plan.backend)},
      {"buckets", plan.bucket_count},
      {"bucket_grid", plan.buckets},
      {"delays", plan.delays},
      {"samples", plan.samples},
      {"samples_fraction", plan.samples_fraction},
      {"witness_samples", plan.witness_samples},
      {"reference", plan.reference},
      {"plan_ms", 1e3 * plan.plan_seconds},
      {"engine", plan.engine},
      {"reason", plan.reason},
      {"kept", plan.kept},
      {"kept_note", plan.kept_note.empty() ? ordered_json(nullptr) : ordered_json(plan.kept_note)},
      {"refined", report.tracking.refined},
      {"refinement", report.tracking.refinement.empty() ? ordered_json(nullptr)
                                                        : ordered_json(report.tracking.refinement)}};
  json["frames"] = {
      {"transformed", report.frames.size()},      {"relearned", report.tracking.relearned},
      {"refreshed", report.tracking.refreshed},   {"dense_fallbacks", report.tracking.dense_fallbacks},
      {"calibrated", report.tracking.calibrated}, {"median_us", number_or_null(numbers.median_us)},
      {"p95_us", number_or_null(numbers.p95_us)}, {"mean_us", number_or_null(numbers.mean_us)}};
  ordered_json engines = ordered_json::array();
  for (const auto& times : report.dense)
    engines.push_back({{"engine", times.engine}, {"median_us", number_or_null(quantile(times.us, 0.5))}});
  json["dense"] = {{"engine", report.dense.empty() ? "" : report.dense[0].engine},
                   {"median_us", number_or_null(numbers.dense_us)},
                   {"frames", report.dense.empty() ? 0 : report.dense[0].us.size()},
                   {"engines", engines}};
  json["speedup"] = number_or_null(numbers.speedup);
  json["pipeline"] = {
      {"decode_us", number_or_null(numbers.decode_us)},
      {"copy_us", number_or_null(numbers.copy_us)},
      {"transform_us", number_or_null(numbers.transform_us)},
      {"bytes_per_frame",
       report.frames.empty() ? ordered_json(nullptr) : ordered_json(std::llround(numbers.bytes_per_frame))},
      {"frames_per_batch", number_or_null(numbers.frames_per_batch)},
      {"stages_us", stages(report)},
      {"bottleneck", *numbers.bottleneck != 0 ? ordered_json(numbers.bottleneck) : ordered_json(nullptr)}};
  json["threads"] = report.request.threads;
  json["backend"] = to_string(report.request.device.backend());
  json["device"] = report.request.device.gpu_number();
  if (report.request.device.several()) json["devices"] = report.request.device.gpus();
  json["verified"] = {{"frames", numbers.verified},
                      {"relative_error",
                       {{"median", number_or_null(numbers.error_median)},
                        {"p95", number_or_null(numbers.error_p95)},
                        {"max", number_or_null(numbers.error_max)}}},
                      {"standard_error_coverage", number_or_null(numbers.coverage)}};
  json["reported"] = {{"relative_error_median", number_or_null(numbers.reported_median)},
                      {"calibration", number_or_null(report.tracking.calibration)},
                      {"differencing", report.tracking.differencing}};
  json["renewals"] = renewals(report);
  const FrameLog& frames = report.frames;
  json["similarity"] = {{"every_frame", report.request.similarity},
                        {"frames", frames.similarity_us.size()},
                        {"overlap", shares(frames.overlap)},
                        {"correlation", shares(frames.correlation)},
                        {"energy", shares(frames.old_energy)},
                        {"median_us", number_or_null(quantile(frames.similarity_us, 0.5))}};
  json["warnings"] = numbers.warnings;
  json["version"] = version();
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string json_reports(std::span<const std::string> reports, RunStatus status, const std::string& message) {
  nlohmann::ordered_json head;
  head["schema"] = "sfft-video/1";
  head["status"] = to_string(status);
  head["message"] = message;
  std::string text = head.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  text.resize(text.size() - 2);  // drops the closing brace and newline, to append one more key
  text += ",\n  \"inputs\": [";
  for (std::size_t i = 0; i < reports.size(); ++i) text += (i == 0 ? "\n" : ",\n") + reports[i];
  return text + "  ]\n}\n";
}

std::string csv_header() {
  return "frame,action,us,relative_error,error_l2,residual,true_relative_error,finite,overlap,correlation,"
         "energy\n";
}

std::string csv_row(const FrameRecord& frame) {
  const TrackedFrame::Similarity known = frame.similarity.value_or(TrackedFrame::Similarity{});
  const auto share = [](double value) { return std::isfinite(value) ? fmt::format("{:.6g}", value) : ""; };
  return fmt::format("{},{},{:.3f},{:.6g},{:.6g},{:.6g},{},{},{},{},{}\n", frame.index,
                     to_string(frame.action), frame.us, frame.relative_error, frame.error_l2, frame.residual,
                     frame.true_error ? fmt::format("{:.6g}", *frame.true_error) : "", frame.finite ? 1 : 0,
                     share(known.overlap), share(known.correlation), share(known.energy));
}

std::string summary(const RunReport& report) {
  const RunStatistics numbers(report);
  const SourceInfo& input = report.input;
  std::string text = fmt::format("{}: {} frames of {}x{}", printable(input.path), report.frames_read,
                                 input.width, input.height);
  if (report.status != RunStatus::complete) text += fmt::format("  [{}]", printable(report.message));
  text += "\n";
  if (!report.input_log.gaps.empty()) text += fmt::format("gaps        {}\n", gaps_text(report.input_log));
  if (const std::string timing = timing_text(report.input_log); !timing.empty())
    text += fmt::format("timing      {}\n", timing);
  if (!report.first_template) return text;
  const Template& tmpl = *report.first_template;
  text += fmt::format("template    {} frequencies", tmpl.k());
  if (std::isfinite(tmpl.energy_captured()))
    text += fmt::format(", {:.1f} % of the energy without the mean", 100 * tmpl.energy_captured());
  text += report.learn_ms > 0 ? fmt::format(", learned in {:.0f} ms\n", report.learn_ms) : "\n";
  text += fmt::format("plan        {}: {:.2f} % of the pixels read ({} buckets, {} delays){}\n",
                      to_string(report.plan.path), 100 * report.plan.samples_fraction,
                      report.plan.bucket_count, report.plan.delays,
                      report.plan.reference ? ", as the difference to a reference frame" : "");
  if (report.plan.kept) text += "            kept in the template file, not searched for\n";
  if (!report.plan.kept_note.empty())
    text += fmt::format("            the plan in the template file is not used: {}\n", report.plan.kept_note);
  text += fmt::format("runs on     {}", report.plan.engine);
  const std::string no_gpu = availability(Device::gpu(report.request.device.gpu_number())).reason;
  text += report.request.device.backend() == Backend::automatic && !no_gpu.empty()
              ? fmt::format("; no GPU: {}\n", no_gpu)
              : "\n";
  if (report.frames.empty()) return text;
  text += fmt::format("time        {:.1f} us per frame (median; p95 {:.1f})\n", numbers.median_us,
                      numbers.p95_us);
  text += fmt::format(
      "pipeline    decode {:.1f} us, copy {:.1f} us ({:.0f} bytes), transform {:.1f} us: {}\n",
      numbers.decode_us, numbers.copy_us, numbers.bytes_per_frame, numbers.transform_us, numbers.pace());
  for (const auto& times : report.dense) {
    const double us = quantile(times.us, 0.5);
    text += fmt::format("dense       {:.1f} us with {}: sparse is {:.1f} times faster\n", us, times.engine,
                        us / numbers.median_us);
  }
  if (numbers.verified > 0) {
    text += fmt::format(
        "error       {:.2f} % median, {:.2f} % p95 on {} frames checked against a dense transform\n",
        100 * numbers.error_median, 100 * numbers.error_p95, numbers.verified);
    text += fmt::format(
        "account     {:.2f} % reported (median); within twice of the truth on {:.0f} % of the frames\n",
        100 * numbers.reported_median, 100 * numbers.coverage);
  } else {
    text += fmt::format("error       {:.2f} % reported (median)\n", 100 * numbers.reported_median);
  }
  text += fmt::format("renewals    {} refreshed, {} relearned, {} frames transformed densely\n",
                      report.tracking.refreshed, report.tracking.relearned, report.tracking.dense_fallbacks);
  const FrameLog& frames = report.frames;
  if (frames.similarity_us.size() > 0) {
    text += fmt::format(
        "similarity  {:.1f} % of the support overlap, correlation {:.3f}, {:.1f} % of the energy held "
        "(medians of {} {})\n",
        100 * quantile(frames.overlap, 0.5), quantile(frames.correlation, 0.5),
        100 * quantile(frames.old_energy, 0.5), frames.similarity_us.size(),
        report.request.similarity ? "frames" : "renewals");
    if (report.request.similarity)
      text += fmt::format("            it took {:.1f} us more per frame, which the times above leave out\n",
                          quantile(frames.similarity_us, 0.5));
  }
  if (!report.tracking.refinement.empty())
    text += fmt::format("refinement  {}\n", report.tracking.refinement);
  if (report.tracking.calibrated > 0) {
    text += fmt::format(
        "calibrated  on {} frames by dense transforms: reported errors are {:.2f} times the model's\n",
        report.tracking.calibrated, report.tracking.calibration);
  }
  for (const std::string& warning : numbers.warnings) text += fmt::format("WARNING     {}\n", warning);
  return text;
}

}  // namespace sfft::video
