// SPDX-License-Identifier: Apache-2.0
// Transforms frames in rounds that fit into bounded scratch: copies them into a dense batch unless the engine
// can read them in place, transforms, and picks the support with a kernel.
#include "sfft/plan/device_dense_path.hpp"

#include <algorithm>

#include "kernels/cuda/stages/pack.hpp"
#include "kernels/cuda/stages/samples.hpp"

namespace sfft::detail::cuda {

namespace {

/// Largest scratch of a round, unless a single frame needs more.
constexpr std::size_t kRoundBytes = std::size_t{1} << 30;

/// The engine's batch is the frames of one round.
template <class Real>
struct DenseState final : State {
  DenseProblem round;
  std::string engines;  ///< DenseEngines::name
  std::unique_ptr<const GpuDenseEngine<Real>> engine;
  std::size_t input = 0, spectrum = 0, partials = 0;  ///< offsets in scratch, behind the engine's workspace
};

}  // namespace

template <class Real>
DenseExecutor<Real>::DenseExecutor(const DenseProblem& frame, DenseEngines<Real> engines,
                                   const std::vector<DensePick>& picks,
                                   const std::vector<std::uint8_t>& flags)
    : frame_(frame),
      engines_(std::move(engines)),
      points_(frame.shape.points()),
      picks_(upload(picks)),
      errors_(upload(std::vector<Real>(picks.size(), Real(0)))),
      flags_(upload(flags)) {
  const bool real = frame.real;
  plan_.k = plan_.rows = static_cast<int>(picks.size());
  plan_.real = real;
  plan_.gain = plan_.bias = errors_.as<Real>();
  plan_.flags = flags_.as<std::uint8_t>();
  spectrum_.row_points = real ? frame.row_points() / 2 + 1 : frame.row_points();
  spectrum_.points = frame.spectrum_points();
  spectrum_.row_extent = real ? frame.row_points() : 0;
  spectrum_.picks = picks_.as<DensePick>();
}

template <class Real>
std::size_t DenseExecutor<Real>::input_bytes() const noexcept {
  return static_cast<std::size_t>(points_) * sizeof(Real) * (plan_.real ? 1 : 2);
}

template <class Real>
std::size_t DenseExecutor<Real>::spectrum_bytes() const noexcept {
  return static_cast<std::size_t>(spectrum_.points) * sizeof(Complex<Real>);
}

template <class Real>
DenseProblem DenseExecutor<Real>::round(int frames) const noexcept {
  const std::size_t frame_bytes = input_bytes() + spectrum_bytes() + kDenseBlocks * sizeof(DensePartial);
  DenseProblem problem = frame_;
  problem.batch = static_cast<std::int64_t>(
      std::clamp<std::size_t>(kRoundBytes / frame_bytes, 1, static_cast<std::size_t>(std::max(1, frames))));
  return problem;
}

template <class Real>
std::unique_ptr<State> DenseExecutor<Real>::make_state(int frames) const {
  const std::size_t in_bytes = input_bytes(), out_bytes = spectrum_bytes();
  auto state = std::make_unique<DenseState<Real>>();
  state->round = round(frames);
  state->engines = engines_.name;
  state->frames = static_cast<int>(state->round.batch);
  const auto count = static_cast<std::size_t>(state->frames);
  state->engine = engines_.make(state->round);
  state->input = aligned(state->engine->workspace_bytes());
  state->spectrum = state->input + aligned(count * in_bytes);
  state->partials = state->spectrum + aligned(count * out_bytes);
  state->scratch = DeviceBuffer(state->partials + count * kDenseBlocks * sizeof(DensePartial));
  // A last round with fewer frames still transforms a whole batch: the rest must hold finite numbers.
  clear(state->scratch.data() + state->input, count * in_bytes, nullptr);
  synchronize(nullptr);
  return state;
}

template <class Real>
bool DenseExecutor<Real>::takes(const State& state, int frames) const {
  const auto* own = dynamic_cast<const DenseState<Real>*>(&state);
  if (own == nullptr || own->engines != engines_.name) return false;
  const DenseProblem wanted = round(frames);
  return own->round.shape == wanted.shape && own->round.real == wanted.real &&
         own->round.batch == wanted.batch;
}

template <class Real>
void DenseExecutor<Real>::enqueue(const Batch<Real>& batch, State& state, Stream stream) const {
  const auto& own = static_cast<const DenseState<Real>&>(state);
  DenseSpectrum<Real> spectrum = spectrum_;
  std::byte* scratch = own.scratch.data();
  spectrum.values = reinterpret_cast<const Complex<Real>*>(scratch + own.spectrum);
  const Element native = plan_.real ? (sizeof(Real) == 4 ? Element::f32 : Element::f64)
                                    : (sizeof(Real) == 4 ? Element::c64 : Element::c128);
  for (int first = 0; first < batch.count; first += own.frames) {
    const Batch<Real> part = part_of(batch, first, own.frames, plan_.k);
    // A last round with fewer frames also transforms what the previous round left behind, and ignores the
    // result.
    const void* input = part.frames;
    auto type = static_cast<ElementType>(part.type);
    const bool aligned = reinterpret_cast<std::uintptr_t>(input) % 16 == 0;
    if (!own.engine->reads(type) || !aligned || part.frame_pitch != points_ || part.count < own.frames) {
      launch_copy(copy_rows(part.count, points_, part.frame_pitch, points_), part.frames, part.type,
                  scratch + own.input, native, 1, stream);
      input = scratch + own.input;
      type = static_cast<ElementType>(native);
    }
    own.engine->forward(input, type, reinterpret_cast<std::complex<Real>*>(scratch + own.spectrum), Real(1),
                        scratch, stream);
    launch_pick(plan_, spectrum, part, reinterpret_cast<DensePartial*>(scratch + own.partials), stream);
  }
}

template class DenseExecutor<float>;
template class DenseExecutor<double>;

}  // namespace sfft::detail::cuda
