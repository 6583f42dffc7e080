// SPDX-License-Identifier: Apache-2.0
// save_files FOLDER: a template and wisdom, as a user of the library saves them. Exits with 2 when one cannot
// be written.
#include <cmath>
#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/dense/wisdom/wisdom.hpp"
#include "sfft/sfft.hpp"

namespace {

template <class Save>
bool saved(const Save& save) {
  try {
    save();
    return true;
  } catch (const sfft::Error&) {
    return false;
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 1;
  std::signal(SIGXFSZ, SIG_IGN);  // then a file that may not grow is an error of write()
  const std::string folder = arguments[1];
  std::vector<std::uint8_t> samples(24 * 32);
  for (std::size_t i = 0; i < samples.size(); ++i)
    samples[i] = static_cast<std::uint8_t>(100 + 60 * std::sin(0.3 * static_cast<double>(i % 32)));
  const sfft::Template tmpl =
      sfft::learn(sfft::SignalView(samples, {24, 32}), {.keep = sfft::Largest{8}, .reference = true});
  for (int i = 1; i <= 8; ++i)
    sfft::detail::Wisdom::global().add(sfft::detail::cpu_platform(), {"f32 c2c 64", i},
                                       {"built_in", "", 1.0 + i});
  const bool first = saved([&] { tmpl.save(folder + "/template"); });
  const bool second = saved([&] { sfft::dense::save_wisdom(folder + "/wisdom"); });
  return first && second ? 0 : 2;
}
