// SPDX-License-Identifier: Apache-2.0
// The interface of contenders in the comparison of sparse transforms. They are FFTW, the published
// algorithms, and this library on the CPU and, in builds that support it, on a GPU. To add one, write a class
// and list it in make_contenders().
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/peers/peer.hpp"
#include "bench/signals.hpp"
#include "row.hpp"
#include "setting.hpp"
#include "sfft/template.hpp"

namespace sfft::apps {

/// One signal of known spectrum. Only contenders that know the support may read `truth.support`.
struct SparseCase {
  std::int64_t points, k;
  std::span<const std::complex<float>> signal;  ///< 64-byte aligned
  const bench::SparseSpectrum& truth;
  /// A signal with the same spectrum but different noise, to learn from; empty without noise.
  std::span<const std::complex<float>> earlier;
};

struct Answer {
  std::vector<peers::Tone> tones;
  std::int64_t samples_read = 0;
  std::string detail;  ///< the contender's choices, for human readers
};

class Contender {
 public:
  virtual ~Contender() = default;
  virtual std::string name() const = 0;
  virtual std::string device() const { return "cpu"; }
  virtual int threads() const { return 1; }           ///< host threads
  virtual std::string planner() const { return {}; }  ///< "FFTW_MEASURE", if there is a choice
  std::string label() const { return device() == "cpu" ? name() : name() + " (" + device() + ")"; }
  /// The supported length nearest to `points`.
  virtual std::int64_t length(std::int64_t points, std::int64_t /*k*/) const { return points; }

  /// Whether the latest plan serves this case.
  virtual bool ready(const SparseCase& problem) const = 0;
  /// Throws sfft::Error for a case that the contender does not support; the message goes into the row.
  virtual void plan(const SparseCase& problem) = 0;
  /// Calls plan() and times it.
  void plan_timed(const SparseCase& problem);
  /// Time to make the current plan, learning included; 0 for a contender without plans.
  double plan_seconds() const { return plan_seconds_; }
  /// The part of plan_seconds() spent on learning; NaN for a contender that does not learn.
  virtual double learn_seconds() const { return kUnknown; }
  /// Converts a new signal, or copies it to where execute() reads it, such as a GPU. Not timed.
  virtual void load(const SparseCase& /*problem*/) {}
  /// The timed work. Blocks until the result is in the device's memory.
  virtual void execute(const SparseCase& problem) = 0;
  /// Time of one execution with cold caches, and median time of warm executions over about `budget` seconds.
  /// A contender on another device overrides both with that device's clock.
  virtual double cold_seconds(const SparseCase& problem);
  virtual double warm_seconds(const SparseCase& problem, double budget);
  /// The result of the latest execution; not timed.
  virtual Answer answer(const SparseCase& problem) const = 0;

 private:
  double plan_seconds_ = 0;
};

/// The contenders in table order. `only`: see selected().
std::vector<std::unique_ptr<Contender>> make_contenders(const std::vector<std::string>& only,
                                                        const Lineup& lineup, bool cpu, bool gpu);

/// The known support as a template. With noise, a template must know the noise level, so it is learned from
/// the earlier signal, as in a stream.
Template known_template(const SparseCase& problem, const Device& device, int threads = 1);

// Kinds of contenders, one file each.
void add_dense_contenders(const Lineup& lineup, std::vector<std::unique_ptr<Contender>>& contenders);
void add_published_contenders(std::vector<std::unique_ptr<Contender>>& contenders);
void add_sfft_contenders(const Lineup& lineup, std::vector<std::unique_ptr<Contender>>& contenders);
void add_cuda_contenders(std::vector<std::unique_ptr<Contender>>& contenders);

}  // namespace sfft::apps
