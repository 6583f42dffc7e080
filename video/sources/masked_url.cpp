// SPDX-License-Identifier: Apache-2.0
// Errs on the side of hiding: a password that is not percent-encoded may contain the characters that
// otherwise end it.
#include "video/sources/masked_url.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace sfft::video {

namespace {

constexpr std::string_view kMask = "***";

bool all_digits(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// Position of the '@' that ends the user information; npos if there is none. It is the last '@' before the
/// first '/', '?' or '#'. A password may contain these characters itself; then the text after the first colon
/// is no port.
std::size_t end_of_user(std::string_view rest) {
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) return at;
  const std::size_t colon = authority.find(':');
  if (colon == std::string_view::npos || authority.starts_with('[')) return std::string_view::npos;
  return all_digits(authority.substr(colon + 1)) ? std::string_view::npos : rest.rfind('@');
}

bool is_letter(unsigned char c) {
  return std::isalpha(c) != 0;
}

/// Whether `text` ends with a word that names a secret. A letter before the word would make it another word.
bool ends_with_secret(std::string_view text) {
  constexpr std::array<std::string_view, 9> kSecrets{"password", "passwd", "pass",   "pwd", "psw",
                                                     "token",    "auth",   "secret", "key"};
  return std::ranges::any_of(kSecrets, [text](std::string_view secret) {
    if (text.size() < secret.size()) return false;
    const std::string_view tail = text.substr(text.size() - secret.size());
    const bool same = std::ranges::equal(tail, secret, {}, [](unsigned char c) { return std::tolower(c); });
    return same && (tail.size() == text.size() || !is_letter(text[text.size() - secret.size() - 1]));
  });
}

/// Position where a value ends. Some cameras join parameters by underscores: "user=a_password=b_channel=1".
std::size_t value_end(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (std::string_view("&;/?#").find(text[i]) != std::string_view::npos) return i;
    if (text[i] != '_') continue;
    const std::string_view after = text.substr(i + 1);
    const auto name = static_cast<std::size_t>(std::ranges::find_if_not(after, is_letter) - after.begin());
    if (name > 0 && name < after.size() && after[name] == '=') return i;
  }
  return text.size();
}

/// Path and query with the values of secret parameters masked.
std::string masked_parameters(std::string_view text) {
  std::string masked;
  while (!text.empty()) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) break;
    masked.append(text.substr(0, equals + 1));
    const bool secret = ends_with_secret(text.substr(0, equals));
    text.remove_prefix(equals + 1);
    const std::size_t end = value_end(text);
    if (!secret || end == 0) continue;
    masked.append(kMask);
    text.remove_prefix(end);
  }
  return masked.append(text);
}

}  // namespace

std::string masked_url(std::string_view input) {
  constexpr std::string_view kScheme = "://";
  const std::size_t scheme = input.find(kScheme);
  if (scheme == std::string_view::npos || input.starts_with("file://")) return std::string(input);
  std::string masked(input.substr(0, scheme + kScheme.size()));
  std::string_view rest = input.substr(masked.size());
  if (const std::size_t at = end_of_user(rest); at != std::string_view::npos) {
    const std::string_view user = rest.substr(0, at);
    const std::size_t colon = user.find(':');
    masked.append(user.substr(0, colon));
    if (colon != std::string_view::npos) masked.append(":").append(kMask);
    masked.push_back('@');
    rest.remove_prefix(at + 1);
  }
  return masked + masked_parameters(rest);
}

}  // namespace sfft::video
