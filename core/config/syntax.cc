#include "config/syntax.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace sandglass::config {

size_t tab_in_indentation(const Source& source, size_t position) {
  const std::string& text = source.text();
  for (size_t at = source.line_start(source.line_of(position)); at < text.size(); at++) {
    if (text[at] == '\t') return at;
    if (text[at] != ' ') break;
  }
  return std::string::npos;
}

static Problem with_excerpt(const Source& source, size_t position, const std::string& what) {
  const Place place = source.place_of(position);
  Problem problem = problem_at(place, "", what);
  problem.text += "\n" + source.excerpt(place);
  return problem;
}

Problem tab_problem(const Source& source, size_t tab) {
  return with_excerpt(source, tab, "a tab is used as indentation; write spaces");
}

// yaml-cpp's messages (its exceptions.h, ErrorMsg) and what a person makes of them.
static constexpr std::array<std::pair<std::string_view, std::string_view>, 16> kMeanings{{
    {"illegal block entry", "a list cannot begin here; put its \"- \" on a line of its own"},
    {"illegal flow end", "this bracket closes nothing; remove it"},
    {"illegal map key", "a key cannot stand here; put it on a line of its own"},
    {"end of map not found",
     "this does not continue the map above; check the indentation, and quotes on this line"},
    {"end of sequence not found", "this does not continue the list above; check the indentation"},
    {"the referenced anchor is not defined",
     "no anchor of this name stands before; write &NAME where the value is"},
    {"alias not found after *", "text cannot begin with \"*\"; put it in quotes"},
    {"anchor not found after &", "text cannot begin with \"&\"; put it in quotes"},
    {"illegal character found while scanning alias", "an alias is * and a plain word"},
    {"illegal character found while scanning anchor", "an anchor is & and a plain word"},
    {"cannot assign multiple tags to the same node", "two tags stand here; remove one"},
    {"cannot assign multiple anchors to the same node", "two anchors stand here; remove one"},
    {"aliases can't have any content, *including* tags", "an alias stands alone; remove the tag"},
    {"illegal document indicator in scalar",
     "a quoted text is still open where this document ends; close its quote"},
    {"illegal EOF in scalar",
     "a quoted text is still open at the end of the file; close its quote"},
    {"bad character found while scanning hex number", "an escape here wants hexadecimal digits"},
}};

static std::string character_at(std::string_view text, size_t position) {
  const std::string_view rest = text.substr(std::min(position, text.size()));
  return shown(rest.substr(0, std::max<size_t>(utf8_length(rest), 1)));
}

// ": " where no key is due: the line above is to blame when this line is a plain "key: value".
static std::string stray_colon(const Source& source, size_t position) {
  const size_t start = source.line_start(source.line_of(position));
  const std::string_view before = std::string_view(source.text()).substr(start, position - start);
  if (before.find_first_of(":\"'[{") == std::string_view::npos)
    return "a key cannot stand here; the line above may lack its \":\", or the indentation is "
           "wrong";
  return "a \":\" cannot stand here; put text that holds \": \" in quotes";
}

static std::string open_bracket(const SyntaxError& error, const Source& source) {
  const bool map = error.message == "end of map flow not found";
  std::string what = map ? "a \"{\"" : "a \"[\"";
  if (error.bracket < source.text().size())
    what += " of line " + std::to_string(source.line_of(error.bracket));
  return what + " is still open here; write \",\" between " + (map ? "entries" : "items") +
         " and \"" + (map ? "}" : "]") + "\" at the end";
}

static std::string meaning(const SyntaxError& error, const Source& source) {
  if (error.message == "illegal map value") return stray_colon(source, error.position);
  if (error.message.ends_with(" flow not found")) return open_bracket(error, source);
  if (error.message == "unknown token")
    return "plain text cannot begin with \"" + character_at(source.text(), error.position) +
           "\"; put it in quotes";
  if (error.message.starts_with("unknown escape character: "))
    return "in double quotes a backslash begins an escape and this is none; write \\\\, or use "
           "single "
           "quotes";
  for (const auto& [message, words] : kMeanings)
    if (message == error.message) return std::string(words);
  return "is not YAML: " + shown(error.message);
}

// `[${X}]`: the parser stops at the brace.
static bool is_bare_variable(const SyntaxError& error, const Source& source) {
  const std::string& text = source.text();
  const size_t at = error.position;
  return at > 0 && at < text.size() && text[at] == '{' && text[at - 1] == '$';
}

Problem explain(const SyntaxError& error, const Source& source) {
  if (size_t tab = tab_in_indentation(source, error.position); tab != std::string::npos)
    return tab_problem(source, tab);
  if (is_bare_variable(error, source))
    return with_excerpt(source, error.position - 1,
                        "inside [ ] and { } a variable needs quotes; write \"${NAME}\"");
  std::string what = meaning(error, source);
  const size_t begin_line = source.line_of(error.quote_begin);
  const size_t end_line = source.line_of(error.quote_end);
  if (begin_line < end_line && end_line == source.line_of(error.position))
    what = "a quoted text that began on line " + std::to_string(begin_line) +
           " ends on this line; is its closing quote missing there?";
  return with_excerpt(source, error.position, what);
}

}  // namespace sandglass::config
