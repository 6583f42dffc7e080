// SPDX-License-Identifier: Apache-2.0
// FFTW in single precision with FFTW_MEASURE limited to a second, on one thread and on all.
#include <cstring>

#include "bench/environment.hpp"
#include "bench/technologies/clock.hpp"
#include "bench/technologies/fftw_api.hpp"
#include "bench/technologies/technology.hpp"

namespace sfft::technologies {

namespace {

class Fftw final : public Technology {
 public:
  explicit Fftw(int threads) : api_(threads) {
    facts_.device = bench::processor();
    facts_.driver = "FFTW, " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
    if (!api_.threads_library.empty()) facts_.driver += ", " + api_.threads_library;
    facts_.steps = {"fftwf_plan_many_dft"};
  }
  ~Fftw() override { clear(); }
  const Facts& facts() const override { return facts_; }
  void prepare(const Problem& problem, const Setting&) override {
    constexpr double kSeconds = 1;
    clear();
    bytes_ = static_cast<std::size_t>(problem.points()) * sizeof(Complex);
    input_ = static_cast<float*>(api_.allocate(bytes_));
    output_ = static_cast<float*>(api_.allocate(bytes_));
    if (input_ == nullptr || output_ == nullptr) throw Failure("out of memory");
    api_.limit_seconds(kSeconds);
    plan_ = api_.plan(problem, input_, output_, false);
  }
  void upload(const Complex* signal) override { std::memcpy(input_, signal, bytes_); }
  void download(Complex* spectrum) override { std::memcpy(static_cast<void*>(spectrum), output_, bytes_); }
  Sample run() override {
    const Stopwatch watch;
    api_.execute(plan_, input_, output_);
    Sample sample;
    sample.wall_us = watch.us();
    return sample;
  }

 private:
  void clear() {
    if (plan_ != nullptr) api_.destroy(plan_);
    if (input_ != nullptr) api_.release(input_);
    if (output_ != nullptr) api_.release(output_);
    plan_ = nullptr;
    input_ = output_ = nullptr;
  }
  FftwApi<float> api_;
  Facts facts_;
  std::size_t bytes_ = 0;
  float *input_ = nullptr, *output_ = nullptr;
  FftwApi<float>::Plan plan_ = nullptr;
};

}  // namespace

std::unique_ptr<Technology> open_fftw(int device) {
  if (device > 0) return nullptr;
  return std::make_unique<Fftw>(1);
}

std::unique_ptr<Technology> open_fftw_threads(int device) {
  if (device > 0) return nullptr;
  return std::make_unique<Fftw>(host_threads());
}

}  // namespace sfft::technologies
