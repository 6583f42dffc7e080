// SPDX-License-Identifier: Apache-2.0
// Makes the plan of a template on one backend: weighs the paths, keeps the decision or starts from a kept
// one, and builds the tables.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "kernels/cpu/platform/pool_loan.hpp"
#include "kernels/runtime/elapsed.hpp"
#include "kernels/runtime/log.hpp"
#include "kernels/runtime/run_scope.hpp"
#include "kernels/runtime/step_trace.hpp"
#include "sfft/error.hpp"
#include "sfft/plan/kept.hpp"
#include "sfft/plan/plan_costs.hpp"
#include "sfft/plan/plan_impl.hpp"
#include "sfft/template_access.hpp"
#include "template/comb/comb_planner.hpp"
#include "template/data/support_set.hpp"
#include "template/flat/flat_planner.hpp"
#include "template/planning/bursts.hpp"
#include "template/planning/error_table.hpp"
#include "template/planning/witness.hpp"

namespace sfft::detail {

namespace {

/// Maximum k·N of the direct path, which is the size of its twiddle tables. Above it, the path is never the
/// fastest.
constexpr std::int64_t kDirectProducts = std::int64_t{1} << 16;
/// Without a requested accuracy, a comb must take at most this fraction of the time of a dense transform,
/// which has no error.
constexpr double kWorthAnError = 2.0 / 3;
/// With more threads, waiting for them costs more than they save.
constexpr int kMaxPlanningThreads = 8;

template <class Real>
class Designer {
 public:
  Designer(const Template& tmpl, const PlanOptions& options)
      : threads_(std::min(thread_count(options.threads), kMaxPlanningThreads)),
        options_(options),
        data_(*data_of(tmpl)),
        support_(data_),
        costs_(options, data_, support_, prior_, std::numeric_limits<Real>::epsilon()),
        design_(std::make_shared<PlanDesign<Real>>(tmpl, options)) {}

  std::shared_ptr<PlanDesign<Real>> design() {
    const auto start = std::chrono::steady_clock::now();
    PlanInfo& info = design_->info;
    design_->threads = thread_count(options_.threads);
    design_->mean_coefficient = support_.mean_coefficient;
    on_device_ = options_.device.backend() == Backend::cuda;
    info.backend = on_device_ ? Backend::cuda : Backend::cpu;
    design_->batch = options_.batch;
    info.reference = options_.use_reference && !data_.reference.empty();
    prior_ = make_prior(data_, support_, info.reference);
    info.predicted_dense_us = costs_.dense_us(on_device_ && dense_kernels_are_tuned<Real>(data_, options_));
    const PlanKey key = plan_key<Real>(options_, info.reference);
    step_done("plan: threads, support, prior");
    enter_stage("planning");
    if (!use_kept(key)) choose();
    design_->decisions.push_back(decision(key));
    if (info.path == Path::direct || info.path == Path::dense) info.reference = false;
    info.engine = design_->executor->describe();
    design_->error_model = errors_.model;
    info.bucket_count = info.buckets[0] * info.buckets[1] * info.buckets[2];
    info.samples_fraction = static_cast<double>(info.samples) / static_cast<double>(data_.shape.points());
    for (Rejection& other : rejected_) {
      if (info.rejected.size() < 16)
        info.rejected.push_back({std::move(other.description), std::move(other.reason)});
    }
    step_done("plan: executor");
    info.plan_seconds = seconds_since(start);
    return design_;
  }

 private:
  /// Adds check samples to a sparse path whose rows have the errors `rows`.
  void use_witness(RowErrors rows) {
    errors_ = make_error_table(support_, std::move(rows));
    if (options_.witness == PlanOptions::Witness::none) return;
    const bool trimmed = !prior_.least_squares();
    const std::int64_t blocks = costs_.witness_blocks();
    witness_ = on_device_ ? place_witness(support_, trimmed, options_.seed, blocks)
                          : make_witness(support_, trimmed, options_.seed, threads_.get(), blocks);
    add_witness(errors_.model, support_, std::numeric_limits<Real>::epsilon(),
                prior_.least_squares() ? TailKnowledge::white
                : prior_.common_scale  ? TailKnowledge::guessed
                                       : TailKnowledge::measured);
    design_->info.witness_samples = static_cast<std::int64_t>(witness_.samples.size());
    design_->info.samples += design_->info.witness_samples;
    errors_.model.witness_share =
        static_cast<double>(design_->info.witness_samples) / static_cast<double>(design_->info.samples);
    if (on_device_) design_->witness_places = witness_;
  }

