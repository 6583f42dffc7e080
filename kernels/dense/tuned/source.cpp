// SPDX-License-Identifier: Apache-2.0
// Programs as CUDA source: the policies that the templates in the .cuh files are made with.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "kernels/dense/tuned/arguments.cuh"
#include "kernels/dense/tuned/places.hpp"
#include "kernels/dense/tuned/program.hpp"

namespace sfft::detail::tuned {

namespace {

const char* name(Buffer buffer) {
  constexpr const char* kNames[] = {"Buffer::input", "Buffer::output", "Buffer::scratch"};
  return kNames[static_cast<int>(buffer)];
}
const char* name(Form form) {
  constexpr const char* kNames[] = {"complex", "pairs", "real", "half_pairs", "half"};
  return kNames[static_cast<int>(form)];
}
const char* name(Loads loads) {
  constexpr const char* kNames[] = {"Access::usual", "Access::past_l1", "Access::prefetch"};
  return kNames[static_cast<int>(loads)];
}
const char* name(device::Keep keep) {
  constexpr const char* kNames[] = {"Keep::all", "Keep::power", "Keep::above", "Keep::at"};
  return kNames[static_cast<int>(keep)];
}
const char* name(Twiddles twiddles) {
  constexpr const char* kNames[] = {"Twiddles::one_root", "Twiddles::two_roots", "Twiddles::table"};
  return kNames[static_cast<int>(twiddles)];
}
const char* name(Method method) {
  constexpr const char* kNames[] = {"Method::plain", "Method::bluestein", "Method::rader"};
  return kNames[static_cast<int>(method)];
}
const char* name(ElementType type) {
  constexpr const char* kNames[] = {"unsigned char", "unsigned short", "float", "double", "float", "double"};
  return kNames[static_cast<int>(type)];
}

/// Threads of a multiprocessor that the compiler is asked to leave registers for, 40 each at least: a
/// choice's blocks may be more than its largest kernel can have.
constexpr int kMostAtOnce = 65536 / 40;

/// A struct of types and constants that templates take.
class Policy {
 public:
  explicit Policy(const std::string& name) : text_(fmt::format("struct {} {{\n", name)) {}
  void type(const char* name, const std::string& is) { text_ += fmt::format("  using {} = {};\n", name, is); }
  void constant(const char* name, const std::string& value) {
    text_ += fmt::format("  static constexpr auto {} = {};\n", name, value);
  }
  void constant(const char* name, const char* value) { constant(name, std::string(value)); }
  void constant(const char* name, bool value) { constant(name, value ? "true" : "false"); }
  void constant(const char* name, int value) { constant(name, std::to_string(value)); }
  void constant(const char* name, std::int64_t value) { constant(name, fmt::format("{}ll", value)); }
  std::string text() const { return text_ + "};\n"; }

