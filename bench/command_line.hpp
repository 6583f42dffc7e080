// SPDX-License-Identifier: Apache-2.0
// The command lines of stand-alone benchmark programs.
#pragma once

#include <charconv>
#include <concepts>
#include <functional>
#include <initializer_list>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace sfft::bench {

/// The command line as text, for result files.
inline std::string joined(int argc, char** argv) {
  std::string command = argv[0];
  for (int i = 1; i < argc; ++i) command.append(" ").append(argv[i]);
  return command;
}

inline void assign(std::string& variable, const std::string& text) {
  variable = text;
}
/// Throws std::invalid_argument unless the whole text is a number.
template <class Number>
void assign(Number& variable, const std::string& text) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), variable);
  if (error != std::errc{} || end != text.data() + text.size())
    throw std::invalid_argument("not a number: " + text);
}
/// Appends the elements of a comma-separated list.
template <class Element>
void assign(std::vector<Element>& variable, const std::string& text) {
  std::istringstream elements(text);
  for (std::string element; std::getline(elements, element, ',');) assign(variable.emplace_back(), element);
}

/// An option of the form --name VALUE, which sets a variable, or --name, which sets a bool. For a vector,
/// VALUE is a comma-separated list, and the option may be repeated. Anything else is a function that takes
/// the value.
struct Option {
  template <class Variable>
  Option(const char* option, Variable& variable)
      : name(option), take([&variable](const std::string& text) { assign(variable, text); }) {}
  Option(const char* option, bool& flag)
      : name(option), is_flag(true), take([&flag](const std::string&) { flag = true; }) {}
  template <std::invocable<const std::string&> Take>
  Option(const char* option, const Take& function) : name(option), take(function) {}

  const char* name;
  bool is_flag = false;
  std::function<void(const std::string&)> take;
};

/// Parses a command line. Words that belong to no option go to `words`; if it is null, they are errors.
/// Throws std::invalid_argument for an unknown option, a missing value, or a value that an option does not
/// accept.
inline void parse_options(int argc, char** argv, std::initializer_list<Option> options,
                          std::vector<std::string>* words = nullptr) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const Option* known = nullptr;
    for (const Option& option : options)
      if (word == option.name) known = &option;
    if (known == nullptr) {
      if (words == nullptr || word.starts_with("--")) throw std::invalid_argument("unknown option " + word);
      words->push_back(word);
    } else if (known->is_flag) {
      known->take("");
    } else {
      if (++i == argc) throw std::invalid_argument(word + " wants a value");
      known->take(argv[i]);
    }
  }
}

}  // namespace sfft::bench