  /// Computes the shortest burst that the plan sees, from the samples that `plan` and the witness read.
  /// `info.samples` must be set before.
  template <class Data>
  void measure_bursts(const Data& plan) {
    ReadSet reads(data_.shape.points(), design_->info.samples);
    reads.add(plan);
    for (const std::int64_t read : witness_.samples) reads.add(read);
    design_->info.burst_miss = options_.burst_miss;
    design_->info.shortest_burst = ReadGaps(std::move(reads)).shortest_burst(options_.burst_miss);
  }

  bool forced(Path path) const { return options_.path == path; }

  /// Builds the plan that the template keeps for this request. Returns false if there is none or it fails.
  bool use_kept(const PlanKey& key) {
    if (!options_.use_kept) return false;
    PlanInfo& info = design_->info;
    const KeptMatch match = find_kept(data_, key);
    info.kept_note = match.why_not;
    if (match.plan == nullptr) return false;
    info.kept_note = rebuild(*match.plan);
    info.kept = info.kept_note.empty();
    return info.kept;
  }

  /// Builds the kept plan. Returns why it cannot be built; empty if it was.
  std::string rebuild(const KeptPlan& plan) {
    const auto reason = [&](double us) {
      return options_.path == Path::automatic ? reason_against_dense(us) : "requested";
    };
    std::string why = burst_problem();
    const bool sparse = plan.path == Path::comb || plan.path == Path::flat_window;
    if (sparse && !why.empty()) return fmt::format("it does not work: {}", why);
    switch (plan.path) {
      case Path::comb:
        comb_ = rebuild_comb(support_, prior_, plan.buckets, plan.delays,
                             costs_.comb_request(0, threads_.get()), why);
        if (comb_ && !acceptable(comb_->predicted_error)) comb_.reset();
        if (!comb_) break;
        comb_->predicted_us = plan.predicted_us;
        use_comb(reason(plan.predicted_us + costs_.witness_us()));
        return "";
      case Path::flat_window: {
        FlatPlanResult result =
            rebuild_flat_windows(data_.shape, data_.real, *data_.support, flat_options(),
                                 {plan.sigma, plan.delays, plan.buckets[2], plan.full_period});
        why = result.reason;
        if (!result.ok) break;
        measure_flat(result.data);
        if (!acceptable(flat_error_)) break;
        flat_ = std::move(result.data);
        use_flat(reason(flat_us_ + costs_.witness_us()));
        return "";
      }
      case Path::direct:
        if (data_.shape.points() > kDirectProducts / support_.k) break;
        use_direct(reason(costs_.direct_us()), costs_.direct_us());
        return "";
      default:
        use_dense(options_.path == Path::automatic
                      ? "decided when the template was saved: no sparse plan is faster and accurate enough"
                      : "requested");
        return "";
    }
    return fmt::format("it does not work for this template: {}",
                       why.empty() ? "its error is larger than accepted" : why);
  }

  /// The decisions of a search, for the template to keep.
  KeptPlan decision(const PlanKey& key) const {
    const PlanInfo& info = design_->info;
    KeptPlan plan;
    plan.key = key;
    plan.path = info.path;
    plan.predicted_us = info.predicted_us;
    if (info.path == Path::comb) {
      plan.predicted_us = comb_->predicted_us;  // without the witness
      plan.buckets = comb_->data.buckets;
      plan.delays = comb_->data.delays;
    } else if (info.path == Path::flat_window) {
      plan.buckets = info.buckets;
      plan.delays = flat_->delays;
      plan.sigma = flat_->sigma;
      plan.full_period = flat_->taps() == flat_->buckets;
    }
    return plan;
  }

