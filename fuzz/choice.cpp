// SPDX-License-Identifier: Apache-2.0
// The text of a tuned kernel's choice: taken or not, and what is taken comes back from its own text.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "kernels/dense/tuned/choice.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  using namespace sfft::detail::tuned;
  const std::string text(reinterpret_cast<const char*>(bytes), count);
  if (const auto choice = parse_choice(text)) {
    if (parse_choice(to_text(*choice)) != *choice) std::abort();
  }
  if (const auto choices = parse_choices(text)) {
    const auto again = parse_choices(to_text(*choices));
    if (!again || again->own != choices->own || again->bytes != choices->bytes) std::abort();
  }
  return 0;
}
