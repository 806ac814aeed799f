#include "config/scalar.h"

#include <algorithm>
#include <charconv>

namespace sandglass::config {

static bool all_of_base(std::string_view digits, int base) {
  return !digits.empty() && std::all_of(digits.begin(), digits.end(), [base](char c) {
    if (base == 8) return c >= '0' && c <= '7';
    const bool decimal = c >= '0' && c <= '9';
    return decimal || (base == 16 && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')));
  });
}

static bool take_boolean(const std::string& text, Value& out) {
  const bool on = text == "true" || text == "True" || text == "TRUE";
  if (!on && text != "false" && text != "False" && text != "FALSE") return false;
  out.kind = Kind::boolean;
  out.boolean = on;
  return true;
}

static bool take_double(std::string_view text, Value& out) {
  if (text[0] == '+') text.remove_prefix(1);
  auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), out.number);
  if (error != std::errc() || stop != text.data() + text.size()) return false;
  out.kind = Kind::number;
  return true;
}

static bool take_integer(std::string_view text, Value& out) {
  std::string_view digits = text;
  if (!digits.empty() && (digits[0] == '-' || digits[0] == '+')) digits.remove_prefix(1);
  int base = 10;
  const std::string_view prefix = text.substr(0, 2);
  if (prefix == "0x" || prefix == "0o") {
    base = prefix == "0x" ? 16 : 8;
    digits = text = text.substr(2);
  }
  if (!all_of_base(digits, base) || (base == 10 && digits.size() > 1 && digits[0] == '0'))
    return false;
  std::string_view number = text[0] == '+' ? text.substr(1) : text;
  auto [stop, error] =
      std::from_chars(number.data(), number.data() + number.size(), out.integer, base);
  if (error == std::errc::result_out_of_range) return base == 10 && take_double(text, out);
  out.kind = Kind::integer;
  return error == std::errc();
}

// Digits with a point or an exponent, or both.
static bool looks_decimal(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  const size_t mantissa_end = std::min(text.find_first_of("eE"), text.size());
  std::string_view mantissa = text.substr(0, mantissa_end), exponent = text.substr(mantissa_end);
  const size_t point = mantissa.find('.');
  if (point == std::string_view::npos && exponent.empty()) return false;
  std::string digits(mantissa);
  if (point != std::string_view::npos) digits.erase(point, 1);
  if (!all_of_base(digits, 10)) return false;
  if (exponent.empty()) return true;
  exponent.remove_prefix(1);
  if (!exponent.empty() && (exponent[0] == '-' || exponent[0] == '+')) exponent.remove_prefix(1);
  return all_of_base(exponent, 10);
}

void resolve_plain(const std::string& text, Value& out) {
  out.string = text;
  if (take_boolean(text, out) || take_integer(text, out)) return;
  if (looks_decimal(text) && take_double(text, out)) return;
  out.kind = Kind::string;
}

}  // namespace sandglass::config
