// A configuration of any bytes loads, or is refused with problems that each have a place and a
// text, in lines that a terminal may show.
#include "base/text.h"
#include "config/definition.h"
#include "fuzz.h"

using namespace sandglass;

// "12:" at the front; 0 where there is none.
static int take_number(std::string_view& text) {
  int number = 0;
  size_t at = 0;
  while (at < text.size() && text[at] >= '0' && text[at] <= '9')
    number = number * 10 + (text[at++] - '0');
  if (at == 0 || at == text.size() || text[at] != ':') return 0;
  text.remove_prefix(at + 1);
  return number;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // Other files are other inputs.
  if (text.find("include") != text.npos) return 0;
  const auto loaded =
      config::load_text(text, "fuzz.yaml", [](const char*) -> const char* { return "value"; });
  for (const auto& problem : loaded.problems) {
    fuzz::require(shown_text(problem.text) == problem.text, "a problem is harmless", problem.text);
    if (problem.text.starts_with("and ")) continue;  // "and 7 more mistakes"
    std::string_view rest = problem.text;
    fuzz::require(rest.starts_with("fuzz.yaml:"), "a problem names the file", problem.text);
    rest.remove_prefix(std::string_view("fuzz.yaml:").size());
    const int line = take_number(rest), column = take_number(rest);
    fuzz::require((line > 0) == (column > 0), "a line comes with its column", problem.text);
    if (problem.place.line > 0)
      fuzz::require(line == problem.place.line && column == problem.place.column,
                    "a problem has its place", problem.text);
    fuzz::require(rest.size() > 1 && rest[0] == ' ', "a problem has a text", problem.text);
  }
  return 0;
}
