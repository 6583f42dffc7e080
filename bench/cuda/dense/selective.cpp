// SPDX-License-Identifier: Apache-2.0
// Compares each selection with the whole spectrum by cuFFT: the number of kept coefficients, their indices,
// and their values.
#include "sfft/dense_selective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/cuda/dense/groups.hpp"
#include "bench/cuda/dense/library.hpp"
#include "bench/cuda/dense/reference.hpp"

namespace sfft::bench {

namespace {

using nlohmann::json;
using Value = std::complex<float>;

constexpr std::int64_t kSupport = 1000;  ///< number of coefficients

/// Returns every (points/k)-th element of a spectrum.
std::vector<std::int64_t> spread_support(const PeerProblem& problem) {
  std::vector<std::int64_t> support(kSupport);
  for (std::int64_t i = 0; i < kSupport; ++i)
    support[static_cast<std::size_t>(i)] = i * (problem.spectrum_points() / kSupport);
  return support;
}

/// The signals of one problem, its whole spectra by cuFFT, and the selective plans that keep a part of them.
class Selection {
 public:
  Selection(const DenseCase& what, Timer& timer)
      : what_(what),
        timer_(timer),
        input_(what),
        support_(spread_support(what.problem)),
        whole_(make_cufft(what.problem)),
        indices_(all_elements() * sizeof(std::int64_t)),
        values_(all_elements() * sizeof(Value)),
        count_(sizeof(std::uint64_t)) {
    whole_->load(input_.of_peers(), timer.stream());
    whole_->enqueue(timer.stream());
    gpu(cudaStreamSynchronize(timer.stream()));
    spectra_ = download(static_cast<const Value*>(whole_->result()), all_elements());
    // This is the magnitude that one in a thousand exceeds.
    std::vector<float> magnitudes(spectra_.size());
    std::transform(spectra_.begin(), spectra_.end(), magnitudes.begin(), [](Value x) { return std::abs(x); });
    const auto at = magnitudes.begin() + static_cast<std::ptrdiff_t>(magnitudes.size() / kSupport);
    std::nth_element(magnitudes.begin(), at, magnitudes.end(), std::greater<>());
    magnitude_ = *at;
  }

  json above(dense::Engine engine, dense::Options::Planning planning) {
    const auto plan = dense::SelectivePlan<float>::above(Shape(what_.problem.extents),
                                                         what_.problem.real ? Domain::real : Domain::complex,
                                                         library_options(what_, engine, planning));
    const dense::DeviceCoefficients<float> kept{indices_.as<std::int64_t>(), values_.as<Value>(),
                                                count_.as<std::uint64_t>(),
                                                static_cast<std::int64_t>(all_elements())};
    const DeviceBuffer workspace(plan.device_workspace_bytes());
    json timed = time(plan, [&](cudaStream_t stream) {
      plan.enqueue_above(input_.of_library(), what_.input, magnitude_, kept,
                         {workspace.data(), workspace.bytes()}, stream);
    });
    const auto count = static_cast<std::size_t>(download(count_.as<std::uint64_t>(), 1).front());
    const auto expected = static_cast<double>(
        std::count_if(spectra_.begin(), spectra_.end(), [&](Value x) { return std::abs(x) > magnitude_; }));
    timed["kept"] = count;
    timed["relative_l2"] = error(download(indices_.as<std::int64_t>(), count), count);
    // A value that equals the magnitude within rounding may be on either side.
    timed["correct"] = timed["relative_l2"].get<double>() < 1e-5 &&
                       std::abs(static_cast<double>(count) - expected) <= 1 + 1e-3 * expected;
    return timed;
  }

  json at(dense::Engine engine, dense::Options::Planning planning) {
    const auto plan = dense::SelectivePlan<float>::at(Shape(what_.problem.extents),
                                                      what_.problem.real ? Domain::real : Domain::complex,
                                                      support_, library_options(what_, engine, planning));
    const DeviceBuffer workspace(plan.device_workspace_bytes());
    json timed = time(plan, [&](cudaStream_t stream) {
      plan.enqueue_at(input_.of_library(), what_.input, values_.as<Value>(),
                      {workspace.data(), workspace.bytes()}, stream);
    });
    std::vector<std::int64_t> indices;
    for (std::int64_t b = 0; b < what_.problem.batch; ++b)
      for (const std::int64_t e : support_) indices.push_back(b * what_.problem.spectrum_points() + e);
    timed["kept"] = indices.size();
    timed["relative_l2"] = error(indices, indices.size());
    timed["correct"] = timed["relative_l2"].get<double>() < 1e-5;
    return timed;
  }

 private:
  std::size_t all_elements() const {
    return static_cast<std::size_t>(what_.problem.spectrum_points() * what_.problem.batch);
  }

  json time(const dense::SelectivePlan<float>& plan, const Work& work) {
    const Timing timing = timer_.warm(work, 4);
    return {{"us", timing.us / static_cast<double>(what_.problem.batch)},
            {"noise", timing.noise},
            {"engine_name", plan.engine_name()},
            {"stores_spectrum", plan.stores_spectrum()}};
  }

  /// The relative error of the kept values against the whole spectra.
  double error(const std::vector<std::int64_t>& indices, std::size_t count) const {
    const std::vector<Value> values = download(values_.as<Value>(), count);
    double difference = 0, norm = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const Value exact = spectra_.at(static_cast<std::size_t>(indices[i]));
      difference += static_cast<double>(std::norm(values[i] - exact));
      norm += static_cast<double>(std::norm(exact));
    }
    return norm > 0 ? std::sqrt(difference / norm) : 1;
  }

  DenseCase what_;
  Timer& timer_;
  DenseInput input_;
  std::vector<std::int64_t> support_;
  std::unique_ptr<Peer> whole_;
  DeviceBuffer indices_, values_, count_;
  std::vector<Value> spectra_;
  float magnitude_ = 0;
};

}  // namespace

std::string selection_name(const DenseCase& what) {
  return what.name + ", selected";
}

json time_selection(Timer& timer, const DenseCase& what, const DenseSettings& settings) {
  json row{{"group", "selective"}, {"name", selection_name(what)}, {"batch", what.problem.batch}};
  Selection selection(what, timer);
  for (const auto& [name, engine] :
       {std::pair{"tuned", dense::Engine::tuned}, {"cufft", dense::Engine::cufft}}) {
    row["above"][name] = selection.above(engine, settings.planning);
    row["at"][name] = selection.at(engine, settings.planning);
  }
  bool right = true;
  for (const char* kind : {"above", "at"}) {
    row[kind]["ratio"] = row[kind]["cufft"]["us"].get<double>() / row[kind]["tuned"]["us"].get<double>();
    for (const char* name : {"tuned", "cufft"}) right = right && row[kind][name]["correct"].get<bool>();
  }
  row["correct"] = right;
  return row;
}

}  // namespace sfft::bench
