#include "sfft/dense.hpp"

#include <fmt/format.h>

#include <new>

#include "kernels/dense/engine.hpp"
#include "sfft/error.hpp"

namespace sfft::dense {

namespace {

constexpr std::align_val_t kAlignment{64};

/// The workspace that the caller gave, checked, or one for this call.
class Scratch {
 public:
  Scratch(std::span<std::byte> given, std::size_t bytes) : data_(given.data()) {
    if (given.empty() && bytes > 0) {
      data_ = own_ = static_cast<std::byte*>(::operator new(bytes, kAlignment, std::nothrow));
      if (own_ == nullptr) {
        throw Error(ErrorCode::out_of_memory,
                    fmt::format("a dense transform needs {} bytes of workspace", bytes));
      }
      return;
    }
    if (given.size() < bytes) {
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("the workspace has {} bytes, workspace_bytes() asks for {}", given.size(), bytes));
    }
    if (reinterpret_cast<std::uintptr_t>(data_) % static_cast<std::size_t>(kAlignment) != 0) {
      throw Error(ErrorCode::invalid_argument, "the workspace is not aligned to 64 bytes");
    }
  }
  ~Scratch() { ::operator delete(own_, kAlignment); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::byte* data() const noexcept { return data_; }

 private:
  std::byte* data_;
  std::byte* own_ = nullptr;
};

template <class T>
void check_span(std::span<T> values, std::size_t expected, const char* what) {
  if (values.size() != expected) {
    throw Error(ErrorCode::shape_mismatch,
                fmt::format("the {} has {} values, this plan's has {}", what, values.size(), expected));
  }
  if (values.data() == nullptr) throw Error(ErrorCode::invalid_argument, fmt::format("the {} is null", what));
}

/// Input and output may be the same memory where `in_place` says so, otherwise they must be apart.
void check_overlap(const void* input, std::size_t input_bytes, const void* output, std::size_t output_bytes,
                   bool in_place) {
  const auto in = reinterpret_cast<std::uintptr_t>(input);
  const auto out = reinterpret_cast<std::uintptr_t>(output);
  if (in + input_bytes <= out || out + output_bytes <= in || (in_place && in == out)) return;
  throw Error(ErrorCode::invalid_argument,
              "input and output overlap: only complex transforms of the plan's own precision work in place");
}

}  // namespace

const char* to_string(Engine engine) noexcept {
  switch (engine) {
    case Engine::automatic:
      return "automatic";
    case Engine::built_in:
      return "built_in";
    case Engine::fftw:
      return "fftw";
  }
  return "unknown";
}

bool available(Engine engine) noexcept {
  switch (engine) {
    case Engine::automatic:
    case Engine::built_in:
      return true;
    case Engine::fftw:
      return sfft::detail::have_fftw();
  }
  return false;
}

namespace detail {

template <class Real>
class Impl {
 public:
  Impl(const Shape& grid, bool is_real, const Options& options) : shape(grid), real(is_real) {
    if (options.threads < 0) {
      throw Error(
          ErrorCode::invalid_argument,
          fmt::format("threads is {}: give a positive number, or 0 for one per core", options.threads));
    }
    if (!available(options.engine)) {
      throw Error(ErrorCode::backend_unavailable,
                  fmt::format("the engine {} is not in this build: use automatic or built_in",
                              to_string(options.engine)));
    }
    engine = options.engine;
    if (engine == Engine::automatic) engine = Engine::built_in;
    const std::int64_t row = shape[shape.rank() - 1];
    spectrum_points = static_cast<std::size_t>(real ? shape.points() / row * (row / 2 + 1) : shape.points());
    if (options.normalization == Normalization::inverse_by_n)
      scale = Real(1.0 / static_cast<double>(shape.points()));
    try {
      library = engine == Engine::fftw ? sfft::detail::make_fftw_engine<Real>(shape, real, options.planning)
                                       : sfft::detail::make_built_in_engine<Real>(shape, real);
    } catch (const std::bad_alloc&) {
      throw Error(ErrorCode::out_of_memory,
                  fmt::format("no memory to plan a transform of {}", shape.to_string()));
    }
  }

