#include "git/attributes.h"

#include <algorithm>

#include "git/quote.h"

namespace sandglass::git {

namespace {

constexpr std::string_view kBlank = " \t\r", kMacro = "[attr]";
constexpr size_t kMaxLine = 2048;      // git's
constexpr size_t kMaxLines = 200'000;  // of one file; what follows is not read

bool is_name(std::string_view name) {
  if (name.empty() || name[0] == '-') return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return c == '-' || c == '.' || c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
  });
}

void skip_blank(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
}

std::string_view take_word(std::string_view& line) {
  const std::string_view word = line.substr(0, line.find_first_of(kBlank));
  line.remove_prefix(word.size());
  skip_blank(line);
  return word;
}

// The first word of a line, which may be quoted.
std::string take_pattern(std::string_view& line) {
  if (line[0] == '"') {
    size_t end = 1;
    while (end < line.size() && line[end] != '"') end += line[end] == '\\' ? 2 : 1;
    if (end < line.size()) {
      if (auto name = unquote_name(line.substr(0, end + 1))) {
        line.remove_prefix(end + 1);
        skip_blank(line);
        return *name;
      }
    }
  }
  return std::string(take_word(line));
}

struct Parsed {
  std::string pattern;  // or the name of the macro
  bool is_macro = false;
  std::vector<Assignment> assignments;
};

// A line with one bad name says nothing at all.
std::optional<std::vector<Assignment>> parse_assignments(std::string_view line) {
  using State = AttributeValue::State;
  std::vector<Assignment> out;
  while (!line.empty()) {
    std::string_view word = take_word(line);
    Assignment one;
    const bool prefixed = word[0] == '-' || word[0] == '!';
    if (prefixed) {
      one.value.state = word[0] == '-' ? State::unset : State::unspecified;
      word.remove_prefix(1);
    }
    const size_t equals = word.find('=');
    one.name = word.substr(0, equals);
    if (!is_name(one.name)) return std::nullopt;
    if (!prefixed) {
      one.value.state = equals == word.npos ? State::set : State::text;
      if (equals != word.npos) one.value.text = word.substr(equals + 1);
    }
    out.push_back(std::move(one));
  }
  return out;
}

std::optional<Parsed> parse_line(std::string_view line) {
  if (line.size() >= kMaxLine) return std::nullopt;
  line = line.substr(0, line.find('\0'));
  skip_blank(line);
  if (line.empty() || line[0] == '#') return std::nullopt;
  Parsed out;
  out.pattern = take_pattern(line);
  out.is_macro = out.pattern.size() > kMacro.size() && out.pattern.starts_with(kMacro);
  if (out.is_macro) out.pattern.erase(0, kMacro.size());
  if (out.is_macro ? !is_name(out.pattern) : out.pattern.starts_with('!')) return std::nullopt;
  auto assignments = parse_assignments(line);
  if (!assignments) return std::nullopt;
  out.assignments = std::move(*assignments);
  return out;
}

template <class Call>
void for_each_line(std::string_view bytes, Call&& call) {
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
  for (int number = 1; !bytes.empty(); number++) {
    const std::string_view line = bytes.substr(0, bytes.find('\n'));
    bytes.remove_prefix(std::min(bytes.size(), line.size() + 1));
    if (std::optional<Parsed> parsed = parse_line(line))
      if (!call(std::move(*parsed), number)) return;
  }
}

}  // namespace

void AttributeFile::read_macros(std::string_view bytes, Macros& macros) {
  for_each_line(bytes, [&](Parsed line, int) {
    if (line.is_macro) macros[line.pattern] = std::move(line.assignments);
    return macros.size() < kMaxLines;
  });
}

std::shared_ptr<const AttributeFile> AttributeFile::parse(std::string_view bytes,
                                                          const Macros& macros) {
  auto out = std::make_shared<AttributeFile>();
  for_each_line(bytes, [&](Parsed line, int number) {
    if (line.is_macro) return true;
    std::erase_if(line.assignments, [&](const Assignment& one) {
      return one.name != "text" && one.name != "crlf" && one.name != "eol" &&
             !macros.contains(one.name);
    });
    if (!line.assignments.empty())
      out->lines_.push_back({IgnorePattern(line.pattern, number), std::move(line.assignments)});
    return out->lines_.size() < kMaxLines;
  });
  return out;
}

void AttributeFile::for_each_match(
    std::string_view path, const std::function<void(const std::vector<Assignment>&)>& call) const {
  for (auto line = lines_.rbegin(); line != lines_.rend(); ++line)
    if (line->pattern.matches(path, false)) call(line->assignments);
}

namespace {

// What is known of one path, the strongest source first: what is set stays set.
class Collected {
 public:
  explicit Collected(const Macros& macros) : macros_(macros) {}

  void add(const std::vector<Assignment>& assignments) {
    // The last assignment first, and what a macro stands for at its place. No recursion: how deep
    // macros go is up to whoever wrote them.
    std::vector<std::pair<const std::vector<Assignment>*, size_t>> stack{
        {&assignments, assignments.size()}};
    while (!stack.empty()) {
      auto& [list, left] = stack.back();
      if (left == 0) {
        stack.pop_back();
        continue;
      }
      const Assignment& one = (*list)[--left];
      if (!values_.emplace(one.name, one.value).second) continue;
      if (one.value.state != AttributeValue::State::set) continue;
      if (const auto macro = macros_.find(one.name); macro != macros_.end())
        stack.emplace_back(&macro->second, macro->second.size());
    }
  }

  AttributeValue of(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? AttributeValue() : found->second;
  }

 private:
  const Macros& macros_;
  std::map<std::string, AttributeValue, std::less<>> values_;
};

}  // namespace

LineAttributes line_attributes(const AttributeSet& set, std::string_view path) {
  Collected found(*set.macros);
  const auto add = [&](const std::vector<Assignment>& list) { found.add(list); };
  if (set.info) set.info->for_each_match(path, add);
  for (size_t slash = path.rfind('/');; slash = path.rfind('/', slash - 1)) {
    const bool top = slash == path.npos;
    if (const auto file = set.of_directory(path.substr(0, top ? 0 : slash)))
      file->for_each_match(path.substr(top ? 0 : slash + 1), add);
    if (top || slash == 0) break;
  }
  return {found.of("text"), found.of("crlf"), found.of("eol")};
}

Macros built_in_macros() {
  using State = AttributeValue::State;
  return {{"binary",
           {{"diff", {State::unset, ""}},
            {"merge", {State::unset, ""}},
            {"text", {State::unset, ""}}}}};
}

}  // namespace sandglass::git
