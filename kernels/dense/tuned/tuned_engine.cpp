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

/// All kernels are compiled at the same time.
std::vector<std::unique_ptr<const Executable>> load(const std::vector<Program>& programs, bool single,
                                                    tuned::Tables& tables, const cuda::DeviceInfo& device) {
  std::vector<std::string> sources;
  for (const Program& program : programs) {
    for (const tuned::Kernel& kernel : program.kernels) sources.push_back(source_of(kernel, single));
  }
  const auto compiled = tuned::compile(sources, fmt::format("sm_{}{}", device.major, device.minor));
  std::vector<std::unique_ptr<const Executable>> made;
  std::size_t next = 0;
  for (const Program& program : programs) {
    std::vector<Image> images;
    for (std::size_t k = 0; k < program.kernels.size(); ++k, ++next) {
      if (!compiled[next].failure.empty())
        throw Error(ErrorCode::backend_unavailable, compiled[next].failure);
      images.push_back(compiled[next].image);
    }
    made.push_back(std::make_unique<const Executable>(program, images, single, tables, device));
  }
  return made;
}

template <class Real>
ElementType own_type(const DenseProblem& problem) noexcept {
  return problem.real ? element_type_of<Real>::value : element_type_of<std::complex<Real>>::value;
}

/// Samples of cameras are read as they are; doubles by a real float plan are not worth a kernel.
template <class Real>
std::vector<ElementType> read_types(const DenseProblem& problem) {
  std::vector<ElementType> types{own_type<Real>(problem)};
  if (problem.real) types.insert(types.end(), {ElementType::u8, ElementType::u16});
  return types;
}

std::size_t signal_bytes(const DenseProblem& problem, ElementType type) {
  return static_cast<std::size_t>(problem.strides.batch) * element_bytes(type);
}

template <class Real>
class TunedEngine final : public GpuDenseEngine<Real> {
 public:
  TunedEngine(const DenseProblem& problem, Choice choice)
      : problem_(problem),
        choice_(std::move(choice)),
        device_(cuda::device_info(problem.device)),
        tables_(kSingle) {
    const std::vector<ElementType> types = read_types<Real>(problem);
    std::vector<Program> programs;
    for (const ElementType type : types)
      programs.push_back(lay_out({problem, kSingle, false, type}, choice_));
    programs.push_back(lay_out({problem, kSingle, true, own_type()}, choice_));
    std::vector<std::unique_ptr<const Executable>> made = load(programs, kSingle, tables_, device_);
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
    call.input_bytes = signal_bytes(problem_, type);
    call.output_bytes = spectrum_bytes();
    forward_.at(type)->run(call, stream);
  }

  void inverse(const std::complex<Real>* spectra, void* signals, Real scale, std::byte* workspace,
               CUstream_st* stream) const override {
    Call call = this->call(spectra, signals, scale, workspace);
    call.input_bytes = spectrum_bytes();
    call.output_bytes = signal_bytes(problem_, own_type());
    inverse_->run(call, stream);
  }

  std::string kernel() const override { return tuned::to_text(choice_); }
  std::string name() const override { return "tuned kernels: " + tuned::to_text(choice_); }

 private:
  static constexpr bool kSingle = sizeof(Real) == 4;

  ElementType own_type() const noexcept { return detail::own_type<Real>(problem_); }
  std::size_t spectrum_bytes() const {
    return static_cast<std::size_t>(problem_.spectrum_points()) * sizeof(std::complex<Real>);
  }
  Call call(const void* input, void* output, Real scale, std::byte* workspace) const {
    return {input, output, workspace, static_cast<double>(scale), problem_.batch};
  }

  DenseProblem problem_;
  Choice choice_;
  const cuda::DeviceInfo& device_;
  tuned::Tables tables_;
  std::map<ElementType, std::unique_ptr<const Executable>> forward_;
  std::unique_ptr<const Executable> inverse_;
};

template <class Real>
class KeepingEngine final : public GpuKeepingEngine<Real> {
 public:
  KeepingEngine(const DenseProblem& problem, const Choice& choice, device::Keep keep)
      : problem_(problem), device_(cuda::device_info(problem.device)), tables_(kSingle) {
    const std::vector<ElementType> types = read_types<Real>(problem);
    std::vector<Program> programs;
    for (const ElementType type : types)
      programs.push_back(lay_out({problem, kSingle, false, type, keep}, choice));
    std::vector<std::unique_ptr<const Executable>> made = load(programs, kSingle, tables_, device_);
    for (std::size_t i = 0; i < types.size(); ++i) forward_.emplace(types[i], std::move(made[i]));
  }

  std::size_t workspace_bytes() const noexcept override { return forward_.begin()->second->scratch_bytes(); }
  void forward(const void* signals, ElementType type, const device::KeptPart& part, Real scale,
               std::byte* workspace, CUstream_st* stream) const override {
    Call call{signals, nullptr, workspace, static_cast<double>(scale), problem_.batch};
    call.input_bytes = signal_bytes(problem_, type);
    call.kept = part;
    forward_.at(type)->run(call, stream);
  }

 private:
  static constexpr bool kSingle = sizeof(Real) == 4;

  DenseProblem problem_;
  const cuda::DeviceInfo& device_;
  tuned::Tables tables_;
  std::map<ElementType, std::unique_ptr<const Executable>> forward_;
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

template <class Real>
std::unique_ptr<const GpuKeepingEngine<Real>> make_keeping_engine(const DenseProblem& problem,
                                                                  const std::string& kernel,
                                                                  device::Keep keep) {
  const cuda::DeviceScope scope(problem.device);
  const auto choice = remembered<Real>(problem, kernel);
  if (!choice) throw Error(ErrorCode::backend_unavailable, "these kernels do not fit the problem");
  return std::make_unique<const KeepingEngine<Real>>(problem, *choice, keep);
}

template std::unique_ptr<const GpuKeepingEngine<float>> make_keeping_engine(const DenseProblem&,
                                                                            const std::string&, device::Keep);
template std::unique_ptr<const GpuKeepingEngine<double>> make_keeping_engine(const DenseProblem&,
                                                                             const std::string&,
                                                                             device::Keep);
template std::unique_ptr<const GpuDenseEngine<float>> make_tuned_engine(const DenseProblem&,
                                                                        const std::string&, bool);
template std::unique_ptr<const GpuDenseEngine<double>> make_tuned_engine(const DenseProblem&,
                                                                         const std::string&, bool);

}  // namespace sfft::detail
