// SPDX-License-Identifier: Apache-2.0
// Calls the public API with arbitrary arguments: every call returns or throws sfft::Error. Values are
// arbitrary; sizes are small, occasionally a few hundred points, so that millions of calls take minutes.
// Planning costs most, so most inputs call objects that already exist.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz/input.hpp"
#include "sfft/sfft.hpp"

namespace {

using sfft::ElementType;
using sfft::Shape;
using sfft::SignalView;
using sfft::fuzz::Input;

Shape any_shape(Input& input) {
  const auto rank = input.between(1, 3);
  const bool larger = input.between(0, 63) == 0;
  const std::int64_t max = larger ? (rank == 1   ? 600
                                     : rank == 2 ? 40
                                                 : 12)
                                  : (rank == 1   ? 48
                                     : rank == 2 ? 8
                                                 : 4);
  std::array<std::int64_t, 3> extents{};
  for (auto& extent : extents) extent = input.between(1, max);
  return Shape(std::span<const std::int64_t>(extents).first(static_cast<std::size_t>(rank)));
}

sfft::Domain any_domain(Input& input) {
  return input.flip() ? sfft::Domain::real : sfft::Domain::complex;
}

template <class T>
std::vector<T> samples(Input& input, std::int64_t points) {
  std::vector<T> values(static_cast<std::size_t>(points));
  const T a = input.number<T>(), b = input.number<T>();
  const auto period = static_cast<std::size_t>(input.between(1, 20));
  for (std::size_t t = 0; t < values.size(); ++t) values[t] = t % period == 0 ? a : b;
  return values;
}

/// Memory for every view of any_view(): at most 48 points of 16 bytes in each of three dimensions, at most 8
/// elements apart.
class Frame {
 public:
  explicit Frame(Input& input) : bytes_(kHalf * 2) {
    const auto pattern = input.number<std::array<std::uint8_t, 8>>();
    const std::size_t filled = input.flip() ? 128 : 16;  // bytes filled in every 128
    for (std::size_t i = 0; i < filled; i += pattern.size())
      std::memcpy(bytes_.data() + i, pattern.data(), pattern.size());
    for (std::size_t done = 128; done < bytes_.size(); done *= 2)
      std::memcpy(bytes_.data() + done, bytes_.data(), std::min(done, bytes_.size() - done));
  }
  SignalView view(Input& input, const Shape& shape, ElementType type) const {
    if (input.flip()) return {middle(), static_cast<std::size_t>(shape.points()), type, shape};
    std::array<std::int64_t, 3> strides{};
    for (auto& stride : strides) stride = input.between(0, 16) - 8;
    return {middle(), type, shape, std::span(strides).first(static_cast<std::size_t>(shape.rank()))};
  }

 private:
  static constexpr std::size_t kHalf = std::size_t{16} * 8 * 48 * 3;
  const std::uint8_t* middle() const { return bytes_.data() + kHalf; }
  std::vector<std::uint8_t> bytes_;
};

ElementType any_type(Input& input) {
  return static_cast<ElementType>(input.between(0, 15) == 0 ? input.number<std::uint8_t>()
                                                            : input.between(0, 11));
}

sfft::PlanOptions plan_options(Input& input) {
  sfft::PlanOptions options;
  options.path = static_cast<sfft::Path>(input.between(0, 5));
  options.batch = static_cast<int>(input.between(-1, 3));
  options.accuracy = input.flip() ? input.number<double>() : 0;
  if (input.flip()) options.max_samples = input.number<double>();
  options.device = input.between(0, 15) == 0 ? sfft::Device::automatic() : sfft::Device::cpu();
  options.threads = input.between(0, 31) == 0 ? input.number<std::int16_t>() % 3 : 1;
  options.witness = static_cast<sfft::PlanOptions::Witness>(input.between(0, 2));
  options.use_reference = input.flip();
  options.seed = input.number<std::uint64_t>();
  return options;
}

sfft::Template any_template(Input& input, const Shape& shape) {
  std::vector<std::int64_t> support(static_cast<std::size_t>(input.between(0, 12)));
  for (auto& f : support)
    f = input.between(0, 31) != 0 ? input.between(0, shape.points() - 1) : input.number<std::int64_t>();
  return sfft::Template::from_support(shape, any_domain(input), support);
}

sfft::LearnOptions learn_options(Input& input) {
  sfft::LearnOptions options;
  switch (input.between(0, 3)) {
    case 0:
      options.keep = sfft::Energy{input.number<double>()};
      break;
    case 1:
      options.keep = sfft::AboveNoise{input.number<double>()};
      break;
    case 2:
      options.keep = sfft::Largest{input.between(-1, 12)};
      break;
    default:
      break;
  }
  options.reference = input.flip();
  options.device = sfft::Device::cpu();
  options.method = static_cast<sfft::LearnOptions::Method>(input.between(0, 2));
  options.dense_fallback = input.between(0, 1) != 0;
  return options;
}

/// The objects that a process makes once: plans of every path, real and complex, with and without a
/// reference.
struct Ready {
  std::vector<sfft::Plan<float>> plans;
  std::vector<sfft::Workspace> workspaces;
  std::vector<sfft::dense::Plan<float>> dense;
  std::vector<sfft::Tracker<float>> trackers;

