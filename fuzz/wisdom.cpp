// SPDX-License-Identifier: Apache-2.0
// Fuzzes wisdom: any text is accepted, or ignored with a reason, and accepted entries survive a round trip.
#include <cstdlib>
#include <string>

#include "kernels/dense/wisdom/wisdom.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  using sfft::detail::Wisdom;
  const auto here = [](const std::string&) { return std::optional<sfft::detail::WisdomPlatform>(); };
  Wisdom wisdom;
  const auto report = wisdom.parse({reinterpret_cast<const char*>(bytes), count}, here);
  if (report.taken == 0) return 0;
  const std::string text = wisdom.format();
  Wisdom again;
  again.parse(text, here);
  if (again.format() != text) std::abort();
  return 0;
}