  void check_kind(bool wants_real) const {
    if (real != wants_real) {
      throw Error(ErrorCode::type_mismatch,
                  real ? "the plan is for real signals: give inverse() real values"
                       : "the plan is for complex signals: give inverse() complex values");
    }
  }

  Shape shape;
  bool real;
  Engine engine = Engine::automatic;
  std::size_t spectrum_points = 0;
  Real scale = 1;
  std::unique_ptr<const sfft::detail::DenseEngine<Real>> library;
};

}  // namespace detail

template <class Real>
Plan<Real>::Plan(const Shape& shape, bool real, const Options& options)
    : impl_(std::make_shared<const detail::Impl<Real>>(shape, real, options)) {}

template <class Real>
void Plan<Real>::forward(const SignalView& signal, std::span<std::complex<Real>> spectrum,
                         std::span<std::byte> workspace) const {
  if (signal.shape() != impl_->shape) {
    throw Error(ErrorCode::shape_mismatch, fmt::format("the signal is {}, the plan is for {}",
                                                       signal.shape().to_string(), impl_->shape.to_string()));
  }
  if (impl_->real && is_complex(signal.type())) {
    throw Error(ErrorCode::type_mismatch, fmt::format("a {} signal for a real plan: make the plan complex",
                                                      sfft::to_string(signal.type())));
  }
  check_span(spectrum, impl_->spectrum_points, "spectrum");
  const bool own_type = signal.type() == element_type_of<std::complex<Real>>::value;
  check_overlap(signal.data(), signal.bytes(), spectrum.data(), spectrum.size_bytes(), own_type);
  const Scratch scratch(workspace, workspace_bytes());
  impl_->library->forward(signal.data(), signal.type(), spectrum.data(), scratch.data());
}

template <class Real>
void Plan<Real>::inverse(std::span<const std::complex<Real>> spectrum, std::span<std::complex<Real>> signal,
                         std::span<std::byte> workspace) const {
  impl_->check_kind(false);
  check_span(spectrum, impl_->spectrum_points, "spectrum");
  check_span(signal, impl_->spectrum_points, "signal");
  check_overlap(spectrum.data(), spectrum.size_bytes(), signal.data(), signal.size_bytes(), true);
  const Scratch scratch(workspace, workspace_bytes());
  impl_->library->inverse(spectrum.data(), signal.data(), impl_->scale, scratch.data());
}

template <class Real>
void Plan<Real>::inverse(std::span<const std::complex<Real>> spectrum, std::span<Real> signal,
                         std::span<std::byte> workspace) const {
  impl_->check_kind(true);
  check_span(spectrum, impl_->spectrum_points, "spectrum");
  check_span(signal, static_cast<std::size_t>(impl_->shape.points()), "signal");
  check_overlap(spectrum.data(), spectrum.size_bytes(), signal.data(), signal.size_bytes(), false);
  const Scratch scratch(workspace, workspace_bytes());
  impl_->library->inverse(spectrum.data(), signal.data(), impl_->scale, scratch.data());
}

template <class Real>
std::size_t Plan<Real>::spectrum_points() const noexcept {
  return impl_->spectrum_points;
}
template <class Real>
std::size_t Plan<Real>::workspace_bytes() const noexcept {
  return impl_->library->workspace_bytes();
}
template <class Real>
const Shape& Plan<Real>::shape() const noexcept {
  return impl_->shape;
}
template <class Real>
bool Plan<Real>::is_real() const noexcept {
  return impl_->real;
}
template <class Real>
Engine Plan<Real>::engine() const noexcept {
  return impl_->engine;
}
template <class Real>
std::string Plan<Real>::engine_name() const {
  return impl_->library->name();
}

template class Plan<float>;
template class Plan<double>;

}  // namespace sfft::dense
