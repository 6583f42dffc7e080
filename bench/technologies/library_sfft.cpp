// SPDX-License-Identifier: Apache-2.0
// This library's dense transforms on the CPU, on all threads.
#include <cstring>
#include <optional>

#include "bench/environment.hpp"
#include "bench/technologies/clock.hpp"
#include "bench/technologies/library_shape.hpp"
#include "bench/technologies/technology.hpp"
#include "sfft/dense.hpp"

namespace sfft::technologies {

namespace {

class SfftCpu final : public Technology {
 public:
  SfftCpu() { facts_.device = bench::processor(); }
  const Facts& facts() const override { return facts_; }
  bool inverts() const override { return false; }
  void prepare(const Problem& problem, const Setting&) override try {
    plan_.emplace(shape_of(problem), Domain::complex,
                  dense::Options{.engine = dense::Engine::built_in, .threads = 0, .batch = problem.batch});
    facts_.driver = plan_->engine_name() + ", all threads";
    facts_.steps = {"sfft::dense::Plan"};
    input_.resize(plan_->signal_points());
    output_.resize(plan_->spectrum_points());
    workspace_.resize(plan_->workspace_bytes() + kLine);
  } catch (const std::bad_alloc&) {
    throw Failure("out of memory");
  }
  void upload(const Complex* signal) override {
    std::memcpy(static_cast<void*>(input_.data()), signal, input_.size() * sizeof(Complex));
  }
  void download(Complex* spectrum) override {
    std::memcpy(static_cast<void*>(spectrum), output_.data(), output_.size() * sizeof(Complex));
  }
  Sample run() override {
    void* aligned = workspace_.data();
    std::size_t room = workspace_.size();
    std::align(kLine, plan_->workspace_bytes(), aligned, room);
    const Stopwatch watch;
    plan_->forward(input_.data(), ElementType::c64, output_,
                   {static_cast<std::byte*>(aligned), plan_->workspace_bytes()});
    Sample sample;
    sample.wall_us = watch.us();
    return sample;
  }

 private:
  static constexpr std::size_t kLine = 64;
  Facts facts_;
  std::optional<dense::Plan<float>> plan_;
  std::vector<Complex> input_, output_;
  std::vector<std::byte> workspace_;
};

}  // namespace

std::unique_ptr<Technology> open_sfft_cpu(int device) {
  if (device > 0) return nullptr;
  return std::make_unique<SfftCpu>();
}

}  // namespace sfft::technologies