 private:
  std::string text_;
};

/// Places of a line with padding.
int padded(const LineChoice& line, int points) {
  return points + (line.pad_every > 0 ? (points - 1) / line.pad_every : 0);
}

int places_of_line(const Step& step, bool single) {
  if (step.has_places()) return places_of(step.line, step.points, single);
  const int points = std::max(step.line.length(), step.points);
  return step.twiddle_free() ? points : padded(step.line, points);
}

/// Whether a line's threads always are of one warp.
bool within_warp(const Step& step) {
  return !step.load_by_line && !step.store_by_line && !step.across() && 32 % step.line.threads == 0;
}

std::string line_source(const std::string& name, const Step& step, bool single, bool reversed) {
  const LineChoice& line = step.line;
  std::vector<int> radices = line.radices;
  if (reversed) std::reverse(radices.begin(), radices.end());
  Policy policy(name);
  policy.type("Real", single ? "float" : "double");
  policy.type("Radix", fmt::format("Radices<{}>", fmt::join(radices, ", ")));
  policy.constant("kLength", line.length());
  policy.constant("kThreads", line.threads);
  policy.constant("kLines", line.lines);
  policy.constant("kPositionMajor", line.position_major);
  policy.constant("kPadEvery", line.pad_every);
  policy.constant("kPad", line.pad);
  policy.constant("kPitch", places_of_line(step, single) + line.pad);
  policy.constant("kSplit", line.split);
  policy.constant("kWarp", within_warp(step));
  policy.constant("kLoadByLine", step.load_by_line);
  policy.constant("kStoreByLine", step.store_by_line);
  policy.constant("kTwiddles", tuned::name(line.twiddles));
  policy.constant("kExtent", step.extent);
  policy.constant("kTwiddleFree", step.twiddle_free());
  if (step.twiddle_free()) {
    const std::vector<int> strides = grid_strides(line, step.has_places(), single);
    policy.type("Strides", fmt::format("Radices<{}>", fmt::join(strides, ", ")));
  }
  return policy.text();
}

std::string digits_source(const Digits& digits) {
  if (digits.fold == 0) return fmt::format("Digits<{}ll>", digits.stride);
  return fmt::format("Digits<{}ll, {}, {}ll>", digits.stride, digits.fold, digits.over);
}

std::string side_source(const Side& side) {
  return fmt::format("Side<{}, {}ll, {}ll, {}, {}, {}, {}ll, {}>", name(side.buffer), side.group, side.outer,
                     digits_source(side.inner), digits_source(side.element), side.slots, side.offset,
                     side.between);
}

std::size_t exchange_bytes(const Step& step, bool single) {
  const LineChoice& line = step.line;
  const auto pitch = static_cast<std::size_t>(places_of_line(step, single));
  const auto places = line.position_major ? pitch * static_cast<std::size_t>(line.lines + line.pad)
                                          : (pitch + static_cast<std::size_t>(line.pad)) *
                                                static_cast<std::size_t>(line.lines);
  const bool needed = step.stages() || line.radices.size() > 1;
  const std::size_t bytes = places * (single ? 4 : 8) * (line.split && !step.stages() ? 1 : 2);
  return needed ? (bytes + device::kWord - 1) / device::kWord * device::kWord : 0;
}

std::string step_source(const Kernel& kernel, bool single) {
  const Step& step = kernel.step;
  const bool back = step.method != Method::plain && !step.twiddle_free();
  Policy policy("Step0");
  policy.type("Line", "Line0");
  if (back) policy.type("Back", "Back0");
  policy.type("End", fmt::format("Pass<{}, {}>", back ? "Back0" : "Line0",
                                 step.twiddle_free() ? 0 : step.line.radices.size() - 1));
  policy.type("Element", name(step.element));
  policy.type("In", side_source(step.in));
  policy.type("Out", side_source(step.out));
  policy.constant("kOuter", step.outer);
  policy.constant("kInner", step.inner);
  policy.constant("kTiles", step.tiles());
  policy.constant("kMirrorRows", step.mirror_rows);
  policy.constant("kMirrorPlanes", step.mirror_planes);
  policy.constant("kLoad", std::string("Load::") + name(step.in.form));
  policy.constant("kStore", std::string("Store::") + name(step.out.form));
  policy.constant("kVector", step.vector);
  policy.constant("kPairStride", step.pair_stride);
  policy.constant("kSwapIn", step.swap_in);
  policy.constant("kSwapOut", step.swap_out);
  policy.constant("kScale", step.scale);
  policy.constant("kTurnModulus", step.turn.modulus);
  policy.constant("kTurnGroup", step.turn.group);
  policy.constant("kTurnOuter", step.turn.outer);
  policy.constant("kTurnInner", step.turn.inner);
  policy.constant("kTurnBits", step.turn.bits());
  policy.constant("kMethod", name(step.method));
  policy.constant("kPoints", step.points);
  policy.constant("kStaged", step.line.staged);
  policy.constant("kAcross", step.across());
  policy.constant("kPlaces", step.has_places());
  policy.constant("kKeep", name(kernel.keep));
  policy.constant("kSpectrum", kernel.spectrum);
  policy.constant("kReadAhead", kernel.reads_ahead());
  policy.constant("kExchangeBytes", static_cast<int>(exchange_bytes(step, single)));
  policy.constant("kBeginEarly", kernel.begins_early());
  policy.constant("kPrefetch", kernel.prefetches());
  policy.constant("kDelay", kernel.delays());
  policy.constant("kLoads", name(step.line.caching.loads));
  policy.constant("kStreaming", step.line.caching.streaming);
  return line_source("Line0", step, single, false) + (back ? line_source("Back0", step, single, true) : "") +
         policy.text();
}

}  // namespace

int LineChoice::length() const {
  int product = 1;
  for (const int radix : radices) product *= radix;
  return product;
}

int LineChoice::registers() const {
  int most = 0;
  for (const int radix : radices) most = std::max(most, (length() / radix + threads - 1) / threads * radix);
  return most;
}

bool LineChoice::coprime() const {
  for (std::size_t i = 0; i < radices.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (std::gcd(radices[i], radices[k]) != 1) return false;
    }
  }
  return true;
}

