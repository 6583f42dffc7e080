// SPDX-License-Identifier: Apache-2.0
// Tests that calls give the same bits with any number of threads, from run to run, at any place in memory,
// and in another process (docs/promises.md). Calls of every kind are drawn from a seed. Where results depend
// on the number of threads, the test says for which numbers they are equal. SFFT_LONG_TEST=N draws N times as
// many calls and repeats each 20 times.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "bench/known_signals.hpp"
#include "sfft/error.hpp"
#include "sfft/sfft.hpp"
#include "tests/support/kept_plans.hpp"
#include "tests/support/strided.hpp"

namespace sfft::same_bits_test {
namespace {

using test::SparseSignal;

constexpr std::array kThreads{1, 2, 3, 8, 16};

class Random {
 public:
  explicit Random(std::uint64_t seed) : generator_(seed) {}
  std::size_t below(std::size_t n) { return generator_() % n; }
  bool one_in(std::size_t n) { return below(n) == 0; }
  template <class T>
  T pick(std::initializer_list<T> choices) {
    return choices.begin()[below(choices.size())];
  }
  double normal() { return normal_(generator_); }

 private:
  std::mt19937_64 generator_;
  std::normal_distribution<double> normal_{0, 1};
};

/// The bytes of a call's results, by name.
class Results {
 public:
  template <class T>
  void add(const std::string& name, const T* values, std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T> || std::is_same_v<T, std::complex<float>> ||
                  std::is_same_v<T, std::complex<double>>);
    parts_[name].append(reinterpret_cast<const char*>(values), count * sizeof(T));
  }
  template <class T>
  void add(const std::string& name, const std::vector<T>& values) {
    add(name, values.data(), values.size());
  }
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void add(const std::string& name, T value) { add(name, &value, 1); }
  void add(const std::string& name, const std::string& text) { add(name, text.data(), text.size()); }
  template <class Real>
  void add(const std::string& name, const Spectrum<Real>& spectrum) {
    add(name + " support", *spectrum.support);
    add(name + " values", spectrum.values);
    add(name + " errors", spectrum.standard_error);
    const Quality& quality = spectrum.quality;
    for (const double number :
         {quality.error_l2, quality.relative_error, quality.tail_energy, quality.residual})
      add(name + " quality", number);
    add(name + " quality", quality.finite);
    add(name + " path", spectrum.path);
  }
  void add(const std::string& name, const Template& tmpl) { add(name, test::bytes_of(tmpl)); }

  /// The names of parts that differ.
  std::string different(const Results& other) const {
    std::string names;
    for (const auto& [name, bytes] : parts_) {
      const auto found = other.parts_.find(name);
      if (found == other.parts_.end() || found->second != bytes) names += (names.empty() ? "" : ", ") + name;
    }
    if (parts_.size() != other.parts_.size()) names += " (other parts)";
    return names;
  }
  /// Whether the call ended with an error.
  bool refused() const { return parts_.contains("error"); }
  /// FNV-1a of all parts.
  std::uint64_t hash() const {
    std::uint64_t sum = 0xcbf29ce484222325;
    for (const auto& [name, bytes] : parts_) {
      for (const std::string* text : {&name, &bytes})
        for (const char c : *text) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    }
    return sum;
  }

 private:
  std::map<std::string, std::string> parts_;
};

/// A call with all that was drawn for it.
struct Call {
  std::string name;
  /// Runs the call with `threads` threads, on arrays that begin `shift` elements after an aligned address.
  std::function<Results(int threads, std::size_t shift)> run;
  /// Numbers of threads with the same class give the same bits.
  std::function<int(int threads)> class_of = [](int) { return 0; };
};

/// A signal of any type, which can be copied to any place in memory.
struct Signal {
  Shape shape{1};
  ElementType type = ElementType::f32;
  std::vector<std::byte> samples;

  class Copy {
   public:
    Copy(const Signal& signal, std::size_t shift)
        : memory_(signal.samples.size() + 64),
          first_(memory_.data() + shift * element_bytes(signal.type)),
          signal_(&signal) {
      std::memcpy(first_, signal.samples.data(), signal.samples.size());
    }
    SignalView view() const {
      return {first_, static_cast<std::size_t>(signal_->shape.points()), signal_->type, signal_->shape};
    }
    const void* data() const { return first_; }

