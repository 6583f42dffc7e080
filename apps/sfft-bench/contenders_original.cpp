// SPDX-License-Identifier: Apache-2.0
// The original sFFT code, unchanged and in double precision, in builds configured with a checkout
// (SFFT_PEER_DIR).
#include <fmt/format.h>

#include <bit>

#include "contender.hpp"
#include "original_bridge.hpp"
#include "sfft/error.hpp"
#include "timing.hpp"

namespace sfft::apps {

namespace {

class OriginalContender final : public Contender {
 public:
  explicit OriginalContender(int version) : version_(version) {}

  std::string name() const override { return fmt::format("original sFFT-{}", version_); }
  bool ready(const SparseCase& problem) const override {
    return plan_ != nullptr && points_ == problem.points && k_ == problem.k;
  }
  void plan(const SparseCase& problem) override {
    // With other sizes the code aborts or writes past its buffers.
    if (!std::has_single_bit(static_cast<std::uint64_t>(problem.points)) || problem.points > (1 << 24) ||
        problem.points < 64 * problem.k || problem.points < (1 << 13)) {
      throw Error(ErrorCode::invalid_argument, "the original takes powers of two from 2^13 to 2^24");
    }
    points_ = problem.points;
    k_ = problem.k;
    plan_ = sfft_original_plan(static_cast<int>(points_), static_cast<int>(k_), version_);
    if (plan_ == nullptr)
      throw Error(ErrorCode::invalid_argument, "the original makes no plan for this N and k");
  }
  void load(const SparseCase& problem) override {
    samples_.assign(problem.signal.begin(), problem.signal.end());
  }
  void execute(const SparseCase&) override {
    sfft_original_execute(plan_, reinterpret_cast<double*>(samples_.data()));
  }
  Answer answer(const SparseCase& problem) const override {
    // Versions 1 and 2 find far more than k terms, in no particular order; all of them count.
    const int count = sfft_original_terms(0, nullptr, nullptr);
    std::vector<int> frequencies(static_cast<std::size_t>(count));
    std::vector<std::complex<double>> values(frequencies.size());
    sfft_original_terms(count, frequencies.data(), reinterpret_cast<double*>(values.data()));
    Answer answer;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      answer.tones.push_back({frequencies[i], values[i] * static_cast<double>(problem.points)});
    }
    answer.samples_read = 0;  // not counted by the code
    answer.detail = "double, FFTW_MEASURE";
    return answer;
  }

 private:
  int version_;
  /// Never freed: the code's sfft_free_plan() frees memory that was never allocated.
  void* plan_ = nullptr;
  std::int64_t points_ = 0, k_ = 0;
  LineVector<std::complex<double>> samples_;
};

}  // namespace

void add_original_contenders(std::vector<std::unique_ptr<Contender>>& contenders) {
  for (const int version : {1, 2, 3}) contenders.push_back(std::make_unique<OriginalContender>(version));
}

}  // namespace sfft::apps
