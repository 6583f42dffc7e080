// The tuned kernels as a dense engine.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "kernels/dense/gpu_engine.hpp"
#include "kernels/dense/tuned/compiler.hpp"
#include "kernels/dense/tuned/executable.hpp"
#include "kernels/dense/tuned/geometry.hpp"
#include "kernels/dense/tuned/tuner.hpp"
#include "sfft/error.hpp"

namespace sfft::detail {

namespace {

using tuned::Call;
using tuned::Choice;
using tuned::Executable;
using tuned::Image;
using tuned::Program;

template <class Real>
class TunedEngine final : public GpuDenseEngine<Real> {
 public:
  TunedEngine(const DenseProblem& problem, Choice choice)
      : problem_(problem),
        choice_(std::move(choice)),
        device_(cuda::device_info(problem.device)),
        tables_(kSingle) {
    // Samples of cameras are read as they are; doubles by a real float plan are not worth a kernel.
    std::vector<ElementType> types{own_type()};
    if (problem.real) types.insert(types.end(), {ElementType::u8, ElementType::u16});
    std::vector<Program> programs;
    for (const ElementType type : types)
      programs.push_back(lay_out({problem, kSingle, false, type}, choice_));
    programs.push_back(lay_out({problem, kSingle, true, own_type()}, choice_));
    std::vector<std::unique_ptr<const Executable>> made = load(programs);
    for (std::size_t i = 0; i < types.size(); ++i) forward_.emplace(types[i], std::move(made[i]));
    inverse_ = std::move(made.back());
  }

  std::size_t workspace_bytes() const noexcept override {
    return std::max(forward_.at(own_type())->scratch_bytes(), inverse_->scratch_bytes());
  }
  bool reads(ElementType type) const noexcept override { return forward_.count(type) > 0; }
  bool writes_strides() const noexcept override { return true; }

  void forward(const void* signals, ElementType type, std::complex<Real>* spectra, Real scale,
               std::byte* workspace, CUstream_st* stream) const override {
    Call call = this->call(signals, spectra, scale, workspace);
    call.input_bytes = signal_bytes(element_bytes(type));
    call.output_bytes = spectrum_bytes();
    forward_.at(type)->run(call, stream);
  }

  void inverse(const std::complex<Real>* spectra, void* signals, Real scale, std::byte* workspace,
               CUstream_st* stream) const override {
    Call call = this->call(spectra, signals, scale, workspace);
    call.input_bytes = spectrum_bytes();
    call.output_bytes = signal_bytes(element_bytes(own_type()));
    inverse_->run(call, stream);
  }

  std::string kernel() const override { return tuned::to_text(choice_); }
  std::string name() const override { return "tuned kernels: " + tuned::to_text(choice_); }

 private:
  static constexpr bool kSingle = sizeof(Real) == 4;

  ElementType own_type() const noexcept {
    return problem_.real ? element_type_of<Real>::value : element_type_of<std::complex<Real>>::value;
  }
  std::size_t signal_bytes(std::size_t element) const {
    return static_cast<std::size_t>(problem_.strides.batch) * element;
  }
  std::size_t spectrum_bytes() const {
    return static_cast<std::size_t>(problem_.spectrum_points()) * sizeof(std::complex<Real>);
  }
  Call call(const void* input, void* output, Real scale, std::byte* workspace) const {
    return {input, output, workspace, static_cast<double>(scale), problem_.batch};
  }

  /// All kernels are compiled at the same time.
  std::vector<std::unique_ptr<const Executable>> load(const std::vector<Program>& programs) {
    std::vector<std::string> sources;
    for (const Program& program : programs) {
      for (const tuned::Kernel& kernel : program.kernels) sources.push_back(source_of(kernel, kSingle));
    }
    const auto compiled = tuned::compile(sources, fmt::format("sm_{}{}", device_.major, device_.minor));
    std::vector<std::unique_ptr<const Executable>> made;
    std::size_t next = 0;
    for (const Program& program : programs) {
      std::vector<Image> images;
      for (std::size_t k = 0; k < program.kernels.size(); ++k, ++next) {
        if (!compiled[next].failure.empty())
          throw Error(ErrorCode::backend_unavailable, compiled[next].failure);
        images.push_back(compiled[next].image);
      }
      made.push_back(std::make_unique<const Executable>(program, images, kSingle, tables_, device_));
    }
    return made;
  }

  DenseProblem problem_;
  Choice choice_;
  const cuda::DeviceInfo& device_;
  tuned::Tables tables_;
  std::map<ElementType, std::unique_ptr<const Executable>> forward_;
  std::unique_ptr<const Executable> inverse_;
};

/// What wisdom remembers, if it is a choice for this problem.
template <class Real>
std::optional<Choice> remembered(const DenseProblem& problem, const std::string& kernel) {
  const auto choice = kernel.empty() ? std::nullopt : tuned::parse_choice(kernel);
  if (!choice) return std::nullopt;
  const std::size_t shared = cuda::device_info(problem.device).shared_bytes_per_block;
  try {
    constexpr bool kSingle = sizeof(Real) == 4;
    for (const tuned::Kernel& made :
         tuned::lay_out({problem, kSingle, false, element_type_of<Real>::value}, *choice).kernels) {
      if (made.shared_bytes(kSingle) > shared) return std::nullopt;
    }
  } catch (const Error&) {
    return std::nullopt;
  }
  return choice;
}

}  // namespace

template <class Real>
std::unique_ptr<const GpuDenseEngine<Real>> make_tuned_engine(const DenseProblem& problem,
                                                              const std::string& kernel, bool measure) {
  cuda::nvrtc();
  const cuda::DeviceScope scope(problem.device);
  constexpr bool kSingle = sizeof(Real) == 4;
  auto choice = remembered<Real>(problem, kernel);
  if (!choice)
    choice =
        measure ? tuned::choose_by_measurement(problem, kSingle) : tuned::choose_by_rules(problem, kSingle);
  return std::make_unique<const TunedEngine<Real>>(problem, *choice);
}

template std::unique_ptr<const GpuDenseEngine<float>> make_tuned_engine(const DenseProblem&,
                                                                        const std::string&, bool);
template std::unique_ptr<const GpuDenseEngine<double>> make_tuned_engine(const DenseProblem&,
                                                                         const std::string&, bool);

}  // namespace sfft::detail
