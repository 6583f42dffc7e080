// SPDX-License-Identifier: Apache-2.0
// Prints the members of a step that differ from the defaults as assignments in a constexpr function.
#include "kernels/dense/tuned/codegen/source.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/dense/tuned/policy/knobs.hpp"
#include "kernels/dense/tuned/policy/member_count.hpp"

namespace sfft::detail::tuned {

namespace {

/// The maximum number of threads per multiprocessor for which the compiler must leave registers, at least 40
/// each. A policy may ask for more blocks than its largest kernel can have.
constexpr int kMaxAtOnce = 65536 / 40;

std::string literal(bool value) {
  return value ? "true" : "false";
}
std::string literal(int value) {
  return std::to_string(value);
}
std::string literal(long long value) {
  return fmt::format("{}ll", value);
}
std::string literal(Buffer buffer) {
  constexpr const char* kNames[] = {"input", "output", "scratch"};
  return fmt::format("Buffer::{}", kNames[static_cast<int>(buffer)]);
}
std::string literal(Transforms transforms) {
  constexpr const char* kNames[] = {"none", "groups", "lines"};
  return fmt::format("Transforms::{}", kNames[static_cast<int>(transforms)]);
}
std::string literal(Form form) {
  constexpr const char* kNames[] = {"complex", "pairs", "real", "half_pairs", "half"};
  return fmt::format("Form::{}", kNames[static_cast<int>(form)]);
}
std::string literal(Method method) {
  constexpr const char* kNames[] = {"plain", "bluestein", "rader"};
  return fmt::format("Method::{}", kNames[static_cast<int>(method)]);
}
std::string literal(device::Keep keep) {
  constexpr const char* kNames[] = {"all", "power", "above", "at"};
  return fmt::format("device::Keep::{}", kNames[static_cast<int>(keep)]);
}
std::string literal(dense::Storage storage) {
  constexpr const char* kNames[] = {"f32", "f16", "bf16", "block16"};
  return fmt::format("dense::Storage::{}", kNames[static_cast<int>(storage)]);
}
std::string literal(const Digits& digits) {
  return fmt::format("Digits({}ll, {}, {}ll)", digits.stride, digits.fold, digits.over);
}

const char* type_of(const Kernel& kernel) {
  if (kernel.step.in.storage == dense::Storage::f16 || kernel.step.in.storage == dense::Storage::block16)
    return "F16";
  if (kernel.step.in.storage == dense::Storage::bf16) return "Bf16";
  constexpr const char* kNames[] = {"unsigned char", "unsigned short", "float", "double", "float", "double"};
  return kNames[static_cast<int>(kernel.element)];
}

/// A function that sets the members that differ from their defaults. It uses the members' names, so the
/// device compiler checks them.
class Setter {
 public:
  template <class Value>
  void set(const char* member, const Value& value, const Value& usual) {
    if (!(value == usual)) line(member, literal(value));
  }
  void line(const std::string& member, const std::string& value) {
    text_ += fmt::format("  step.{} = {};\n", member, value);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

void set_policy(const KernelPolicy& policy, Setter& out) {
  out.line("policy.radices", fmt::format("IntList({})", fmt::join(policy.radices, ", ")));
  const KernelPolicy usual;
  for (const Knob<KernelPolicy>& knob : kernel_knobs()) {
    const int value = knob.get(policy);
    if (value == knob.get(usual)) continue;
    const std::string member = fmt::format("policy.{}", knob.name);
    out.line(member, knob.words.empty() ? literal(value)
                                        : fmt::format("decltype(step.{})::{}", member,
                                                      knob.words[static_cast<std::size_t>(value)]));
  }
}

#define SFFT_SET(member) out.set(#member, step.member, usual.member)
#define SFFT_SET_SIDE(side)   \
  SFFT_SET(side.buffer);      \
  SFFT_SET(side.group);       \
  SFFT_SET(side.outer);       \
  SFFT_SET(side.inner);       \
  SFFT_SET(side.element);     \
  SFFT_SET(side.ring_groups); \
  SFFT_SET(side.base);        \
  SFFT_SET(side.form);        \
  SFFT_SET(side.between);     \
  SFFT_SET(side.storage);     \
  SFFT_SET(side.exponent);    \
  SFFT_SET(side.transforms);  \
  SFFT_SET(side.words)

std::string setters_of(const Step& step) {
  static_assert(member_count<Side>() == 13 && member_count<StepTwiddle>() == 4 && member_count<Step>() == 20,
                "set new members here");
  const Step usual;
  Setter out;
  SFFT_SET(points);
  SFFT_SET(method);
  set_policy(step.policy, out);
  SFFT_SET(outer);
  SFFT_SET(inner);
  SFFT_SET(mirror_rows);
  SFFT_SET(mirror_planes);
  SFFT_SET_SIDE(in);
  SFFT_SET_SIDE(out);
  SFFT_SET(vector);
  SFFT_SET(pair_stride);
  SFFT_SET(load_interleaved);
  SFFT_SET(store_interleaved);
  SFFT_SET(rows);
  SFFT_SET(swap_in);
  SFFT_SET(swap_out);
  SFFT_SET(scale);
  SFFT_SET(twiddle.modulus);
  SFFT_SET(twiddle.group);
  SFFT_SET(twiddle.outer);
  SFFT_SET(twiddle.inner);
  SFFT_SET(keep);
  SFFT_SET(spectrum);
  return out.text();
}
#undef SFFT_SET_SIDE
#undef SFFT_SET

}  // namespace

std::string source_of(const Kernel& kernel, bool single) {
  constexpr const char* kText = R"(#include "kernels/dense/tuned/device/kernel.cuh"
namespace sfft::detail::tuned {{
constexpr Step generated_step() {{
  Step step;
{}  return step;
}}
struct Generated {{
  using Real = {};
  using Element = {};
  static constexpr Step step = generated_step();
}};
}}
extern "C" __global__ void __launch_bounds__({}, {}) sfft_kernel(const __grid_constant__ sfft::device::Arguments a) {{
  sfft::device::run_step<sfft::detail::tuned::Generated>(a);
}}
)";
  return fmt::format(kText, setters_of(kernel.compiled_step()), single ? "float" : "double", type_of(kernel),
                     kernel.threads(),
                     std::clamp(kMaxAtOnce / kernel.threads(), 1, kernel.min_blocks_per_multiprocessor));
}

}  // namespace sfft::detail::tuned
