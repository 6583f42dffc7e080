// SPDX-License-Identifier: Apache-2.0
// Thresholds by the names that options and configuration files give them.
#include "video/events/thresholds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "sfft/error.hpp"

namespace sfft::video {

namespace {

constexpr std::array kNames{
    ThresholdName{"window-s", &Thresholds::window_s},
    ThresholdName{"end-s", &Thresholds::end_s},
    ThresholdName{"flicker-end-s", &Thresholds::flicker_end_s},
    ThresholdName{"moved-px", &Thresholds::moved_px},
    ThresholdName{"drift-px", &Thresholds::drift_px},
    ThresholdName{"covered", &Thresholds::covered},
    ThresholdName{"hidden", &Thresholds::hidden},
    ThresholdName{"defocused", &Thresholds::defocused},
    ThresholdName{"light", &Thresholds::light},
    ThresholdName{"flicker", &Thresholds::flicker},
    ThresholdName{"white", &Thresholds::white},
    ThresholdName{"dark-level", &Thresholds::dark_level},
    ThresholdName{"drift-s", &Thresholds::drift_s},
    ThresholdName{"passing-s", &Thresholds::passing_s},
    ThresholdName{"leaving-s", &Thresholds::leaving_s},
    ThresholdName{"glare-s", &Thresholds::glare_s},
    ThresholdName{"sudden-s", &Thresholds::sudden_s},
    ThresholdName{"left-s", &Thresholds::left_s},
    ThresholdName{"on-its-way-s", &Thresholds::on_its_way_s},
    ThresholdName{"settling-s", &Thresholds::settling_s},
    ThresholdName{"rearranged-s", &Thresholds::rearranged_s},
    ThresholdName{"warm-up-s", &Thresholds::warm_up_s},
    ThresholdName{"missed-s", &Thresholds::missed_s},
    ThresholdName{"repeats-s", &Thresholds::repeats_s},
    ThresholdName{"unheard-s", &Thresholds::unheard_s},
    ThresholdName{"still-s", &Thresholds::still_s},
    ThresholdName{"replay-s", &Thresholds::replay_s},
    ThresholdName{"change-s", &Thresholds::change_s},
    ThresholdName{"switched-s", &Thresholds::switched_s},
};

}  // namespace

std::span<const ThresholdName> threshold_names() noexcept {
  return kNames;
}

void set_threshold(Thresholds& thresholds, const std::string& setting) {
  const std::size_t equals = setting.find('=');
  const std::string name = setting.substr(0, equals);
  const auto found = std::ranges::find(kNames, std::string_view(name), &ThresholdName::name);
  if (found == kNames.end()) {
    std::string known;
    for (const ThresholdName& one : kNames) known += fmt::format("{}{}", known.empty() ? "" : ", ", one.name);
    throw Error(ErrorCode::invalid_argument, fmt::format("'{}' is no threshold: use one of {}", name, known));
  }
  double value = 0;
  const char* const first = setting.data() + std::min(setting.size(), equals + 1);
  const char* const last = setting.data() + setting.size();
  const auto [end, error] = std::from_chars(first, last, value);
  if (equals == std::string::npos || error != std::errc{} || end != last || !(value > 0) || !(value <= 1e4))
    throw Error(ErrorCode::invalid_argument,
                fmt::format("'{}' sets no threshold: write NAME=NUMBER with a number above 0, such as {}={}",
                            setting, found->name, thresholds.*(found->value)));
  thresholds.*(found->value) = value;
}

}  // namespace sfft::video
