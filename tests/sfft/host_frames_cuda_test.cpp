// SPDX-License-Identifier: Apache-2.0
// Tests the transfer paths of page-locked frames to the GPU: every path gives the same bits as the host's
// gather.
#include <algorithm>
#include <random>
#include <span>
#include <type_traits>
#include <vector>

#include "bench/known_signals.hpp"
#include "sfft/error.hpp"
#include "sfft/sfft.hpp"
#include "tests/support/gpu.hpp"
#include "tests/support/throws.hpp"

namespace sfft::host_frames_cuda_test {
namespace {

using test::code_of;
using test::film_frame;
using test::SparseSignal;

class HostFramesCuda : public test::GpuTest {};

TEST_F(HostFramesCuda, ReadsPageLockedFramesInPlace) {
  const Shape shape{240, 320};
  const auto film = film_frame(240, 320, 3);
  const Template tmpl =
      learn(SignalView(film_frame(240, 320, 0), shape), {.keep = Largest{100}, .reference = true});
  const detail::cuda::PinnedBuffer pinned(2 * film.size());
  std::copy(film.begin(), film.end(), pinned.as<std::uint8_t>());
  std::copy(film.begin(), film.end(), pinned.as<std::uint8_t>() + film.size());
  const std::vector<SignalView> frames{
      SignalView(std::span<const std::uint8_t>(pinned.as<std::uint8_t>(), film.size()), shape),
      SignalView(std::span<const std::uint8_t>(pinned.as<std::uint8_t>() + film.size(), film.size()), shape)};
  PlanOptions options{.device = Device::gpu(), .batch = 2, .path = Path::comb};
  options.transfer = PlanOptions::Transfer::mapped;
  const Plan<float> mapped(tmpl, options);
  options.transfer = PlanOptions::Transfer::rows;
  const Plan<float> by_rows(tmpl, options);
  options.transfer = PlanOptions::Transfer::gather;
  const Plan<float> gathered(tmpl, options);
  auto workspace = mapped.make_workspace();
  std::vector<Spectrum<float>> spectra(2);
  mapped.execute(frames, spectra, workspace);
  const auto other = gathered.execute(SignalView(film, shape));
  EXPECT_EQ(spectra[0].values, other.values);
  EXPECT_EQ(spectra[1].values, other.values);
  EXPECT_EQ(code_of([&] { mapped.execute(SignalView(film, shape)); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { by_rows.execute(SignalView(film, shape)); }), ErrorCode::invalid_argument);
  auto row_workspace = by_rows.make_workspace();
  by_rows.execute(frames, spectra, row_workspace);
  for (const Spectrum<float>& spectrum : spectra) {
    EXPECT_EQ(spectrum.values, other.values);
    EXPECT_EQ(spectrum.standard_error, other.standard_error) << "the witness sees the same samples";
    EXPECT_GT(spectrum.transfer_us, 0);
    EXPECT_LT(spectrum.transferred_bytes, shape.points());
  }
}

template <class T>
T random_sample(std::mt19937& random) {
  const auto part = [&] { return random() % 200; };
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<T>(part());
  } else {
    using Real = typename T::value_type;
    const auto re = static_cast<Real>(part());
    return T(re, static_cast<Real>(part()));
  }
}

/// Transfers rows of images of every element type and shape, real and complex, with and without a reference,
/// from blocks of adjacent frames and from single ones. The bits must be those of the host's gather.
template <class Real, class T>
void check_rows(const Shape& shape, bool real, std::size_t offset = 0) {
  constexpr std::size_t kFrames = 45;
  const auto points = static_cast<std::size_t>(shape.points());
  const SparseSignal signal = SparseSignal::random(shape, real, 20, 4);
  // The copy engine transfers rows that begin at unaligned addresses; a kernel transfers the others.
  const detail::cuda::PinnedBuffer pinned((kFrames * points + offset) * sizeof(T));
  std::mt19937 random(5);
  std::vector<SignalView> frames;
  for (std::size_t i = 0; i < kFrames; ++i) {
    T* frame = pinned.as<T>() + offset + i * points;
    for (std::size_t t = 0; t < points; ++t) frame[t] = random_sample<T>(random);
    frames.emplace_back(std::span<const T>(frame, points), shape);
  }
  std::swap(frames[10], frames[30]);  // not adjacent to their neighbours
  PlanOptions options{.device = Device::gpu(), .batch = 32, .path = Path::comb};
  const Template tmpl = Template::from_support(shape, real ? Domain::real : Domain::complex, signal.support);
  options.transfer = PlanOptions::Transfer::rows;
  if (code_of([&] { Plan<Real>(tmpl, options); }) == ErrorCode::not_sparse) return;
  const Plan<Real> by_rows(tmpl, options);
  options.transfer = PlanOptions::Transfer::gather;
  const Plan<Real> gathered(tmpl, options);
  for (const std::size_t count : {std::size_t{1}, std::size_t{9}, kFrames}) {
    std::vector<Spectrum<Real>> got(count), expected(count);
    auto workspace = by_rows.make_workspace();
    auto other = gathered.make_workspace();
    const auto some = std::span(frames).first(count);
    by_rows.execute(some, got, workspace);
    gathered.execute(some, expected, other);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(got[i].values, expected[i].values) << shape.to_string() << ", frame " << i;
      EXPECT_EQ(got[i].quality.error_l2, expected[i].quality.error_l2)
          << shape.to_string() << ", frame " << i;
    }
  }
}

TEST_F(HostFramesCuda, RowsHoldTheSamplesOfImages) {
  for (const Shape& shape : {Shape{240, 320}, Shape{432, 768}, Shape{60, 36}, Shape{128, 1}, Shape{1, 1024},
                             Shape{64, 48, 2}, Shape{4096}}) {
    check_rows<float, std::uint8_t>(shape, true);
    check_rows<float, std::uint8_t>(shape, true, 1);
    check_rows<float, std::uint8_t>(shape, true, 8);
    check_rows<float, std::uint16_t>(shape, true, 2);
    check_rows<float, std::uint16_t>(shape, true);
    check_rows<double, double>(shape, true);
    check_rows<float, std::complex<float>>(shape, false);
    check_rows<double, std::complex<double>>(shape, false);
  }
}

/// Compares plans for frames in page-locked memory with dense transforms in double precision.
TEST_F(HostFramesCuda, PlansForPageLockedFramesReadFewRowsAndSayHowMuchTheyErr) {
  const Shape shape{540, 960};
  const auto points = static_cast<std::size_t>(shape.points());
  const auto first = film_frame(540, 960, 0);
  const Template tmpl = learn(SignalView(first, shape), {.keep = Largest{400}, .reference = true});
  constexpr std::size_t kFrames = 20;
  const detail::cuda::PinnedBuffer pinned(kFrames * points);
  std::vector<SignalView> frames;
  for (std::size_t i = 0; i < kFrames; ++i) {
    const auto film = film_frame(540, 960, static_cast<int>(i) + 1);
    std::copy(film.begin(), film.end(), pinned.as<std::uint8_t>() + i * points);
    frames.emplace_back(std::span<const std::uint8_t>(pinned.as<std::uint8_t>() + i * points, points), shape);
  }
  const Plan<double> exact(tmpl, {.path = Path::dense});
  for (const int batch : {1, 20}) {
    PlanOptions options{.device = Device::gpu(), .batch = batch, .path = Path::comb};
    const Plan<float> anywhere(tmpl, options);
    options.page_locked_frames = true;
    const Plan<float> plan(tmpl, options);
    auto workspace = plan.make_workspace(), other = anywhere.make_workspace();
    std::vector<Spectrum<float>> spectra(kFrames), plain(kFrames);
    plan.execute(frames, spectra, workspace);
    anywhere.execute(frames, plain, other);
    EXPECT_LT(spectra[0].transferred_bytes, shape.points() / 2);
    for (std::size_t i = 0; i < kFrames; i += 5) {
      const auto truth = exact.execute(frames[i]).values;
      double error = 0, norm = 0;
      for (std::size_t j = 0; j < truth.size(); ++j) {
        if (tmpl.support()[j] == 0) continue;
        error += std::norm(std::complex<double>(spectra[i].values[j]) - truth[j]);
        norm += std::norm(truth[j]);
      }
      EXPECT_LE(std::sqrt(error), 4 * spectra[i].quality.error_l2) << batch << ", frame " << i;
      EXPECT_LT(std::sqrt(error / norm), 0.3) << batch << ", frame " << i;
      // A single frame gets the same bits as in a batch.
      Spectrum<float> alone;
      plan.execute(frames[i], alone, workspace);
      EXPECT_EQ(alone.values, spectra[i].values);
      EXPECT_EQ(alone.quality.error_l2, spectra[i].quality.error_l2);
    }
    const auto elsewhere = film_frame(540, 960, 1);
    EXPECT_EQ(plan.execute(SignalView(elsewhere, shape)).values, spectra[0].values) << "gathered by the host";
  }
}

/// The predicted cost of every path includes the transfer from the host, so that no path wins by omitting it.
TEST_F(HostFramesCuda, PlansForPageLockedFramesAreCombsWherePlansForOthersAre) {
  for (const Shape& shape : {Shape{360, 640}, Shape{432, 768}, Shape{720, 1280}}) {
    const auto film = film_frame(shape[0], shape[1], 0);
    const Template tmpl = learn(SignalView(film, shape), {.keep = Largest{1000}, .reference = true});
    for (const int batch : {1, 8, 64}) {
      PlanOptions options{.device = Device::gpu(), .batch = batch};
      const PlanInfo anywhere = Plan<float>(tmpl, options).info();
      options.page_locked_frames = true;
      const Plan<float> plan(tmpl, options);
      EXPECT_EQ(plan.info().path, anywhere.path) << shape.to_string() << "\n" << plan.explain();
      EXPECT_LE(plan.info().predicted_error, 2 * anywhere.predicted_error) << plan.explain();
    }
  }
}

/// A reference that kernels read from page-locked memory gives the same bits as one that the host gathers.
template <class Real, class T>
void check_references(const Shape& shape, bool real, Path path, std::size_t offset = 0) {
  const auto points = static_cast<std::size_t>(shape.points());
  const SparseSignal signal = SparseSignal::random(shape, real, 20, 4);
  std::mt19937 random(5);
  std::vector<T> reference(points), frame(points);
  for (std::vector<T>* samples : {&reference, &frame}) {
    for (T& sample : *samples) sample = random_sample<T>(random);
  }
  const detail::cuda::PinnedBuffer pinned((points + offset) * sizeof(T));
  T* const there = pinned.as<T>() + offset;
  std::copy(reference.begin(), reference.end(), there);
  const Template tmpl = Template::from_support(shape, real ? Domain::real : Domain::complex, signal.support);
  const PlanOptions options{.device = Device::gpu(), .batch = 4, .path = path};
  if (code_of([&] { Plan<Real>(tmpl, options); }) == ErrorCode::not_sparse) return;
  const Plan<Real> plan(tmpl, options);
  std::vector<std::complex<double>> values(signal.support.size());
  for (auto& value : values)
    value = {static_cast<double>(random() % 100), static_cast<double>(random() % 100)};
  const SignalView view(frame, shape);
  const auto gathered = plan.with_reference(SignalView(reference, shape), values).execute(view);
  const auto read =
      plan.with_reference(SignalView(std::span<const T>(there, points), shape), values).execute(view);
  EXPECT_EQ(read.values, gathered.values) << shape.to_string();
  EXPECT_EQ(read.quality.error_l2, gathered.quality.error_l2)
      << shape.to_string() << ": the witness's samples";
  EXPECT_NE(read.values, plan.execute(view).values);
}

TEST_F(HostFramesCuda, ReferencesAreReadWhereTheyLie) {
  for (const Path path : {Path::comb, Path::flat_window}) {
    for (const Shape& shape :
         {Shape{240, 320}, Shape{60, 36}, Shape{1, 1024}, Shape{64, 48, 2}, Shape{4096}, Shape{61, 67}}) {
      check_references<float, std::uint8_t>(shape, true, path);
      check_references<float, std::uint8_t>(shape, true, path, 1);
      check_references<float, std::uint16_t>(shape, true, path, 2);
      check_references<double, double>(shape, true, path);
      check_references<float, std::complex<float>>(shape, false, path);
      check_references<double, std::complex<double>>(shape, false, path);
    }
  }
}

/// A workspace reuses its memory for other plans if it fits them.
TEST_F(HostFramesCuda, AWorkspaceServesOnePlanAfterAnother) {
  const Shape shape{240, 320}, other_shape{120, 160};
  const auto film = film_frame(240, 320, 3), small = film_frame(120, 160, 3);
  const SignalView frame(film, shape), small_frame(small, other_shape);
  struct Use {
    Plan<float> plan;
    SignalView frame;
  };
  std::vector<Use> uses;
  for (const std::int64_t k : {100, 60}) {
    for (const Path path : {Path::comb, Path::dense}) {
      for (const int batch : {1, 4}) {
        const PlanOptions options{.device = Device::gpu(), .batch = batch, .path = path};
        for (const int first : {0, 1})
          uses.push_back(
              {Plan<float>(learn(SignalView(film_frame(240, 320, first), shape), {.keep = Largest{k}}),
                           options),
               frame});
        uses.push_back(
            {Plan<float>(learn(SignalView(film_frame(120, 160, 0), other_shape), {.keep = Largest{k}}),
                         options),
             small_frame});
      }
    }
  }
  std::mt19937 random(3);
  Workspace workspace;
  for (int i = 0; i < 80; ++i) {
    const Use& use = uses[random() % uses.size()];
    Spectrum<float> spectrum;
    use.plan.execute(use.frame, spectrum, workspace);
    const Spectrum<float> expected = use.plan.execute(use.frame);
    EXPECT_EQ(spectrum.values, expected.values) << i;
    EXPECT_EQ(spectrum.quality.error_l2, expected.quality.error_l2) << i;
  }
}

/// One call has frames of different types and kinds of memory; each takes the transfer path that fits.
TEST_F(HostFramesCuda, FramesOfOneCallMayDiffer) {
  const Shape shape{240, 320};
  const auto film = film_frame(240, 320, 3);
  const std::vector<float> floats(film.begin(), film.end());
  const std::vector<double> doubles(film.begin(), film.end());
  const detail::cuda::PinnedBuffer pinned(film.size() * sizeof(double));
  std::copy(doubles.begin(), doubles.end(), pinned.as<double>());
  const SignalView locked(std::span<const double>(pinned.as<double>(), film.size()), shape);
  const std::vector<SignalView> frames{SignalView(film, shape), locked, SignalView(floats, shape),
                                       SignalView(film, shape), SignalView(doubles, shape)};
  const Template tmpl =
      learn(SignalView(film_frame(240, 320, 0), shape), {.keep = Largest{100}, .reference = true});
  for (const int batch : {1, 4}) {
    const Plan<float> plan(tmpl, {.device = Device::gpu(), .batch = batch, .path = Path::comb});
    auto workspace = plan.make_workspace();
    std::vector<Spectrum<float>> spectra(frames.size());
    plan.execute(frames, spectra, workspace);
    for (const Spectrum<float>& spectrum : spectra) EXPECT_EQ(spectrum.values, spectra[0].values);
  }
}

}  // namespace
}  // namespace sfft::host_frames_cuda_test
