// SPDX-License-Identifier: Apache-2.0
// save_wisdom() and load_wisdom(): the next process knows what this one measured.
#include <cstdio>
#include <string>

#include "sfft/sfft.hpp"

int main(int count, char** arguments) {
  const std::string file = count > 1 ? arguments[1] : "example-wisdom.json";
  const sfft::Shape shape{480, 640};

  // Options::Planning::measure times the engines that this build has, and remembers the fastest.
  const sfft::dense::Plan<float> measured(shape, sfft::Domain::real,
                                          {.planning = sfft::dense::Options::Planning::measure});
  std::printf("measured: %s, %s\n", measured.engine_name().c_str(), measured.reason().c_str());
  sfft::dense::save_wisdom(file);

  // A later process loads the file, and plans without measuring.
  sfft::dense::forget_wisdom();
  const sfft::dense::WisdomReport report = sfft::dense::load_wisdom(file);
  std::printf("%d entries taken, %d ignored %s\n", report.taken, report.ignored, report.reason.c_str());
  const sfft::dense::Plan<float> planned(shape, sfft::Domain::real);
  std::printf("planned:  %s, %s\n", planned.engine_name().c_str(), planned.reason().c_str());

  std::remove(file.c_str());
  return report.taken > 0 && planned.engine() == measured.engine() ? 0 : 1;
}
