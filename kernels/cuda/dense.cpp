#include "kernels/cuda/dense.hpp"

#include <cufft.h>
#include <fmt/format.h>

#include <algorithm>

#include "kernels/cuda/samples.hpp"
#include "sfft/error.hpp"

namespace sfft::detail::cuda {

namespace {

/// Rounds of at most this much scratch where one frame needs less.
constexpr std::size_t kRoundBytes = std::size_t{1} << 30;

void check_fft(cufftResult result, const char* what) {
  if (result == CUFFT_SUCCESS) return;
  if (result == CUFFT_ALLOC_FAILED)
    throw Error(ErrorCode::out_of_memory, fmt::format("{}: cuFFT is out of memory", what));
  throw Error(ErrorCode::device,
              fmt::format("{}: cuFFT failed with code {}", what, static_cast<int>(result)));
}

std::size_t aligned(std::size_t bytes) {
  return (bytes + 255) / 256 * 256;
}

/// A cuFFT plan remembers its stream and work area, so each state has its own.
struct DenseState final : State {
  cufftHandle handle = 0;
  std::size_t input = 0, spectrum = 0, partials = 0;  ///< offsets in scratch
  ~DenseState() override {
    if (handle != 0) static_cast<void>(cufftDestroy(handle));
  }
};

template <class Real>
cufftType fft_type(bool real) {
  if (sizeof(Real) == 4) return real ? CUFFT_R2C : CUFFT_C2C;
  return real ? CUFFT_D2Z : CUFFT_Z2Z;
}

template <class Real>
void execute(cufftHandle handle, bool real, const void* samples, void* out) {
  void* in = const_cast<void*>(samples);  // out of place, so cuFFT only reads it
  cufftResult result;
  if constexpr (sizeof(Real) == 4) {
    result = real ? cufftExecR2C(handle, static_cast<cufftReal*>(in), static_cast<cufftComplex*>(out))
                  : cufftExecC2C(handle, static_cast<cufftComplex*>(in), static_cast<cufftComplex*>(out),
                                 CUFFT_FORWARD);
  } else {
    result =
        real ? cufftExecD2Z(handle, static_cast<cufftDoubleReal*>(in), static_cast<cufftDoubleComplex*>(out))
             : cufftExecZ2Z(handle, static_cast<cufftDoubleComplex*>(in),
                            static_cast<cufftDoubleComplex*>(out), CUFFT_FORWARD);
  }
  check_fft(result, "the dense transform");
}

}  // namespace

template <class Real>
DenseExecutor<Real>::DenseExecutor(const GridShape& shape, bool real, const std::vector<DensePick>& picks,
                                   const std::vector<std::uint8_t>& flags)
    : shape_(shape),
      picks_(upload(picks)),
      errors_(upload(std::vector<Real>(picks.size(), Real(0)))),
      flags_(upload(flags)) {
  for (int d = 0; d < shape.rank; ++d) points_ *= shape.extents[d];
  const std::int64_t last = shape.extents[shape.rank - 1];
  plan_.k = plan_.rows = static_cast<int>(picks.size());
  plan_.real = real;
  plan_.gain = plan_.bias = errors_.as<Real>();
  plan_.flags = flags_.as<std::uint8_t>();
  spectrum_.row_points = real ? last / 2 + 1 : last;
  spectrum_.points = points_ / last * spectrum_.row_points;
  spectrum_.row_extent = real ? last : 0;
  spectrum_.picks = picks_.as<DensePick>();
}

template <class Real>
std::unique_ptr<State> DenseExecutor<Real>::make_state(int frames) const {
  const bool real = plan_.real;
  const std::size_t in_bytes = static_cast<std::size_t>(points_) * sizeof(Real) * (real ? 1 : 2);
  const std::size_t out_bytes = static_cast<std::size_t>(spectrum_.points) * sizeof(Complex<Real>);
  const std::size_t frame_bytes = in_bytes + out_bytes + kDenseBlocks * sizeof(DensePartial);
  auto state = std::make_unique<DenseState>();
  state->frames = static_cast<int>(
      std::clamp<std::size_t>(kRoundBytes / frame_bytes, 1, static_cast<std::size_t>(std::max(1, frames))));
  const auto count = static_cast<std::size_t>(state->frames);
  check_fft(cufftCreate(&state->handle), "making a cuFFT plan");
  check_fft(cufftSetAutoAllocation(state->handle, 0), "making a cuFFT plan");
  long long extents[3];
  std::copy_n(shape_.extents, 3, extents);
  std::size_t work = 0;
  check_fft(cufftMakePlanMany64(state->handle, shape_.rank, extents, nullptr, 1, points_, nullptr, 1,
                                spectrum_.points, fft_type<Real>(real), state->frames, &work),
            "making a cuFFT plan");
  state->input = aligned(work);
  state->spectrum = state->input + aligned(count * in_bytes);
  state->partials = state->spectrum + aligned(count * out_bytes);
  state->scratch = DeviceBuffer(state->partials + count * kDenseBlocks * sizeof(DensePartial));
  check_fft(cufftSetWorkArea(state->handle, state->scratch.data()), "making a cuFFT plan");
  // A short last round transforms whole batches: what it has no frames for must hold numbers.
  clear(state->scratch.data() + state->input, count * in_bytes, nullptr);
  synchronize(nullptr);
  return state;
}

template <class Real>
void DenseExecutor<Real>::enqueue(const Batch<Real>& batch, State& state, Stream stream) const {
  auto& own = static_cast<DenseState&>(state);
  check_fft(cufftSetStream(own.handle, stream), "the dense transform");
  DenseSpectrum<Real> spectrum = spectrum_;
  std::byte* scratch = own.scratch.data();
  spectrum.values = reinterpret_cast<const Complex<Real>*>(scratch + own.spectrum);
  const auto bytes = static_cast<std::int64_t>(element_size(batch.type));
  const Element native = plan_.real ? (sizeof(Real) == 4 ? Element::f32 : Element::f64)
                                    : (sizeof(Real) == 4 ? Element::c64 : Element::c128);
  for (int first = 0; first < batch.count; first += own.frames) {
    Batch<Real> part = batch;
    part.count = std::min(own.frames, batch.count - first);
    part.frames = static_cast<const std::byte*>(batch.frames) + first * batch.frame_pitch * bytes;
    part.values += static_cast<std::int64_t>(first) * plan_.k;
    part.standard_error += static_cast<std::int64_t>(first) * plan_.k;
    part.accounts += first;
    // A short last round transforms what the round before left behind, and nobody looks at it.
    const void* input = part.frames;
    const bool aligned = reinterpret_cast<std::uintptr_t>(input) % 16 == 0;
    if (part.type != native || !aligned || part.frame_pitch != points_ || part.count < own.frames) {
      launch_convert(part, points_, scratch + own.input, stream);
      input = scratch + own.input;
    }
    execute<Real>(own.handle, plan_.real, input, scratch + own.spectrum);
    launch_pick(plan_, spectrum, part, reinterpret_cast<DensePartial*>(scratch + own.partials), stream);
  }
}

template <class Real>
std::string DenseExecutor<Real>::describe() const {
  int version = 0;
  static_cast<void>(cufftGetVersion(&version));
  return fmt::format("cuFFT {}.{}", version / 1000, version % 1000 / 100);
}

template class DenseExecutor<float>;
template class DenseExecutor<double>;

}  // namespace sfft::detail::cuda
