// SPDX-License-Identifier: Apache-2.0
// Writes and reads name=value words with the tables of knobs, so that texts have the same names and bounds as
// the search.
#include "kernels/dense/tuned/policy/policy_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <sstream>
#include <string_view>

#include "kernels/base/radix/radices.hpp"
#include "kernels/dense/tuned/policy/knobs.hpp"
#include "kernels/dense/tuned/policy/limits.hpp"

namespace sfft::detail::tuned {

namespace {

constexpr std::string_view kKernel = "kernel", kBytes = "bytes";
constexpr std::size_t kMaxText = 4000, kMaxKernels = 3, kMaxDigits = 6;

using Words = std::vector<std::string>;

template <class List>
std::string list_text(const List& values) {
  return fmt::format("{}", fmt::join(values, "."));
}

/// Adds a word for each knob that differs from its default.
template <class Policy>
void add_words(std::span<const Knob<Policy>> knobs, const Policy& policy, Words& words) {
  const Policy usual{};
  for (const Knob<Policy>& knob : knobs) {
    const int value = knob.get(policy);
    if (value == knob.get(usual)) continue;
    const std::string text =
        knob.words.empty() ? std::to_string(value) : knob.words[static_cast<std::size_t>(value)];
    words.push_back(fmt::format("{}={}", knob.name, text));
  }
}

/// Parses a number of at most six digits, or returns nothing.
std::optional<int> number(std::string_view text) {
  if (text.empty() || text.size() > kMaxDigits) return std::nullopt;
  if (text.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  int value = 0;
  for (const char digit : text) value = 10 * value + (digit - '0');
  return value;
}

/// Parses positive numbers separated by dots.
std::optional<std::vector<int>> numbers(std::string_view text, std::size_t max) {
  std::vector<int> values;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('.', at), text.size());
    const auto value = number(text.substr(at, end - at));
    if (!value || *value < 1 || values.size() == max) return std::nullopt;
    values.push_back(*value);
    at = end + 1;
  }
  return values;
}

template <class Policy>
bool set_knob(std::span<const Knob<Policy>> knobs, std::string_view name, std::string_view text,
              Policy& policy) {
  for (const Knob<Policy>& knob : knobs) {
    if (name != knob.name) continue;
    std::optional<int> value = number(text);
    if (!knob.words.empty()) {
      const auto word = std::find(knob.words.begin(), knob.words.end(), text);
      value = static_cast<int>(word - knob.words.begin());
    }
    if (!value || *value < knob.min || *value > knob.max) return false;
    knob.set(policy, *value);
    return true;
  }
  return false;
}

/// Passes `words` to take(name, value) one by one, which returns false for an invalid word. Returns whether
/// all are valid.
template <class Take>
bool take_words(std::span<const std::string> words, const Take& take) {
  std::set<std::string_view> seen;
  return std::all_of(words.begin(), words.end(), [&](const std::string& word) {
    const std::string_view text = word;
    const std::size_t at = text.find('=');
    return at != std::string_view::npos && seen.insert(text.substr(0, at)).second &&
           take(text.substr(0, at), text.substr(at + 1));
  });
}

bool set_radices(std::string_view text, KernelPolicy& kernel) {
  const auto radices = numbers(text, IntList::kCapacity);
  if (!radices) return false;
  std::int64_t length = 1;
  for (const int radix : *radices) {
    length *= radix;
    if (length > kMaxLength) return false;
  }
  kernel.radices = IntList::of(*radices);
  return true;
}

std::optional<KernelPolicy> parse_kernel(std::span<const std::string> words) {
  KernelPolicy kernel;
  const bool good = take_words(words, [&](std::string_view name, std::string_view value) {
    return name == "radices" ? set_radices(value, kernel) : set_knob(kernel_knobs(), name, value, kernel);
  });
  if (!good || kernel.radices.empty() ||
      kernel.threads_per_transform * kernel.transforms_per_block > kMaxThreads)
    return std::nullopt;
  const bool known = std::all_of(kernel.radices.begin(), kernel.radices.end(),
                                 [](int radix) { return find_radix(radix) != nullptr; });
  if (!kernel.tensor_cores && (!known || kernel.registers() > kMaxRegisters)) return std::nullopt;
  return kernel;
}

bool parse_whole(std::span<const std::string> words, TransformPolicy& policy) {
  return take_words(words, [&](std::string_view name, std::string_view value) {
    if (name != "factors") return set_knob(transform_knobs(), name, value, policy);
    const auto factors = numbers(value, kMaxKernels);
    if (!factors || factors->size() < 2) return false;
    policy.factors = *factors;
    return true;
  });
}

std::optional<TransformPolicy> parse_words(std::span<const std::string> words) {
  TransformPolicy policy;
  auto part = words.begin(), end = std::find(part, words.end(), kKernel);
  if (!parse_whole({part, end}, policy)) return std::nullopt;
  while (end != words.end()) {
    part = end + 1;
    end = std::find(part, words.end(), kKernel);
    const auto kernel = parse_kernel({part, end});
    if (!kernel || policy.kernels.size() == kMaxKernels) return std::nullopt;
    policy.kernels.push_back(*kernel);
  }
  return policy.kernels.empty() ? std::nullopt : std::optional(policy);
}

std::optional<Words> words_of(const std::string& text) {
  if (text.size() > kMaxText) return std::nullopt;
  std::istringstream in(text);
  Words words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

}  // namespace

std::string to_text(const TransformPolicy& policy) {
  Words words;
  if (!policy.factors.empty()) words.push_back("factors=" + list_text(policy.factors));
  add_words(transform_knobs(), policy, words);
  for (const KernelPolicy& kernel : policy.kernels) {
    words.emplace_back(kKernel);
    words.push_back("radices=" + list_text(kernel.radices));
    add_words(kernel_knobs(), kernel, words);
  }
  return fmt::format("{}", fmt::join(words, " "));
}

std::string to_text(const PlanPolicy& policy) {
  return policy.bytes ? fmt::format("{} {} {}", to_text(policy.own), kBytes, to_text(*policy.bytes))
                      : to_text(policy.own);
}

std::optional<TransformPolicy> parse_policy(const std::string& text) {
  const auto words = words_of(text);
  return words ? parse_words(*words) : std::nullopt;
}

std::optional<PlanPolicy> parse_plan_policy(const std::string& text) {
  const auto words = words_of(text);
  if (!words) return std::nullopt;
  const std::span all(*words);
  const auto at = std::find(all.begin(), all.end(), kBytes);
  const auto own = parse_words({all.begin(), at});
  if (!own || at == all.end()) return own ? std::optional(PlanPolicy{*own, std::nullopt}) : std::nullopt;
  const auto bytes = parse_words({at + 1, all.end()});
  return bytes ? std::optional(PlanPolicy{*own, *bytes}) : std::nullopt;
}

}  // namespace sfft::detail::tuned