  void choose() {
    const double direct_us = costs_.direct_us();
    const double dense_us = design_->info.predicted_dense_us;
    const bool small = data_.shape.points() <= kDirectProducts / support_.k;
    if (forced(Path::dense)) return use_dense("requested");
    if (forced(Path::direct)) {
      if (!small)
        throw Error(ErrorCode::not_sparse, fmt::format("the direct path needs N·k <= {}", kDirectProducts));
      return use_direct("requested", direct_us);
    }
    if (std::string why = burst_problem(); !why.empty()) {
      if (options_.path == Path::automatic) return use_dense(std::move(why));
      throw Error(ErrorCode::not_sparse,
                  fmt::format("{}: ask for a longer burst, or leave the path to the planner", why));
    }
    const double limit_us = options_.path == Path::automatic ? dense_us - costs_.witness_us()
                                                             : std::numeric_limits<double>::infinity();
    const bool exact = prior_.least_squares() || options_.accuracy > 0;  // or as accurate as requested
    if (!forced(Path::flat_window)) find_comb(exact ? limit_us : kWorthAnError * limit_us);
    const bool comb_useful = comb_ && acceptable(comb_->predicted_error);
    if (forced(Path::flat_window) || (!forced(Path::comb) && !comb_useful)) find_flat(limit_us);
    if (options_.path != Path::automatic) return use_forced();

    const double sparse_us = costs_.witness_us() + (comb_useful ? comb_->predicted_us : flat_us_);
    if (comb_useful && !(small && direct_us < sparse_us)) return use_comb(reason_against_dense(sparse_us));
    if (flat_ && !(small && direct_us < sparse_us)) return use_flat(reason_against_dense(sparse_us));
    if (small && direct_us < dense_us) {
      return use_direct(
          fmt::format("N·k = {} products are the cheapest exact way", data_.shape.points() * support_.k),
          direct_us);
    }
    if (!comb_ && !(flat_error_ > 0))
      return use_dense("no sparse plan is predicted to be enough faster than a dense transform");
    use_dense(fmt::format("the sparse plans predict a relative error of {:.2g}, more than {:.2g}",
                          comb_ ? comb_->predicted_error : flat_error_,
                          options_.accuracy > 0 ? options_.accuracy : kMaxUsefulError));
  }

  /// Why no sparse plan can see bursts as short as requested; empty if one can.
  std::string burst_problem() const {
    const std::int64_t points = data_.shape.points();
    const std::int64_t samples =
        options_.burst > 0 ? samples_for_burst(options_.burst, options_.burst_miss) : 0;
    if (samples <= points / 2) return "";
    return fmt::format("a burst of {:.2g} of the frame shows only in {} samples of {}", options_.burst,
                       samples, points);
  }

  /// Whether a predicted relative error is acceptable. With a reference, the scale of changes is not known in
  /// advance, so every plan is acceptable and the tracker decides from the reported errors.
  bool acceptable(double error) const {
    if (prior_.common_scale) return true;
    return error <= (options_.accuracy > 0 ? options_.accuracy : kMaxUsefulError);
  }

  std::string reason_against_dense(double us) const {
    return fmt::format("predicted {:.1f} us against {:.1f} us dense", us, design_->info.predicted_dense_us);
  }

  void find_comb(double limit_us) {
    CombRequest request = costs_.search_request(limit_us, threads_.get());
    try {
      comb_ = plan_comb(support_, prior_, request, rejected_);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::out_of_memory || request.effort == PlanEffort::quick) throw;
      log_decision("plan", [&] { return fmt::format("a quick search instead: {}", error.what()); });
      request.effort = PlanEffort::quick;  // which holds less at the same time
      comb_ = plan_comb(support_, prior_, request, rejected_);
    }
  }

  FlatOptions flat_options() const {
    FlatOptions flat;
    flat.leakage = sizeof(Real) == sizeof(float) ? 1e-8 : 1e-14;
    flat.max_samples = costs_.max_samples();
    flat.seed = options_.seed;
    if (!prior_.least_squares() && !prior_.common_scale) {
      const auto [tail, power] = prior_energies(support_, prior_);
      const double accuracy = options_.accuracy > 0 ? options_.accuracy : kMaxUsefulError;
      flat.total_gain = accuracy * accuracy * power / tail;
    }
    return flat;
  }

  void measure_flat(const FlatPlanData& flat) {
    flat_us_ = costs_.flat_us(flat);
    flat_error_ = flat_error(flat);
  }

  void find_flat(double limit_us) {
    FlatPlanResult result = plan_flat_windows(data_.shape, data_.real, *data_.support, flat_options());
    if (!result.ok) {
      rejected_.push_back({"flat window", result.reason});
      return;
    }
    measure_flat(result.data);
    if (options_.path == Path::automatic && !acceptable(flat_error_)) {
      rejected_.push_back(
          {fmt::format("flat window {}, {} lines", result.data.buckets, result.data.delay_count()),
           fmt::format("predicted error {:.3g}", flat_error_)});
      return;
    }
    if (flat_us_ > limit_us) {
      rejected_.push_back(
          {fmt::format("flat window {}, {} lines", result.data.buckets, result.data.delay_count()),
           fmt::format("slower than dense: {:.1f} us", flat_us_)});
      return;
    }
    flat_ = std::move(result.data);
  }

