// SPDX-License-Identifier: Apache-2.0
// nlohmann's parser calls a builder, which limits the depth and rejects duplicate fields.
#include "kernels/dense/wisdom/json_value.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace sfft::detail {

namespace {

constexpr std::size_t kNameInMessage = 200;  // of a field's name, in messages

template <class... Values>
[[noreturn]] void refuse_json(fmt::format_string<Values...> why, Values&&... values) {
  throw JsonError(fmt::format(why, std::forward<Values>(values)...));
}

/// Receives the parser's events.
class Builder {
 public:
  using Kind = JsonValue::Kind;

  explicit Builder(std::size_t depth) : depth_(depth) {}
  JsonValue take() { return std::move(root_); }

  bool null() { return put(JsonValue()); }
  bool boolean(bool) { return put(JsonValue(Kind::boolean)); }
  bool number_integer(std::int64_t value) { return put(JsonValue(value)); }
  bool number_unsigned(std::uint64_t value) { return put(JsonValue(value)); }
  bool number_float(double value, const std::string&) { return put(JsonValue(value)); }
  bool string(std::string& value) {
    JsonValue text(Kind::text);
    text.text() = std::move(value);
    return put(std::move(text));
  }
  bool binary(nlohmann::json::binary_t&) { return false; }  // does not occur in text
  bool start_object(std::size_t) { return open(JsonValue(Kind::object)); }
  bool start_array(std::size_t) { return open(JsonValue(Kind::list)); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    if (open_.back()->find(name) != nullptr)
      refuse_json("a field is given twice: '{:.{}}'", name, kNameInMessage);
    open_.back()->fields().emplace_back(std::move(name), JsonValue());
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception& error) {
    constexpr int kNumberTooLarge = 406;
    if (error.id == kNumberTooLarge) refuse_json("it is damaged: a number in it is too large");
    refuse_json("it is damaged: no JSON from byte {} on", position);
  }

 private:
  /// The place for the next value.
  JsonValue& place() {
    if (open_.empty()) return root_;
    if (open_.back()->kind() == Kind::object) return open_.back()->fields().back().second;
    return open_.back()->items().emplace_back();
  }
  bool put(JsonValue value) {
    place() = std::move(value);
    return true;
  }
  bool open(JsonValue value) {
    if (open_.size() == depth_) refuse_json("it is nested deeper than {} levels", depth_);
    JsonValue& placed = place();
    placed = std::move(value);
    open_.push_back(&placed);  // a stable address: its parent grows only once this is closed
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  std::size_t depth_;
  JsonValue root_;
  std::vector<JsonValue*> open_;
};

}  // namespace

struct JsonValue::Parts {
  std::string text;
  std::vector<JsonValue> items;
  std::vector<Field> fields;
};

void JsonValue::Free::operator()(Parts* parts) const noexcept {
  delete parts;
}

JsonValue::JsonValue(Kind kind) : kind_(kind) {
  if (kind == Kind::text || kind == Kind::list || kind == Kind::object) parts_.reset(new Parts);
}

double JsonValue::real() const noexcept {
  return kind_ == Kind::real               ? real_
         : kind_ == Kind::unsigned_integer ? static_cast<double>(bits_)
                                           : static_cast<double>(integer());
}

std::string JsonValue::digits() const {
  return kind_ == Kind::unsigned_integer ? fmt::format("{}", bits_) : fmt::format("{}", integer());
}

std::string& JsonValue::text() const noexcept {
  return parts_->text;
}

std::vector<JsonValue>& JsonValue::items() const noexcept {
  return parts_->items;
}

std::vector<JsonValue::Field>& JsonValue::fields() const noexcept {
  return parts_->fields;
}

const JsonValue* JsonValue::find(const std::string& name) const noexcept {
  for (const auto& [known, value] : parts_->fields) {
    if (known == name) return &value;
  }
  return nullptr;
}

JsonValue parse_json_text(const std::string& text, std::size_t depth) {
  Builder builder(depth);
  nlohmann::json::sax_parse(text, &builder);
  return builder.take();
}

}  // namespace sfft::detail
