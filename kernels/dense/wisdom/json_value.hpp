// SPDX-License-Identifier: Apache-2.0
// Parses JSON text into values. nlohmann's value class allocates in its destructor, which ends the process
// when memory is short; its parser does not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace sfft::detail {

/// The reason why a text cannot be used.
class JsonError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class JsonValue {
 public:
  enum class Kind : std::uint8_t { null, boolean, integer, unsigned_integer, real, text, list, object };
  using Field = std::pair<std::string, JsonValue>;

  explicit JsonValue(Kind kind = Kind::null);
  explicit JsonValue(std::int64_t value) : kind_(Kind::integer), bits_(static_cast<std::uint64_t>(value)) {}
  explicit JsonValue(std::uint64_t value) : kind_(Kind::unsigned_integer), bits_(value) {}
  explicit JsonValue(double value) : kind_(Kind::real), real_(value) {}

  Kind kind() const noexcept { return kind_; }
  bool is_integer() const noexcept { return kind_ == Kind::integer || kind_ == Kind::unsigned_integer; }
  bool is_number() const noexcept { return is_integer() || kind_ == Kind::real; }
  /// Requires an integer; values beyond the signed type become negative.
  std::int64_t integer() const noexcept { return static_cast<std::int64_t>(bits_); }
  /// Requires a number.
  double real() const noexcept;
  /// The digits of an integer.
  std::string digits() const;

  /// These require text, a list or an object, respectively. Field names are unique.
  std::string& text() const noexcept;
  std::vector<JsonValue>& items() const noexcept;
  std::vector<Field>& fields() const noexcept;
  /// Null if an object has no such field.
  const JsonValue* find(const std::string& name) const noexcept;

 private:
  struct Parts;
  struct Free {
    void operator()(Parts* parts) const noexcept;
  };

  Kind kind_;
  std::uint64_t bits_ = 0;
  double real_ = 0;
  std::unique_ptr<Parts, Free> parts_;  ///< for text, lists and objects, so that numbers stay small
};

/// Throws JsonError for text that is not JSON, is nested deeper than `depth`, or repeats a field.
JsonValue parse_json_text(const std::string& text, std::size_t depth);

}  // namespace sfft::detail
