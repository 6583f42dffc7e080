// SPDX-License-Identifier: Apache-2.0
// The public API with any arguments: every call ends or throws sfft::Error; sizes stay small, values do not.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "fuzz/input.hpp"
#include "sfft/sfft.hpp"

namespace {

using sfft::fuzz::Input;

sfft::Shape shape_of(Input& input) {
  const auto rank = input.between(1, 3);
  std::int64_t extents[3];
  for (auto& extent : extents) extent = input.between(1, rank == 1 ? 600 : rank == 2 ? 40 : 12);
  return sfft::Shape(std::span<const std::int64_t>(extents, static_cast<std::size_t>(rank)));
}

template <class T>
std::vector<T> samples(Input& input, const sfft::Shape& shape) {
  std::vector<T> values(static_cast<std::size_t>(shape.points()));
  const T a = input.number<T>(), b = input.number<T>();
  const auto period = static_cast<std::size_t>(input.between(1, 20));
  for (std::size_t t = 0; t < values.size(); ++t) values[t] = t % period == 0 ? a : b;
  return values;
}

void planned(Input& input) {
  const sfft::Shape shape = shape_of(input);
  const bool real = input.flip();
  std::vector<std::int64_t> support(static_cast<std::size_t>(input.between(0, 40)));
  for (auto& f : support)
    f = input.flip() ? input.between(0, shape.points() - 1) : input.number<std::int32_t>();
  const auto tmpl = sfft::Template::from_support(shape, real, support);
  sfft::PlanOptions options;
  options.path = static_cast<sfft::Path>(input.between(0, 4));
  options.batch = static_cast<int>(input.between(-1, 4));
  options.accuracy = input.flip() ? input.number<double>() : 0;
  options.max_samples = input.flip() ? input.number<double>() : 0;
  options.backend = sfft::Backend::cpu;
  options.threads = static_cast<int>(input.between(1, 2));
  const sfft::Plan<float> plan(tmpl, options);
  auto workspace = plan.make_workspace();
  auto spectrum = plan.make_spectrum();
  const auto x = samples<float>(input, shape);
  const std::vector<std::complex<float>> z(x.begin(), x.end());
  plan.execute(input.flip() ? sfft::SignalView(x, shape) : sfft::SignalView(z, shape), spectrum, workspace);
  if (spectrum.values.size() != static_cast<std::size_t>(plan.make_spectrum().values.size())) std::abort();
}

void learned(Input& input) {
  const sfft::Shape shape = shape_of(input);
  sfft::LearnOptions options;
  options.k = input.between(-1, 60);
  options.energy = input.flip() ? input.number<double>() : 0;
  options.threshold_sigma = input.flip() ? input.number<double>() : 0;
  options.reference = input.flip();
  options.backend = sfft::Backend::cpu;
  const auto first = samples<float>(input, shape);
  sfft::Tracker<float> tracker(sfft::learn(sfft::SignalView(first, shape), options));
  for (int t = 0; t < 3; ++t) {
    const auto frame = samples<float>(input, shape);
    static_cast<void>(tracker.push(sfft::SignalView(frame, shape)));
  }
}

void dense(Input& input) {
  const sfft::Shape shape = shape_of(input);
  sfft::dense::Options options;
  options.engine = sfft::dense::Engine::built_in;
  options.batch = static_cast<int>(input.between(-1, 4));
  options.threads = static_cast<int>(input.between(1, 2));
  const sfft::dense::Plan<float> plan(shape, input.flip(), options);
  const auto type = static_cast<sfft::ElementType>(input.number<std::uint8_t>());
  const std::vector<std::complex<double>> signal(plan.signal_points(), {1, 2});  // the largest element
  std::vector<std::complex<float>> spectrum(plan.spectrum_points() - (input.between(0, 9) == 0 ? 1 : 0));
  plan.forward(signal.data(), type, spectrum);
}

void discovered(Input& input) {
  const sfft::Shape shape = shape_of(input);
  const auto x = samples<float>(input, shape);
  const std::vector<std::complex<float>> z(x.begin(), x.end());
  sfft::TransformOptions options;
  options.k = input.between(-1, 30);
  static_cast<void>(
      sfft::transform(input.flip() ? sfft::SignalView(x, shape) : sfft::SignalView(z, shape), options));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  Input input(bytes, count);
  try {
    switch (input.between(0, 3)) {
      case 0:
        planned(input);
        break;
      case 1:
        learned(input);
        break;
      case 2:
        dense(input);
        break;
      default:
        discovered(input);
    }
  } catch (const sfft::Error&) {
  }
  return 0;
}
