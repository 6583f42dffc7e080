// SPDX-License-Identifier: Apache-2.0
// Reads dates digit by digit, and counts days with the proleptic Gregorian calendar of std::chrono.
#include "video/sources/wall_clock.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdio>

namespace sfft::video {

namespace {

using std::chrono::sys_days;

bool digit(char c) {
  return c >= '0' && c <= '9';
}

/// Reads a text from left to right.
class Scanner {
 public:
  Scanner(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  std::size_t at() const { return at_; }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool skip(std::string_view any) {
    if (at_ >= text_.size() || any.find(text_[at_]) == std::string_view::npos) return false;
    ++at_;
    return true;
  }
  /// A number of exactly this many digits.
  std::optional<int> number(int digits) {
    int value = 0;
    for (int i = 0; i < digits; ++i) {
      if (!digit(peek())) return std::nullopt;
      value = 10 * value + (text_[at_++] - '0');
    }
    return value;
  }

 private:
  std::string_view text_;
  std::size_t at_;
};

/// Days since 1970-01-01; none for days that do not exist.
std::optional<double> days(int year, int month, int day) {
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok() || year < 1990 || year > 2099) return std::nullopt;
  return static_cast<double>(sys_days(date).time_since_epoch().count());
}

/// Reads "2026-11-28", "2026_11_28" or "20261128".
std::optional<double> read_date(Scanner& text) {
  const auto year = text.number(4);
  if (!year) return std::nullopt;
  const char sign = text.peek();
  const bool separated = text.skip("-_. ");
  const auto month = text.number(2);
  if (!month || (separated && !text.skip(std::string_view(&sign, 1)))) return std::nullopt;
  const auto day = text.number(2);
  return day ? days(*year, *month, *day) : std::nullopt;
}

/// Reads "00-33-10", "00.33.10", "003310" or "00h33m10s". Three more digits are milliseconds. No digit may
/// follow.
std::optional<double> read_time(Scanner& text) {
  constexpr std::string_view kSigns = "-_.: hm";
  const auto hour = text.number(2);
  const bool separated = text.skip(kSigns);
  const auto minute = text.number(2);
  if (!hour || !minute || separated != text.skip(kSigns)) return std::nullopt;
  const auto second = text.number(2);
  if (!second || *hour > 23 || *minute > 59 || *second > 59) return std::nullopt;
  double seconds = 3600.0 * *hour + 60 * *minute + *second;
  Scanner fraction = text;
  fraction.skip(".,_-");
  const auto milliseconds = fraction.number(3);
  if (milliseconds && !digit(fraction.peek())) {
    seconds += 1e-3 * *milliseconds;
    text = fraction;
  }
  if (digit(text.peek())) return std::nullopt;
  return seconds;
}

/// The date of the innermost folder named like a date, or of three folders named like year, month and day.
std::optional<double> date_of_folders(std::string_view folders) {
  std::string joined;  // the last components, from the innermost
  std::optional<int> day;
  std::optional<int> month;
  while (!folders.empty()) {
    const std::size_t slash = folders.rfind('/');
    const std::string_view name = slash == std::string_view::npos ? folders : folders.substr(slash + 1);
    folders = slash == std::string_view::npos ? std::string_view() : folders.substr(0, slash);
    Scanner whole(name, 0);
    const auto date = read_date(whole);
    if (date && whole.at() == name.size()) return date;
    Scanner part(name, 0);
    const auto number = name.size() == 4 || name.size() == 2 ? part.number(static_cast<int>(name.size()))
                                                             : std::optional<int>();
    if (name.size() == 4 && number && month && day) return days(*number, *month, *day);
    day = name.size() == 2 ? month : std::nullopt;
    month = name.size() == 2 ? number : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

const char* to_string(WallClockSource source) noexcept {
  switch (source) {
    case WallClockSource::file_name:
      return "file_name";
    case WallClockSource::creation_time:
      return "creation_time";
    case WallClockSource::time_code:
      return "time_code";
    case WallClockSource::now:
      return "now";
    default:
      return "";
  }
}

std::string iso_8601(const WallClock& clock, double seconds) {
  if (!clock.known() || !std::isfinite(seconds)) return "";
  const double at = clock.seconds + seconds;
  if (!(std::fabs(at) < 1e11)) return "";
  const auto all = std::chrono::milliseconds(std::llround(at * 1e3));
  const auto day = std::chrono::floor<std::chrono::days>(all);
  const std::chrono::hh_mm_ss time(all - day);
  const std::string clock_time =
      fmt::format("T{:02}:{:02}:{:02}.{:03}", time.hours().count(), time.minutes().count(),
                  time.seconds().count(), time.subseconds().count());
  if (clock.source == WallClockSource::time_code) return clock_time;
  const std::chrono::year_month_day date{sys_days(day)};
  return fmt::format("{:04}-{:02}-{:02}{}{}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock_time,
                     clock.utc ? "Z" : "");
}

std::optional<NamedTime> named_time(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  const std::size_t begin = slash == std::string_view::npos ? 0 : slash + 1;
  const bool pixel = path.substr(begin).starts_with("PXL_");
  const auto found = [&](double seconds, std::size_t at, Scanner& text) {
    const std::size_t end = text.at();
    const bool utc = pixel || text.skip("Z");
    return NamedTime{{WallClockSource::file_name, seconds, utc}, at, end - at};
  };
  for (std::size_t i = begin; i < path.size(); ++i) {
    if (!digit(path[i]) || (i > begin && digit(path[i - 1]))) continue;
    Scanner text(path, i);
    const auto day = read_date(text);
    if (!day) continue;
    for (int sign = 0; sign < 3 && text.skip("Tt_-. @"); ++sign) {
    }
    if (const auto time = read_time(text)) return found(86400 * *day + *time, i, text);
  }
  if (begin < 2) return std::nullopt;
  const auto day = date_of_folders(path.substr(0, begin - 1));
  for (std::size_t i = begin; day && i < path.size(); ++i) {
    if (!digit(path[i]) || (i > begin && digit(path[i - 1]))) continue;
    Scanner text(path, i);
    if (const auto time = read_time(text)) return found(86400 * *day + *time, i, text);
  }
  return std::nullopt;
}

std::optional<WallClock> stated_time(std::string_view date) {
  Scanner text(date, 0);
  const auto day = read_date(text);
  if (!day || !text.skip("Tt ")) return std::nullopt;
  const auto hour = text.number(2);
  if (!hour || !text.skip(":")) return std::nullopt;
  const auto minute = text.number(2);
  if (!minute || !text.skip(":")) return std::nullopt;
  const auto second = text.number(2);
  if (!second || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  double seconds = 86400 * *day + 3600.0 * *hour + 60 * *minute + *second;
  if (text.skip(".,")) {
    for (double unit = 0.1; digit(text.peek()); unit /= 10) seconds += unit * *text.number(1);
  }
  const char sign = text.peek();
  if (text.skip("+-")) {
    const auto hours = text.number(2);
    text.skip(":");
    const auto minutes = text.number(2);
    if (!hours) return std::nullopt;
    seconds -= (sign == '-' ? -60.0 : 60.0) * (60 * *hours + minutes.value_or(0));
  }
  return WallClock{WallClockSource::creation_time, seconds, true};
}

std::optional<WallClock> time_code_time(const std::string& code, double fps) {
  int hours = 0;
  int minutes = 0;
  int seconds = 0;
  int frames = 0;
  char sign = ':';
  if (std::sscanf(code.c_str(), "%2d:%2d:%2d%c%3d", &hours, &minutes, &seconds, &sign, &frames) != 5)
    return std::nullopt;
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || seconds < 0 || seconds > 59 || frames < 0)
    return std::nullopt;
  const double part = fps > 0 ? std::fmin(0.999, frames / fps) : 0;
  return WallClock{WallClockSource::time_code, 3600.0 * hours + 60 * minutes + seconds + part, false};
}

WallClock present_clock(double seconds) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const double since = std::isfinite(seconds) ? seconds : 0;
  return {WallClockSource::now, std::chrono::duration<double>(now).count() - since, true};
}

}  // namespace sfft::video
