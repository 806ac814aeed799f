// Durations and sizes, the two kinds of number that carry a unit.
#include <array>
#include <charconv>
#include <limits>

#include "base/text.h"
#include "config/value.h"

namespace sandglass::config {

namespace {

struct Unit {
  std::string_view name;
  int64_t factor;
};

constexpr std::array<Unit, 7> kDurations{{{"ns", 1},
                                          {"us", 1'000},
                                          {"ms", 1'000'000},
                                          {"s", 1'000'000'000},
                                          {"m", 60'000'000'000},
                                          {"h", 3'600'000'000'000},
                                          {"d", 86'400'000'000'000}}};

constexpr std::array<Unit, 11> kSizes{{{"", 1},
                                       {"B", 1},
                                       {"kB", 1'000},
                                       {"KB", 1'000},
                                       {"MB", 1'000'000},
                                       {"GB", 1'000'000'000},
                                       {"TB", 1'000'000'000'000},
                                       {"KiB", int64_t{1} << 10},
                                       {"MiB", int64_t{1} << 20},
                                       {"GiB", int64_t{1} << 30},
                                       {"TiB", int64_t{1} << 40}}};

struct Amount {
  int64_t whole = 0;
  int64_t fraction = 0, scale = 1;  // fraction / scale, below one
  std::string_view unit;
  bool huge = false;  // more digits than 64 bits hold
};

bool digit(char c) {
  return c >= '0' && c <= '9';
}

// "1.5 GB": digits, at most nine after a point, then whatever stands for the unit.
bool split(std::string_view text, Amount& out) {
  auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), out.whole);
  if (text.empty() || !digit(text[0])) return false;
  out.huge = error == std::errc::result_out_of_range;
  text.remove_prefix(static_cast<size_t>(stop - text.data()));
  if (text.size() > 1 && text[0] == '.' && digit(text[1])) {
    text.remove_prefix(1);
    for (; !text.empty() && digit(text[0]); text.remove_prefix(1)) {
      if (out.scale >= 1'000'000'000) return false;
      out.fraction = out.fraction * 10 + (text[0] - '0');
      out.scale *= 10;
    }
  }
  if (!text.empty() && text[0] == ' ') text.remove_prefix(1);
  out.unit = text;
  return true;
}

// whole and fraction times factor; false when it does not fit, or is no whole number.
bool multiply(const Amount& amount, int64_t factor, int64_t& out) {
  __extension__ using Wide = __int128;
  const Wide part = Wide{amount.fraction} * factor;
  if (amount.huge || part % amount.scale != 0) return false;
  const Wide total = Wide{amount.whole} * factor + part / amount.scale;
  if (total > std::numeric_limits<int64_t>::max()) return false;
  out = static_cast<int64_t>(total);
  return true;
}

template <size_t N>
Result<int64_t> parse(std::string_view text, const std::array<Unit, N>& units, const char* noun,
                      const char* advice) {
  const std::string quoted = "\"" + shown(text) + "\" ";
  Amount amount;
  if (!split(text, amount))
    return fail(Fault::invalid, quoted + "is not a " + noun + "; write " + advice);
  for (const Unit& unit : units) {
    if (unit.name != amount.unit) continue;
    int64_t total = 0;
    if (multiply(amount, unit.factor, total)) return total;
    return fail(Fault::invalid, quoted + "is too large, or too fine, for a " + noun);
  }
  const std::string what =
      amount.unit.empty() ? "has no unit" : "has an unknown unit \"" + shown(amount.unit) + "\"";
  return fail(Fault::invalid, quoted + what + "; write " + advice);
}

}  // namespace

Result<int64_t> parse_duration(std::string_view text) {
  return parse(text, kDurations, "duration",
               "a number and one of ns, us, ms, s, m, h, d, such as 700ms");
}

Result<int64_t> parse_size(std::string_view text) {
  return parse(
      text, kSizes, "size",
      "a number of bytes, or one with kB, MB, GB, TB, KiB, MiB, GiB or TiB, such as 10 MiB");
}

}  // namespace sandglass::config