  /// The error that the prior's tail causes through the plan's noise gains, relative to the prior's power;
  /// only rounding when there is no tail.
  double flat_error(const FlatPlanData& flat) const {
    if (prior_.least_squares()) return std::numeric_limits<Real>::epsilon();
    double gain = 0;
    for (std::int64_t i = 0; i < support_.k; ++i) {
      if (i != support_.mean_coefficient) gain += flat.noise_gain[static_cast<std::size_t>(i)];
    }
    const auto [tail, power] = prior_energies(support_, prior_);
    return std::sqrt(tail * gain / power);
  }

  void use_forced() {
    if (comb_) return use_comb("requested");
    if (flat_) return use_flat("requested");
    std::string why;
    for (const Rejection& other : rejected_)
      why += fmt::format("{}{}: {}", why.empty() ? "" : "; ", other.description, other.reason);
    throw Error(ErrorCode::not_sparse,
                fmt::format("the {} path cannot transform this template: {}", to_string(options_.path), why));
  }

  void use_comb(std::string reason) {
    PlanInfo& info = design_->info;
    info.path = Path::comb;
    info.buckets = comb_->data.buckets;
    info.delays = comb_->data.delay_count();
    info.samples = comb_->data.samples();
    info.predicted_us = comb_->predicted_us + costs_.witness_us();
    info.predicted_error = comb_->predicted_error;
    info.noise_gain = comb_->noise_gain;
    info.reason = std::move(reason);
    step_done("plan: rest of the search");
    enter_stage("planning: checks");
    const CombData& comb = comb_->data;
    const auto empty =
        comb.delay_count() * std::ranges::count_if(comb.bucket_weight, [](double w) { return w > 0; });
    use_witness(
        {comb.noise_gain, comb.bias, comb.response, comb.tail_energy_per_scale, static_cast<double>(empty)});
    step_done("plan: witness, errors");
    measure_bursts(comb_->data);
    step_done("plan: bursts");
    design_->executor = executors().comb(comb_->data, tables());
  }

  void use_flat(std::string reason) {
    PlanInfo& info = design_->info;
    info.path = Path::flat_window;
    info.buckets = {1, 1, flat_->buckets};
    info.delays = flat_->delay_count();
    info.samples = flat_->samples;
    info.predicted_us = flat_us_ + costs_.witness_us();
    info.predicted_error = flat_error_;
    info.noise_gain = std::sqrt(*std::max_element(flat_->noise_gain.begin(), flat_->noise_gain.end()));
    info.reason = std::move(reason);
    use_witness({flat_->noise_gain, {}, {}, 1});
    measure_bursts(*flat_);
    design_->executor = executors().flat(*flat_, tables());
  }

  void use_direct(std::string reason, double us) {
    PlanInfo& info = design_->info;
    info.path = Path::direct;
    info.samples = data_.shape.points();
    info.predicted_us = us;
    info.reason = std::move(reason);
    design_->executor = executors().direct(tables());
  }

  void use_dense(std::string reason) {
    PlanInfo& info = design_->info;
    info.path = Path::dense;
    info.samples = data_.shape.points();
    info.predicted_us = info.predicted_dense_us;
    info.reason = std::move(reason);
    design_->executor = executors().dense(tables());
  }

  const ExecutorMaker<Real>& executors() const {
    if (!on_device_) return cpu_executors<Real>();
    return options_.device.several() ? several_gpu_executors<Real>() : gpu_executors<Real>();
  }
  PlanTables tables() const { return {errors_, witness_, support_, data_, options_}; }

  cpu::PoolLoan threads_;  ///< for planning; the first member, so that threads wake during construction
  const PlanOptions& options_;
  const TemplateData& data_;
  bool on_device_ = false;
  SupportSet support_;
  SpectralPrior prior_;
  PlanCosts costs_;
  std::shared_ptr<PlanDesign<Real>> design_;
  std::vector<Rejection> rejected_;
  std::optional<CombPlan> comb_;
  std::optional<FlatPlanData> flat_;
  double flat_us_ = 0, flat_error_ = 0;
  WitnessData witness_;
  ErrorTable errors_;  ///< of a sparse path
};

}  // namespace

template <class Real>
std::shared_ptr<PlanDesign<Real>> design_on_backend(const Template& tmpl, const PlanOptions& options) {
  return Designer<Real>(tmpl, options).design();
}
template std::shared_ptr<PlanDesign<float>> design_on_backend(const Template&, const PlanOptions&);
template std::shared_ptr<PlanDesign<double>> design_on_backend(const Template&, const PlanOptions&);

}  // namespace sfft::detail