  Ready() {
    for (const Shape& shape : {Shape{48}, Shape{8, 6}, Shape{4, 4, 4}}) {
      for (const bool real : {true, false}) {
        std::vector<float> x(static_cast<std::size_t>(shape.points()));
        for (std::size_t t = 0; t < x.size(); ++t) x[t] = static_cast<float>(t % 7);
        const std::vector<std::complex<float>> z(x.begin(), x.end());
        const auto tmpl =
            sfft::learn(real ? SignalView(x, shape) : SignalView(z, shape),
                        {.keep = sfft::Largest{3}, .reference = !real, .device = sfft::Device::cpu()});
        for (const auto path :
             {sfft::Path::direct, sfft::Path::comb, sfft::Path::flat_window, sfft::Path::dense}) {
          if (path == sfft::Path::flat_window && (shape.rank() > 1 || real))
            continue;  // planning this one takes longest
          add(tmpl, {.device = sfft::Device::cpu(), .batch = real ? 2 : 1, .path = path});
        }
        dense.emplace_back(shape, real ? sfft::Domain::real : sfft::Domain::complex,
                           sfft::dense::Options{.engine = sfft::dense::Engine::built_in});
      }
    }
    for (const std::size_t first : {0, 3}) trackers.emplace_back(plans[first].source());
  }
  void add(const sfft::Template& tmpl, const sfft::PlanOptions& options) {
    try {
      plans.emplace_back(tmpl, options);
      workspaces.push_back(plans.back().make_workspace());
    } catch (const sfft::Error&) {  // this path does not suit such a small template
    }
  }
};

Ready& ready() {
  static Ready all;
  return all;
}

void execute(Input& input) {
  Ready& all = ready();
  const auto which = static_cast<std::size_t>(input.number<std::uint8_t>()) % all.plans.size();
  const sfft::Plan<float>& plan = all.plans[which];
  const bool wrong = input.between(0, 15) == 0;
  sfft::Workspace& workspace =
      all.workspaces[wrong ? input.number<std::uint8_t>() % all.workspaces.size() : which];
  const Frame frame(input);
  const Shape shape = input.between(0, 15) == 0 ? any_shape(input) : plan.source().shape();
  std::vector<SignalView> views;
  for (auto count = input.between(0, 3); count > 0; --count)
    views.push_back(frame.view(input, shape, any_type(input)));
  std::vector<sfft::Spectrum<float>> spectra(views.size() + (input.between(0, 15) == 0 ? 1 : 0));
  if (input.flip()) {
    plan.execute(views, spectra, workspace);
  } else if (!views.empty()) {
    const auto spectrum = plan.execute(views.front());
    if (spectrum.values.size() != static_cast<std::size_t>(plan.source().k())) std::abort();
  }
}

void track(Input& input) {
  Ready& all = ready();
  sfft::Tracker<float>& tracker = all.trackers[input.number<std::uint8_t>() % all.trackers.size()];
  const Frame frame(input);
  const Shape shape = input.between(0, 15) == 0 ? any_shape(input) : tracker.current_template().shape();
  for (auto count = input.between(1, 3); count > 0; --count)
    static_cast<void>(tracker.push(frame.view(input, shape, any_type(input))));
}

void dense(Input& input) {
  Ready& all = ready();
  const auto& plan = all.dense[input.number<std::uint8_t>() % all.dense.size()];
  const std::size_t off = input.between(0, 9) == 0 ? 1 : 0;
  std::vector<std::byte> scratch(input.flip() ? plan.workspace_bytes() : 0);
  std::span<std::byte> workspace(scratch);
  if (!workspace.empty() && input.between(0, 9) == 0) workspace = workspace.subspan(1);
  const Frame frame(input);
  std::vector<std::complex<float>> spectrum(plan.spectrum_points() - off);
  plan.forward(
      frame.view(input, input.between(0, 15) == 0 ? any_shape(input) : plan.shape(), any_type(input)),
      spectrum, workspace);
  if (input.flip()) {
    std::vector<std::complex<float>> back(plan.signal_points());
    plan.inverse(spectrum, std::span(back), workspace);
  } else {
    std::vector<float> back(plan.signal_points());
    plan.inverse(spectrum, std::span(back), workspace);
  }
}

void dense_made(Input& input) {
  sfft::dense::Options options;
  options.engine =
      static_cast<sfft::dense::Engine>(input.between(0, 15) == 0 ? input.number<std::uint8_t>() : 1);
  options.batch = static_cast<int>(input.between(-1, 4));
  options.threads = input.between(0, 31) == 0 ? static_cast<int>(input.between(-1, 2)) : 1;
  const Shape shape = any_shape(input);
  const sfft::dense::Plan<float> plan(shape, any_domain(input), options);
  const std::vector<std::complex<double>> signal(plan.signal_points(), {1, 2});  // the largest element
  std::vector<std::complex<float>> spectrum(plan.spectrum_points() - (input.between(0, 9) == 0 ? 1 : 0));
  plan.forward(signal.data(), any_type(input), spectrum);
}

void selective(Input& input) {
  const Shape shape = any_shape(input);
  sfft::dense::Options options;
  options.batch = static_cast<int>(input.between(0, 2));
  const std::vector<std::complex<double>> signal(static_cast<std::size_t>(2 * shape.points()), {1, 2});
  if (input.flip()) {
    const auto plan = sfft::dense::SelectivePlan<float>::above(shape, any_domain(input), options);
    static_cast<void>(plan.forward_above(signal.data(), any_type(input), input.number<float>()));
    return;
  }
  std::vector<std::int64_t> support(static_cast<std::size_t>(input.between(0, 8)));
  for (auto& f : support)
    f = input.between(0, 15) != 0 ? input.between(0, shape.points() - 1) : input.number<std::int64_t>();
  const auto plan = sfft::dense::SelectivePlan<float>::at(shape, any_domain(input), support, options);
  std::vector<std::complex<float>> values(support.size() * static_cast<std::size_t>(options.batch));
  plan.forward_at(signal.data(), any_type(input), values);
}

void planned(Input& input) {
  const Shape shape = any_shape(input);
  const auto tmpl = any_template(input, shape);
  const sfft::Plan<float> plan(tmpl, plan_options(input));
  auto workspace = plan.make_workspace();
  auto spectrum = plan.make_spectrum();
  const auto x = samples<float>(input, shape.points());
  const std::vector<std::complex<float>> z(x.begin(), x.end());
  plan.execute(input.flip() ? SignalView(x, shape) : SignalView(z, shape), spectrum, workspace);
  if (spectrum.values.size() != plan.make_spectrum().values.size()) std::abort();
  const auto taken = std::move(workspace);
  try {
    plan.execute(SignalView(x, shape), spectrum,
                 workspace);  // NOLINT(bugprone-use-after-move): it must be refused
    std::abort();
  } catch (const sfft::Error&) {
  }
}

void learned(Input& input) {
  const Shape shape = any_shape(input);
  const auto first = samples<float>(input, shape.points());
  const auto second = samples<float>(input, shape.points());
  const std::array views{SignalView(first, shape), SignalView(second, shape)};
  sfft::TrackerOptions options;
  options.plan = plan_options(input);
  options.accuracy = input.flip() ? input.number<double>() : 0;
  options.calibrate = static_cast<int>(input.between(-1, 8));
  options.hold = static_cast<int>(input.between(0, 3));
  options.reference = input.flip();
  sfft::Tracker<float> tracker(
      sfft::learn(std::span(views).first(static_cast<std::size_t>(input.between(0, 2))),
                  learn_options(input)),
      options);
  for (int t = 0; t < 3; ++t) static_cast<void>(tracker.push(views[static_cast<std::size_t>(t % 2)]));
}

void discovered(Input& input) {
  const Shape shape = any_shape(input);
  const auto x = samples<float>(input, shape.points());
  const std::vector<std::complex<float>> z(x.begin(), x.end());
  const SignalView view = input.flip() ? SignalView(x, shape) : SignalView(z, shape);
  if (input.flip()) {
    static_cast<void>(sfft::transform(view, sfft::Largest{input.between(-1, 30)}));
    return;
  }
  sfft::DiscoverOptions options;
  if (input.flip()) options.k = input.between(-1, 30);
  options.accuracy = input.flip() ? input.number<double>() : 1e-6;
  options.noise_gain = input.flip() ? input.number<double>() : 2.6;
  options.confidence = input.flip() ? input.number<double>() : 1e-9;
  options.path = static_cast<sfft::Path>(input.between(0, 5));
  options.check = static_cast<sfft::DiscoverOptions::Check>(input.between(0, 3));
  options.dense_fallback = input.between(0, 1) != 0;
  static_cast<void>(sfft::discover(view, options));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  Input input(bytes, count);
  try {
    // Planning takes about a hundred times as long as the rest, and fuzzers return to inputs that reach much
    // code.
    const bool may_plan =
        std::hash<std::string_view>()({reinterpret_cast<const char*>(bytes), count}) % 128 == 0;
    const auto call = input.between(0, 15);
    switch (call < 3 && !may_plan ? call + 13 : call) {
      case 0:
        planned(input);
        break;
      case 1:
        learned(input);
        break;
      case 2:
        discovered(input);
        break;
      case 3:
        dense_made(input);
        break;
      case 4:
        selective(input);
        break;
      case 5:
      case 6:
        track(input);
        break;
      case 7:
      case 8:
      case 9:
        dense(input);
        break;
      default:
        execute(input);
    }
  } catch (const sfft::Error&) {
  }
  return 0;
}