std::size_t LineChoice::radices_of_columns(int extent) const {
  int product = 1;
  std::size_t count = 0;
  for (; count < radices.size() && product < extent; ++count) product *= radices[count];
  return product == extent && count < radices.size() ? count : 0;
}

int Turn::bits() const {
  return modulus == 0 ? 0 : (std::bit_width(static_cast<std::uint64_t>(modulus)) + 1) / 2;
}

std::int64_t Step::tiles() const {
  return inner == 0 ? 0 : outer * ((inner + line.lines - 1) / line.lines);
}

bool Step::stages() const {
  return line.staged || halves();
}

int Kernel::threads() const {
  return step.line.threads * step.line.lines;
}

std::size_t Kernel::shared_bytes(bool single) const {
  const auto samples = static_cast<std::size_t>(step.points) * static_cast<std::size_t>(step.line.lines);
  return exchange_bytes(step, single) + (reads_ahead() ? samples * 2 * element_bytes(step.element) : 0);
}

bool Kernel::reads_ahead() const {
  const std::size_t sample = element_bytes(step.element);
  const auto whole = [](std::int64_t count, std::size_t bytes) {
    return static_cast<std::size_t>(count) * bytes % device::kWord == 0;
  };
  return step.line.ahead && step.in.form == Form::pairs && step.vector && step.load_by_line &&
         step.in.inner == 2 && step.method == Method::plain && !step.stages() &&
         whole(step.line.lines, 2 * sample) && step.in.element.fold == 0 &&
         whole(step.in.element.stride, sample);
}

bool Kernel::begins_early() const {
  return step.line.early && step.in.buffer == Buffer::input && step.out.buffer == Buffer::output &&
         step.in.form == Form::complex && step.in.element == 1 && !step.load_by_line;
}

bool Kernel::prefetches() const {
  const bool pairs = step.in.form == Form::pairs && step.vector;
  return step.line.distance > 0 && (pairs || step.in.form == Form::complex) && !reads_ahead() &&
         (step.load_by_line ? step.in.inner : step.in.element).stride == (pairs ? 2 : 1);
}

bool Kernel::delays() const {
  return step.line.spread > 0 || step.line.stagger > 0;
}

std::string source_of(const Kernel& kernel, bool single) {
  return fmt::format(
      "#include \"kernels/dense/tuned/kernel.cuh\"\nnamespace sfft::device {{\n{}}}\n"
      "extern \"C\" __global__ void __launch_bounds__({}, {}) sfft_kernel(const __grid_constant__ "
      "sfft::device::Arguments "
      "a) {{\n  sfft::device::run_step<sfft::device::Step0>(a);\n}}\n",
      step_source(kernel, single), kernel.threads(),
      std::clamp(kMostAtOnce / kernel.threads(), 1, kernel.min_blocks));
}

}  // namespace sfft::detail::tuned
