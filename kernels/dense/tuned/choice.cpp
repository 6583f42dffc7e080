// SPDX-License-Identifier: Apache-2.0
#include "kernels/dense/tuned/choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string_view>

namespace sfft::detail::tuned {

namespace {

constexpr std::string_view kBytes = " bytes ";
constexpr int kMostStreams = 4;

/// A letter of a line's text for one value of a member.
struct Flag {
  char letter;
  bool (*is_set)(const LineChoice&);
  void (*set)(LineChoice&);
};
template <auto kMember, auto kValue>
constexpr Flag flag(char letter) {
  return {letter, [](const LineChoice& line) { return line.*kMember == kValue; },
          [](LineChoice& line) { line.*kMember = kValue; }};
}
constexpr Flag kFlags[] = {
    flag<&LineChoice::position_major, true>('m'),
    flag<&LineChoice::split, true>('s'),
    flag<&LineChoice::twiddles, Twiddles::two_roots>('a'),
    flag<&LineChoice::twiddles, Twiddles::table>('w'),
    flag<&LineChoice::staged, true>('c'),
    flag<&LineChoice::across, true>('x'),
    flag<&LineChoice::ahead, true>('q'),
    flag<&LineChoice::early, true>('b'),
    {'n', [](const LineChoice& line) { return line.caching.loads == Loads::past_l1; },
     [](LineChoice& line) { line.caching.loads = Loads::past_l1; }},
    {'f', [](const LineChoice& line) { return line.caching.loads == Loads::prefetch; },
     [](LineChoice& line) { line.caching.loads = Loads::prefetch; }},
    {'o', [](const LineChoice& line) { return line.caching.streaming; },
     [](LineChoice& line) { line.caching.streaming = true; }},
};

bool is_radix(int r) {
  return std::find(std::begin(kRadices), std::end(kRadices), r) != std::end(kRadices);
}

std::string to_text(const LineChoice& line) {
  std::string text = fmt::format("{} t{} l{}", fmt::join(line.radices, "."), line.threads, line.lines);
  if (line.pad_every > 0) text += fmt::format(" e{}", line.pad_every);
  if (line.pad > 0) text += fmt::format(" p{}", line.pad);
  if (line.resident > 0) text += fmt::format(" r{}", line.resident);
  if (line.distance > 0) text += fmt::format(" d{}", line.distance);
  if (line.spread > 0) text += fmt::format(" v{}", line.spread);
  if (line.stagger > 0) text += fmt::format(" g{}", line.stagger);
  for (const Flag& flag : kFlags) {
    if (flag.is_set(line)) text += fmt::format(" {}", flag.letter);
  }
  return text;
}

/// A number of at most six digits, or −1.
int number(const std::string& text) {
  if (text.empty() || text.size() > 6 || text.find_first_not_of("0123456789") != std::string::npos) return -1;
  return std::stoi(text);
}

std::optional<std::vector<int>> numbers(const std::string& text, char separator) {
  std::vector<int> values;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) {
    values.push_back(number(part));
    if (values.back() < 1) return std::nullopt;
  }
  return values;
}

/// One option of a line; false for what is none.
bool take(const std::string& word, LineChoice& line) {
  const int value = number(word.substr(1));
  switch (word[0]) {
    case 't':
      line.threads = value;
      return value >= 1 && value <= kMostThreads;
    case 'l':
      line.lines = value;
      return value >= 1 && value <= kMostThreads;
    case 'e':
      line.pad_every = value;
      return value >= 1;
    case 'p':
      line.pad = value;
      return value >= 0 && value <= 64;
    case 'r':
      line.resident = value;
      return value >= 1 && value <= kMostResident;
    case 'd':
      line.distance = value;
      return value >= 1 && value <= kMostDistance;
    case 'v':
      line.spread = value;
      return value >= 1 && value <= kMostDelay;
    case 'g':
      line.stagger = value;
      return value >= 1 && value <= kMostDelay;
    default:
      break;
  }
  const auto* known =
      std::find_if(std::begin(kFlags), std::end(kFlags), [&](const Flag& f) { return f.letter == word[0]; });
  if (known == std::end(kFlags) || word.size() != 1) return false;
  known->set(line);
  return true;
}

std::optional<LineChoice> parse_line(const std::string& text) {
  LineChoice line;
  std::istringstream in(text);
  std::string word;
  if (!(in >> word)) return std::nullopt;
  const auto radices = numbers(word, '.');
  if (!radices || radices->empty() || radices->size() > 15) return std::nullopt;
  line.radices = *radices;
  std::int64_t length = 1;
  for (const int radix : line.radices) {
    length *= radix;
    if (!is_radix(radix) || length > kMostLength) return std::nullopt;
  }
  while (in >> word) {
    if (!take(word, line)) return std::nullopt;
  }
  if (line.threads * line.lines > kMostThreads || line.registers() > kMostRegisters) return std::nullopt;
  return line;
}

bool parse_head(const std::string& text, Choice& choice) {
  std::istringstream in(text);
  for (std::string key, value; in >> key >> value;) {
    if (key == "split") {
      if (value == "-") continue;
      const auto split = numbers(value, '.');
      if (!split || split->size() < 2 || split->size() > 3) return false;
      choice.split = *split;
      continue;
    }
    const int n = number(value);
    if (n < 0) return false;
    if (key == "once") {
      choice.at_once = n;
    } else if (key == "streams") {
      choice.streams = n;
    } else if (key == "blocks") {
      choice.min_blocks = n;
    } else if (key == "chunk") {
      choice.chunk = n;
    } else if (key == "ring" && n <= 1) {
      choice.ring = n == 1;
    } else {
      return false;
    }
  }
  return choice.streams >= 1 && choice.streams <= kMostStreams && choice.min_blocks >= 1 &&
         choice.min_blocks <= 32 && choice.chunk >= 1;
}

}  // namespace

std::string to_text(const Choice& choice) {
  std::string text =
      fmt::format("once {} streams {}{} blocks {} chunk {} split {}", choice.at_once, choice.streams,
                  choice.ring ? "" : " ring 0", choice.min_blocks, choice.chunk,
                  choice.split.empty() ? "-" : fmt::format("{}", fmt::join(choice.split, ".")));
  for (const LineChoice& line : choice.lines) text += " | " + to_text(line);
  return text;
}

std::string to_text(const Choices& choices) {
  return to_text(choices.own) + (choices.bytes ? std::string(kBytes) + to_text(*choices.bytes) : "");
}

std::optional<Choices> parse_choices(const std::string& text) {
  const std::size_t at = text.find(kBytes);
  const auto own = parse_choice(text.substr(0, at));
  if (!own) return std::nullopt;
  if (at == std::string::npos) return Choices{*own, std::nullopt};
  const auto bytes = parse_choice(text.substr(at + kBytes.size()));
  if (!bytes) return std::nullopt;
  return Choices{*own, *bytes};
}

std::optional<Choice> parse_choice(const std::string& text) {
  Choice choice;
  std::istringstream in(text);
  std::string part;
  if (text.size() > 1000 || !std::getline(in, part, '|') || !parse_head(part, choice)) return std::nullopt;
  while (std::getline(in, part, '|')) {
    const auto line = parse_line(part);
    if (!line) return std::nullopt;
    choice.lines.push_back(*line);
  }
  if (choice.lines.empty() || choice.lines.size() > 3) return std::nullopt;
  return choice;
}

}  // namespace sfft::detail::tuned