   private:
    std::vector<std::byte> memory_;
    std::byte* first_;
    const Signal* signal_;
  };
  Copy at(std::size_t shift) const { return {*this, shift}; }
};

template <class T>
void store(const std::vector<std::complex<double>>& from, std::vector<std::byte>& to) {
  to.resize(from.size() * sizeof(T));
  for (std::size_t i = 0; i < from.size(); ++i) {
    T value;
    if constexpr (std::is_same_v<T, std::int16_t> || std::is_same_v<T, std::int32_t>) {
      constexpr double kTop = std::numeric_limits<T>::max();
      value = static_cast<T>(std::clamp(kTop / 6 * from[i].real(), -kTop, kTop));
    } else if constexpr (std::is_same_v<T, std::complex<std::int16_t>>) {
      const auto part = [](double x) { return static_cast<std::int16_t>(std::clamp(5e3 * x, -3e4, 3e4)); };
      value = {part(from[i].real()), part(from[i].imag())};
    } else if constexpr (std::is_integral_v<T>) {
      constexpr double kTop = std::numeric_limits<T>::max();
      value = static_cast<T>(std::clamp(kTop / 2 + kTop / 12 * from[i].real(), 0.0, kTop));
    } else if constexpr (std::is_floating_point_v<T>) {
      value = static_cast<T>(from[i].real());
    } else {
      value = T(from[i]);
    }
    std::memcpy(to.data() + i * sizeof(T), &value, sizeof value);
  }
}

Signal stored(const std::vector<std::complex<double>>& samples, const Shape& shape, ElementType type) {
  Signal signal{shape, type, {}};
  switch (type) {
    case ElementType::u8:
      store<std::uint8_t>(samples, signal.samples);
      break;
    case ElementType::u16:
      store<std::uint16_t>(samples, signal.samples);
      break;
    case ElementType::f32:
      store<float>(samples, signal.samples);
      break;
    case ElementType::f64:
      store<double>(samples, signal.samples);
      break;
    case ElementType::c64:
      store<std::complex<float>>(samples, signal.samples);
      break;
    case ElementType::c128:
      store<std::complex<double>>(samples, signal.samples);
      break;
    case ElementType::s16:
      store<std::int16_t>(samples, signal.samples);
      break;
    case ElementType::s32:
      store<std::int32_t>(samples, signal.samples);
      break;
    case ElementType::cs16:
      store<std::complex<std::int16_t>>(samples, signal.samples);
      break;
    default:
      break;
  }
  return signal;
}

/// White noise.
Signal noise(Random& random, std::int64_t signals, const Shape& shape, ElementType type) {
  std::vector<std::complex<double>> samples(static_cast<std::size_t>(signals * shape.points()));
  for (auto& sample : samples) sample = {random.normal(), random.normal()};
  return stored(samples, shape, type);
}

/// Tones at the support, whose amplitudes differ from frame to frame by `change`, and noise.
std::vector<Signal> frames_of(Random& random, const SparseSignal& truth, ElementType type, std::size_t count,
                              double change, double level) {
  std::vector<Signal> frames;
  for (std::size_t t = 0; t < count; ++t) {
    SparseSignal frame = truth;
    for (auto& value : frame.values)
      value *= 1 + change * static_cast<double>(t) / static_cast<double>(count);
    auto samples = frame.samples();
    if (level > 0)
      for (auto& sample : samples) sample += level * std::complex<double>(random.normal(), random.normal());
    frames.push_back(stored(samples, truth.shape, type));
  }
  return frames;
}

std::vector<Signal::Copy> copies_at(const std::vector<Signal>& signals, std::size_t shift) {
  std::vector<Signal::Copy> copies;
  for (const Signal& signal : signals) copies.push_back(signal.at(shift));
  return copies;
}

std::vector<SignalView> views_of(const std::vector<Signal::Copy>& copies) {
  std::vector<SignalView> views;
  for (const Signal::Copy& copy : copies) views.push_back(copy.view());
  return views;
}

std::string text(const Shape& shape, ElementType type) {
  return " " + shape.to_string() + " " + to_string(type);
}

/// Lines, images and volumes; sizes with small factors, odd sizes and primes. Some are large enough for
/// several threads.
Shape draw_shape(Random& random) {
  switch (random.below(4)) {
    case 0:
      return Shape(random.pick({1000, 4096, 9973, 30030, 1 << 16, 98304, 65537, 1 << 17}));
    case 1:
      return Shape(random.pick({64, 97, 200}), random.pick({128, 300, 251}));
    case 2:
      return Shape(random.pick({256, 360}), random.pick({512, 405}));
    default:
      return Shape(random.pick({16, 31, 48}), random.pick({32, 45}), random.pick({24, 64, 61}));
  }
}

ElementType draw_type(Random& random) {
  return random.pick({ElementType::u8, ElementType::u16, ElementType::f32, ElementType::f64, ElementType::c64,
                      ElementType::c128, ElementType::s16, ElementType::s32, ElementType::cs16});
}

SparseSignal draw_truth(Random& random, const Shape& shape, ElementType type) {
  return SparseSignal::random(shape, !is_complex(type), static_cast<std::int64_t>(2 + random.below(10)),
                              static_cast<unsigned>(random.below(1 << 20)));
}

// --- the kinds of calls ---

Call learn_call(Random& random) {
  const Shape shape = draw_shape(random);
  const ElementType type = draw_type(random);
  const auto keep = random.pick<Criterion>(
      {Largest{static_cast<std::int64_t>(1 + random.below(200))}, Energy{0.8}, Energy{0.999}, AboveNoise{4}});
  const std::size_t count = random.pick({1, 1, 3});
  const bool reference = random.one_in(3);
  const auto method =
      count == 1 && random.one_in(3) ? LearnOptions::Method::automatic : LearnOptions::Method::dense;
  const auto frames = std::make_shared<const std::vector<Signal>>(
      frames_of(random, draw_truth(random, shape, type), type, count, 0.2, random.pick({0.0, 0.01, 0.5})));
  return {
      "learn" + text(shape, type) + " keep " + std::to_string(keep.index()) + " of " + std::to_string(count),
      [=](int threads, std::size_t shift) {
        const auto copies = copies_at(*frames, shift);
        const auto views = views_of(copies);
        Results results;
        results.add("template", learn(views, {.keep = keep,
                                              .reference = reference,
                                              .device = Device::cpu(),
                                              .threads = threads,
                                              .method = method}));
        return results;
      }};
}

Call learn_at_call(Random& random) {
  const Shape shape = draw_shape(random);
  const ElementType type = draw_type(random);
  const SparseSignal truth = draw_truth(random, shape, type);
  const auto frame = std::make_shared<const Signal>(frames_of(random, truth, type, 1, 0, 0.1).front());
  return {"learn_at" + text(shape, type), [=](int threads, std::size_t shift) {
            Results results;
            results.add("template", learn_at(frame->at(shift).view(), truth.support, threads));
            return results;
          }};
}

/// Whether a line is transformed in two passes by several threads, and in one piece by a single one.
bool long_float_line(const Shape& shape, bool single) {
  return single && shape[shape.rank() - 1] == shape.points() && shape.points() >= 1 << 16;
}

template <class Real>
Call plan_call(Random& random, Path path) {
  const Shape shape =
      path == Path::direct ? Shape(random.pick({12, 60}), random.pick({8, 33})) : draw_shape(random);
  const ElementType type = draw_type(random);
  const SparseSignal truth = draw_truth(random, shape, type);
  const std::size_t count = 1 + random.below(7);
  const double level = random.pick({0.0, 0.05});
  const bool known = random.one_in(2), reference = random.one_in(2);
  const auto frames =
      std::make_shared<const std::vector<Signal>>(frames_of(random, truth, type, count, 0.1, level));
  const std::uint64_t seed = random.below(1000);
  std::string name = std::string("plan ") + to_string(path) + (sizeof(Real) == 4 ? " float" : " double") +
                     text(shape, type) + (known ? " known" : " learned");
  Call call{
      name, [=](int threads, std::size_t shift) {
        const auto copies = copies_at(*frames, shift);
        const auto views = views_of(copies);
        const Template tmpl =
            known ? Template::from_support(shape, truth.real ? Domain::real : Domain::complex, truth.support)
                  : learn(views[0], {.keep = Largest{static_cast<std::int64_t>(truth.support.size()) + 3},
                                     .reference = reference,
                                     .device = Device::cpu()});
        Results results;
        const PlanOptions options{.device = Device::cpu(),
                                  .batch = static_cast<int>(count),
                                  .path = path,
                                  .threads = threads,
                                  .seed = seed};
        try {
          const Plan<Real> plan(tmpl, options);
          results.add("plan", plan.keep_in(tmpl));
          auto workspace = plan.make_workspace();
          std::vector<Spectrum<Real>> spectra(count);
          plan.execute(views, spectra, workspace);
          for (std::size_t i = 0; i < count; ++i) {
            results.add("batch", spectra[i]);
            Results together, alone;
            together.add("frame", spectra[i]);
            alone.add("frame", plan.execute(views[i]));
            results.add("alone", plan.execute(views[i]));
            // Several threads share such a line if it is alone, in two passes.
            if (plan.info().path == Path::dense && threads > 1 && long_float_line(shape, sizeof(Real) == 4))
              continue;
            EXPECT_EQ(together.different(alone), "") << name << " alone or in a batch, threads " << threads;
          }
        } catch (const Error& error) {
          if (error.code() != ErrorCode::not_sparse) throw;
          results.add("error", error.what());
        }
        return results;
      }};
  if ((path == Path::dense || path == Path::automatic) && long_float_line(shape, sizeof(Real) == 4))
    call.class_of = [](int threads) { return threads > 1 ? 1 : 0; };
  return call;
}

Call any_plan(Random& random) {
  const Path path =
      random.pick({Path::comb, Path::comb, Path::flat_window, Path::direct, Path::dense, Path::automatic});
  return random.one_in(2) ? plan_call<float>(random, path) : plan_call<double>(random, path);
}

void add(Results& results, const Discovery& found) {
  results.add("spectrum", found.spectrum);
  results.add("verified", found.verified);
  results.add("bound", found.missed_bound);
  results.add("reason", found.reason);
  results.add("samples", found.samples);
  for (const OffGridTone& tone : found.off_grid_tones) {
    results.add("tones", tone.frequency.data(), 3);
    results.add("tones", tone.standard_error.data(), 3);
    results.add("tones", &tone.amplitude, 1);
  }
}

Call discover_call(Random& random) {
  const Shape shape = draw_shape(random);
  const ElementType type = draw_type(random);
  const SparseSignal truth = draw_truth(random, shape, type);
  const auto frame = std::make_shared<const Signal>(
      frames_of(random, truth, type, 1, 0, random.pick({0.0, 0.001, 1.0})).front());
  DiscoverOptions options;
  options.k = random.pick<std::optional<std::int64_t>>(
      {std::nullopt, static_cast<std::int64_t>(truth.support.size()), 5});
  options.dense_fallback = random.pick({true, false});
  options.seed = random.below(1000);
  options.path = random.pick({Path::automatic, Path::automatic, Path::comb, Path::flat_window, Path::dense});
  return {"discover" + text(shape, type), [=](int threads, std::size_t shift) {
            DiscoverOptions with = options;
            with.threads = threads;
            Results results;
            add(results, discover(frame->at(shift).view(), with));
            return results;
          }};
}

Call transform_call(Random& random) {
  const Shape shape = draw_shape(random);
  const ElementType type = draw_type(random);
  const SparseSignal truth = draw_truth(random, shape, type);
  const auto frame =
      std::make_shared<const Signal>(frames_of(random, truth, type, 1, 0, random.pick({0.0, 0.1})).front());
  const auto keep = random.pick<Criterion>({Largest{4}, Energy{0.9}, AboveNoise{5}});
  return {"transform" + text(shape, type), [=](int threads, std::size_t shift) {
            Results results;
            add(results, transform(frame->at(shift).view(), keep, {.threads = threads}));
            return results;
          }};
}

template <class Real>
Call dense_call(Random& random) {
  const Shape shape = random.one_in(6)   ? random.pick({Shape(1 << 18), Shape(64, 64, 64), Shape(99225)})
                      : random.one_in(2) ? draw_shape(random)
                                         : Shape(random.pick({1, 2, 15, 16, 17, 64, 127, 240, 1021}));
  const bool real = random.one_in(2);
  const ElementType type = random.one_in(4)    ? random.pick({ElementType::u8, ElementType::u16})
                           : sizeof(Real) == 4 ? (real ? ElementType::f32 : ElementType::c64)
                                               : (real ? ElementType::f64 : ElementType::c128);
  const std::int64_t batch = shape.points() < 2000 ? random.pick({1, 3, 16, 37}) : random.pick({1, 1, 2, 5});
  dense::Options options;
  options.device = Device::cpu();
  options.batch = batch;
  options.normalization =
      random.pick({dense::Options::Normalization::none, dense::Options::Normalization::inverse_by_n,
                   dense::Options::Normalization::unitary});
  std::string layout = "contiguous";
  if (random.one_in(3)) {
    const auto cases = test::strided_cases(shape, batch);
    const auto& drawn = cases[random.below(cases.size())];
    options.signal_strides = drawn.strides;
    layout = drawn.name;
  }
  const bool strided = options.signal_strides.batch != 0;
  const std::size_t span = strided ? test::span_of(shape, options.signal_strides, batch)
                                   : static_cast<std::size_t>(batch * shape.points());
  const auto signal =
      std::make_shared<const Signal>(noise(random, 1, Shape(static_cast<std::int64_t>(span)), type));
  Call call{std::string("dense ") + (sizeof(Real) == 4 ? "float " : "double ") + (real ? "real" : "complex") +
                text(shape, type) + " batch " + std::to_string(batch) + " " + layout,
            [=](int threads, std::size_t shift) {
              dense::Options with = options;
              with.threads = threads;
              const dense::Plan<Real> plan(shape, real ? Domain::real : Domain::complex, with);
              std::vector<std::complex<Real>> spectra(plan.spectrum_points());
              const auto copy = signal->at(shift);
              plan.forward(copy.data(), type, spectra);
              Results results;
              results.add("spectra", spectra);
              if (real) {
                std::vector<Real> back(span + shift);
                plan.inverse(spectra, std::span(back).subspan(shift));
                results.add("back", back.data() + shift, span);
              } else {
                std::vector<std::complex<Real>> back(span + shift);
                plan.inverse(spectra, std::span(back).subspan(shift));
                results.add("back", back.data() + shift, span);
              }
              return results;
            }};
  if (long_float_line(shape, sizeof(Real) == 4))
    call.class_of = [batch](int threads) { return threads > batch ? 1 : 0; };
  return call;
}

Call compact_call(Random& random) {
  const Shape shape = random.one_in(2) ? draw_shape(random) : Shape(random.pick({16, 100, 240, 1021}));
  const bool real = random.one_in(2);
  dense::Options options;
  const auto storage = [&] {
    return random.pick(
        {dense::Storage::f32, dense::Storage::f16, dense::Storage::bf16, dense::Storage::block16});
  };
  options.formats.signal = storage();
  options.formats.spectrum = storage();
  options.device = Device::cpu();
  options.batch = shape.points() < 2000 ? random.pick({1, 3, 16}) : random.pick({1, 2});
  const auto values = std::make_shared<const Signal>(
      noise(random, options.batch, shape, real ? ElementType::f32 : ElementType::c64));
  Call call{std::string("compact ") + (real ? "real" : "complex") + text(shape, values->type) + " " +
                dense::to_string(options.formats.signal) + " " + dense::to_string(options.formats.spectrum),
            [=](int threads, std::size_t) {
              dense::Options with = options;
              with.threads = threads;
              const dense::CompactPlan plan(shape, real ? Domain::real : Domain::complex, with);
              const auto batch = static_cast<std::size_t>(options.batch);
              std::vector<std::byte> signals(plan.signal_bytes()), spectra(plan.spectrum_bytes());
              std::vector<dense::CompactScale> given(batch), found(batch), returned(batch);
              const std::size_t bytes = signals.size() / batch;
              for (std::size_t b = 0; b < batch; ++b) {
                const auto* from = reinterpret_cast<const float*>(values->samples.data());
                given[b] = dense::store_compact(
                    std::span(from + b * plan.signal_values(), plan.signal_values()), options.formats.signal,
                    std::span(signals).subspan(b * bytes, bytes));
              }
              plan.forward(signals, given, spectra, found);
              Results results;
              results.add("spectra", spectra);
              plan.inverse(spectra, found, signals, returned);
              results.add("back", signals);
              for (const auto* scales : {&given, &found, &returned}) {
                for (const dense::CompactScale& scale : *scales) {
                  results.add("exponents", scale.exponent);
                  results.add("predicted", scale.relative_error);
                }
              }
              return results;
            }};
  if (long_float_line(shape, true))
    call.class_of = [batch = options.batch](int threads) { return threads > batch ? 1 : 0; };
  return call;
}

template <class Real>
Call selective_call(Random& random) {
  const Shape shape = draw_shape(random);
  const bool real = random.one_in(2);
  const ElementType type = sizeof(Real) == 4 ? (real ? ElementType::f32 : ElementType::c64)
                                             : (real ? ElementType::f64 : ElementType::c128);
  dense::Options options;
  options.device = Device::cpu();
  options.batch = random.pick({1, 2});
  const auto signal = std::make_shared<const Signal>(noise(random, options.batch, shape, type));
  std::set<std::int64_t> chosen;
  for (int i = 0; i < 30; ++i)
    chosen.insert(static_cast<std::int64_t>(random.below(static_cast<std::size_t>(
        shape.points() / shape[shape.rank() - 1] * (shape[shape.rank() - 1] / 2 + 1)))));
  const std::vector<std::int64_t> support(chosen.begin(), chosen.end());
  Call call{
      "selective" + text(shape, type), [=](int threads, std::size_t shift) {
        dense::Options with = options;
        with.threads = threads;
        const Domain domain = real ? Domain::real : Domain::complex;
        const auto copy = signal->at(shift);
        const auto above =
            dense::SelectivePlan<Real>::above(shape, domain, with)
                .forward_above(copy.data(), type, Real(3) * std::sqrt(static_cast<Real>(shape.points())));
        Results results;
        results.add("above indices", above.indices);
        results.add("above values", above.values);
        std::vector<std::complex<Real>> values(support.size() * static_cast<std::size_t>(options.batch));
        dense::SelectivePlan<Real>::at(shape, domain, support, with).forward_at(copy.data(), type, values);
        results.add("at", values);
        return results;
      }};
  const std::int64_t batch = options.batch;
  if (long_float_line(shape, sizeof(Real) == 4))
    call.class_of = [batch](int threads) { return threads > batch ? 1 : 0; };
  return call;
}

/// On the host alone: `device` only selects the kind of plan.
Call out_of_core_call(Random& random) {
  const Shape shape = draw_shape(random);
  const bool real = random.one_in(2);
  const ElementType type = real ? ElementType::f32 : ElementType::c64;
  dense::Options options;
  options.device = Device::gpu();
  options.host_share = 1;
  options.batch = random.pick({1, 2});
  const auto signal = std::make_shared<const Signal>(noise(random, options.batch, shape, type));
  return {"out of core" + text(shape, type), [=](int threads, std::size_t shift) {
            dense::Options with = options;
            with.threads = threads;
            Results results;
            try {
              const dense::Plan<float> plan(shape, real ? Domain::real : Domain::complex, with);
              std::vector<std::complex<float>> spectra(plan.spectrum_points());
              plan.forward(signal->at(shift).data(), type, spectra);
              results.add("spectra", spectra);
            } catch (const Error& error) {
              if (error.code() != ErrorCode::backend_unavailable) throw;
              results.add("error", error.what());
            }
            return results;
          }};
}

template <class Real>
Call tracker_call(Random& random) {
  const Shape shape = random.pick({Shape(36, 48), Shape(96, 128)});
  const auto frames = std::make_shared<std::vector<Signal>>();
  const auto start = static_cast<unsigned>(random.below(1000));
  for (int t = 0; t < 100; ++t) {
    const auto film = test::film_frame(shape[0], shape[1], t % 40, start + static_cast<unsigned>(t / 40));
    Signal frame{shape, ElementType::u8, {}};
    frame.samples.resize(film.size());
    std::memcpy(frame.samples.data(), film.data(), film.size());
    frames->push_back(std::move(frame));
  }
  TrackerOptions options;
  options.plan.device = Device::cpu();
  options.plan.path = random.pick({Path::automatic, Path::comb, Path::dense});
  options.calibrate = random.pick({256, 12});
  options.background_learning = random.one_in(2);
  options.similarity = random.one_in(3);
  const std::size_t together = random.pick({1, 7, 32});
  return {std::string("tracker ") + (sizeof(Real) == 4 ? "float " : "double ") +
              to_string(options.plan.path) + (options.background_learning ? " in the background " : " ") +
              shape.to_string() + " by " + std::to_string(together),
          [=](int threads, std::size_t shift) {
            TrackerOptions with = options;
            with.plan.threads = threads;
            const auto copies = copies_at(*frames, shift);
            const auto views = views_of(copies);
            Tracker<Real> tracker(learn(views[0], {.keep = Largest{24}, .device = Device::cpu()}), with);
            Results results;
            for (std::size_t at = 0; at < views.size(); at += together) {
              for (const typename Tracker<Real>::Frame& tracked :
                   tracker.push(std::span(views).subspan(at, std::min(together, views.size() - at)))) {
                results.add("frames", tracked.spectrum);
                results.add("actions", tracked.action);
                results.add("reasons", tracked.reason);
                results.add("calibration", tracked.calibration);
                if (tracked.similarity) {
                  results.add("similarity", tracked.similarity->overlap);
                  results.add("similarity", tracked.similarity->energy);
                }
              }
            }
            results.add("template", tracker.current_template());
            return results;
          }};
}

Call reconstruct_call(Random& random) {
  const Shape shape = draw_shape(random);
  const ElementType type = draw_type(random);
  const SparseSignal truth = draw_truth(random, shape, type);
  const auto frame = std::make_shared<const Signal>(frames_of(random, truth, type, 1, 0, 0).front());
  return {"reconstruct" + text(shape, type), [=](int threads, std::size_t shift) {
            const Template tmpl =
                Template::from_support(shape, truth.real ? Domain::real : Domain::complex, truth.support);
            PlanOptions options{.device = Device::cpu(), .path = Path::dense, .threads = threads};
            const Spectrum<double> spectrum = transform(frame->at(shift).view(), tmpl, options);
            const std::vector<std::int64_t> begin(static_cast<std::size_t>(shape.rank()), 0);
            Results results;
            results.add("signal", reconstruct_complex(spectrum, begin, Shape(shape.extents())));
            return results;
          }};
}

using Draw = Call (*)(Random&);
constexpr std::array<std::pair<const char*, Draw>, 15> kKinds{{
    {"learn", learn_call},
    {"learn_at", learn_at_call},
    {"plan", any_plan},
    {"plan again", any_plan},
    {"discover", discover_call},
    {"transform", transform_call},
    {"dense float", dense_call<float>},
    {"dense double", dense_call<double>},
    {"compact", compact_call},
    {"selective float", selective_call<float>},
    {"selective double", selective_call<double>},
    {"out of core", out_of_core_call},
    {"tracker float", tracker_call<float>},
    {"tracker double", tracker_call<double>},
    {"reconstruct", reconstruct_call},
}};

int long_factor() {
  const char* asked = std::getenv("SFFT_LONG_TEST");
  return asked == nullptr ? 0 : std::max(1, std::atoi(asked));
}

class SameBitsTest : public testing::TestWithParam<std::size_t> {};

TEST_P(SameBitsTest, AnyNumberOfThreadsAndEveryRun) {
  const auto draw = kKinds[GetParam()].second;
  const int calls = long_factor() == 0 ? 4 : 40 * long_factor();
  const int repeats = long_factor() == 0 ? 2 : 20;
  int refused = 0;
  for (int number = 0; number < calls; ++number) {
    const std::uint64_t seed = 1000 * GetParam() + static_cast<std::uint64_t>(number);
    Random random(seed);
    const Call call = draw(random);
    SCOPED_TRACE(call.name + ", seed " + std::to_string(seed));
    std::map<int, Results> expected;  // by class
    for (const int threads : kThreads) {
      Results results = call.run(threads, 0);
      refused += threads == 1 && results.refused();
      const auto [first, added] = expected.try_emplace(call.class_of(threads), results);
      if (added) continue;
      EXPECT_EQ(results.different(first->second), "") << threads << " threads";
    }
    for (int repeat = 0; repeat < repeats; ++repeat) {
      const int threads = random.pick({1, 2, 3, 8, 16});
      const std::size_t shift = random.below(4);
      EXPECT_EQ(call.run(threads, shift).different(expected.at(call.class_of(threads))), "")
          << "run again with " << threads << " threads, shift " << shift;
    }
  }
  EXPECT_LT(refused, calls);
}

/// Threads share the samples of a line in parts of its buckets.
TEST(SameBits, PartsOfALine) {
  Random random(5);
  const SparseSignal truth = SparseSignal::random(Shape(1 << 17), false, 300, 7);
  const std::vector<Signal> frames = frames_of(random, truth, ElementType::c64, 2, 0.1, 0.01);
  const auto copies = copies_at(frames, 0);
  for (const bool reference : {false, true}) {
    const Template tmpl =
        learn(copies[0].view(), {.keep = Largest{300}, .reference = reference, .device = Device::cpu()});
    Results expected;
    for (const int threads : kThreads) {
      const Plan<float> plan(tmpl, {.device = Device::cpu(), .path = Path::comb, .threads = threads});
      ASSERT_GT(plan.info().buckets[0], 256);
      Results results;
      results.add("spectrum", plan.execute(copies[1].view()));
      if (threads == 1) expected = results;
      EXPECT_EQ(results.different(expected), "") << threads << " threads";
    }
  }
}

/// A hash of one call of each kind. What earlier calls left in caches must not matter, so the order may
/// differ.
std::vector<std::uint64_t> hashes(bool backwards) {
  std::vector<std::uint64_t> all(kKinds.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t kind = backwards ? all.size() - 1 - i : i;
    Random random(100000 + kind);
    all[kind] = kKinds[kind].second(random).run(3, 0).hash();
  }
  return all;
}

TEST(SameBits, AnotherProcess) {
  if (const char* file = std::getenv("SFFT_HASH_FILE")) {  // this is the other process
    const auto all = hashes(true);
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<const char*>(all.data()),
               static_cast<std::streamsize>(all.size() * sizeof all[0]));
    return;
  }
  const auto file = std::filesystem::temp_directory_path() / ("sfft-hashes-" + std::to_string(::getpid()));
  const std::string command =
      "env -u GTEST_OUTPUT -u GTEST_SHARD_INDEX -u GTEST_TOTAL_SHARDS SFFT_HASH_FILE='" + file.string() +
      "' '" + std::filesystem::read_symlink("/proc/self/exe").string() +
      "' --gtest_filter=SameBits.AnotherProcess --gtest_brief=1";
  ASSERT_EQ(std::system(command.c_str()), 0);
  const auto expected = hashes(false);
  std::vector<std::uint64_t> all(expected.size());
  std::ifstream(file, std::ios::binary)
      .read(reinterpret_cast<char*>(all.data()), static_cast<std::streamsize>(all.size() * sizeof all[0]));
  std::filesystem::remove(file);
  for (std::size_t kind = 0; kind < all.size(); ++kind)
    EXPECT_EQ(all[kind], expected[kind]) << kKinds[kind].first;
}

INSTANTIATE_TEST_SUITE_P(Kinds, SameBitsTest, testing::Range(std::size_t{0}, kKinds.size()),
                         [](const auto& kind) {
                           std::string name = kKinds[kind.param].first;
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

}  // namespace
}  // namespace sfft::same_bits_test
