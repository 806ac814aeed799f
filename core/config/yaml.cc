#include "config/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <sstream>

#include "base/text.h"
#include "config/scalar.h"
#include "config/syntax.h"
#include "config/tree.h"

namespace sandglass::config {

namespace {

constexpr std::string_view kCoreTag = "tag:yaml.org,2002:";
constexpr size_t kNowhere = std::string::npos;

// yaml-cpp's marks count bytes.
size_t position_of(const YAML::Mark& mark) {
  return static_cast<size_t>(std::max(mark.pos, 0));
}

// Where the closing quote of the text quoted at `open` stands.
size_t closing_quote(const std::string& text, size_t open) {
  const char quote = text[open];
  for (size_t at = open + 1; at < text.size(); at++) {
    if (quote == '"' && text[at] == '\\') {
      at++;
    } else if (text[at] == quote) {
      if (quote == '"' || at + 1 >= text.size() || text[at + 1] != quote) return at;
      at++;  // '' inside single quotes
    }
  }
  return kNowhere;
}

// Events of one document into a Tree, plus the checks that need the text itself.
class Reader : public YAML::EventHandler {
 public:
  explicit Reader(const Source& source) : source_(source), tree_(source) {}

  Tree& tree() { return tree_; }
  SyntaxError syntax_error(const YAML::Exception& error) const {
    return {position_of(error.mark), error.msg, quote_begin_, quote_end_,
            flow_.empty() ? kNowhere : flow_.back()};
  }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Value value;
    value.place = place(mark);
    const Value* key = tree_.waiting_key();
    if (key && key->kind != Kind::null && !in_flow() && key->place.line == value.place.line &&
        key->place.column == value.place.column)
      tree_.problem(value.place, "has no \":\"; write \"" + shown(key->string) + ": VALUE\"");
    tree_.scalar(std::move(value), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    check_indentation(mark);
    tree_.alias(place(mark), anchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    check_indentation(mark);
    Value value;
    value.place = place(mark);
    const bool plain = tag == "?" || tag.empty();
    if (!plain) check_quotes(position_of(mark));
    if (plain) {
      resolve_plain(text, value);
    } else {
      value.kind = Kind::string;
      value.string = text;
      value.quoted = true;
    }
    if (text.find('\0') != std::string::npos)
      tree_.problem(value.place, "text cannot hold a NUL; remove the \\0");
    if (!plain && tag != "!") apply_tag(tag, value);
    tree_.scalar(std::move(value), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    open(Kind::list, mark, tag, anchor, style);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    open(Kind::map, mark, tag, anchor, style);
  }
  void OnMapEnd() override { close(); }

 private:
  Place place(const YAML::Mark& mark) {
    // Source counts characters from the line's start; a long line is counted on from the last
    // place.
    const size_t position = std::min(position_of(mark), source_.text().size());
    if (last_.line != mark.line + 1 || position < last_position_) {
      last_ = source_.place_of(position);
    } else {
      for (size_t at = last_position_; at < position; at++)
        if ((static_cast<unsigned char>(source_.text()[at]) & 0xc0) != 0x80) last_.column++;
    }
    last_position_ = position;
    return last_;
  }

  bool in_flow() const { return !flow_.empty(); }

  void open(Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
            YAML::EmitterStyle::value style) {
    check_indentation(mark);
    const std::string_view expected = kind == Kind::list ? "seq" : "map";
    if (tag != "?" && tag != "!" && !tag.empty() && tag != std::string(kCoreTag).append(expected))
      unknown_tag(tag, place(mark));
    tree_.open(kind, place(mark), anchor);
    if (in_flow() || style == YAML::EmitterStyle::Flow) flow_.push_back(position_of(mark));
  }

  void close() {
    if (in_flow()) flow_.pop_back();
    tree_.close();
  }

  void unknown_tag(const std::string& tag, const Place& at) {
    std::string name = tag;
    if (name.starts_with(kCoreTag)) name = "!!" + name.substr(kCoreTag.size());
    tree_.problem(at, "the tag " + shown(name) + " means nothing here; remove it");
  }

  void apply_tag(const std::string& tag, Value& value) {
    const std::string_view name =
        tag.starts_with(kCoreTag) ? std::string_view(tag).substr(kCoreTag.size()) : "";
    if (name == "str") return;
    if (name != "int" && name != "float" && name != "bool" && name != "null")
      return unknown_tag(tag, value.place);
    resolve_plain(std::string(value.string), value);
    value.quoted = false;
    const bool fits =
        (name == "int" && value.kind == Kind::integer) ||
        (name == "bool" && value.kind == Kind::boolean) ||
        (name == "float" && (value.kind == Kind::number || value.kind == Kind::integer));
    if (name == "null" && (value.string.empty() || value.string == "~" || value.string == "null"))
      value.kind = Kind::null;
    else if (!fits)
      tree_.problem(value.place, said(value) + " is not what its tag !!" + std::string(name) +
                                     " says; remove the tag");
  }

  // The parser takes the end of the file for a missing quote.
  void check_quotes(size_t position) {
    const std::string& text = source_.text();
    size_t at = position;
    for (;;) {  // past tags, anchors, comments
      at = text.find_first_not_of(" \t\n", at);
      if (at == kNowhere) return;
      if (text[at] == '#')
        at = text.find('\n', at);
      else if (text[at] == '!' || text[at] == '&')
        at = text.find_first_of(" \t\n", at);
      else
        break;
      if (at == kNowhere) return;
    }
    if (text[at] != '"' && text[at] != '\'') return;
    const size_t end = closing_quote(text, at);
    if (end == kNowhere) {
      const Place begin = source_.place_of(at);
      Problem problem = problem_at(begin, "", "the quote that opens here is never closed");
      problem.text += "\n" + source_.excerpt(begin);
      throw Stop{std::move(problem)};
    }
    quote_begin_ = at;
    quote_end_ = end;
  }

  // A token that is the first of its line must not follow a tab, save inside [ ] and { }.
  void check_indentation(const YAML::Mark& mark) {
    if (in_flow() || mark.line == checked_line_) return;
    checked_line_ = mark.line;
    const size_t tab = tab_in_indentation(source_, position_of(mark));
    if (tab == kNowhere) return;
    const bool inside_quotes = quote_begin_ < tab && tab < quote_end_;
    if (!inside_quotes) throw Stop{tab_problem(source_, tab)};
  }

  const Source& source_;
  Tree tree_;
  std::vector<size_t> flow_;  // where open [ and {, and what is inside of them, began
  int checked_line_ = -1;
  size_t quote_begin_ = 0, quote_end_ = 0;
  Place last_;
  size_t last_position_ = 0;
};

// Whatever follows the first document is one too many.
class Nothing : public YAML::EventHandler {
 public:
  explicit Nothing(const Source& source) : source_(source) {}
  void OnDocumentStart(const YAML::Mark& mark) override {
    const size_t at = position_of(mark);
    const Place place = source_.place_of(at);
    const bool marked = source_.text().compare(std::min(at, source_.text().size()), 3, "---") == 0;
    Problem problem = problem_at(
        place, "",
        marked ? "a second document begins here; a configuration file holds one"
               : "the value ends before this; check the indentation, or remove what follows");
    problem.text += "\n" + source_.excerpt(place);
    throw Stop{std::move(problem)};
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}

 private:
  const Source& source_;
};

}  // namespace

Parsed parse_yaml(const Source& source) {
  Parsed out;
  Reader reader(source);
  std::vector<Problem> last;
  try {
    std::istringstream in(source.text());
    YAML::Parser parser(in);
    if (parser.HandleNextDocument(reader)) {
      Nothing nothing(source);
      parser.HandleNextDocument(nothing);
    }
  } catch (const Stop& stop) {
    last.push_back(stop.problem);
  } catch (const YAML::Exception& error) {
    last.push_back(explain(reader.syntax_error(error), source));
  } catch (const std::exception& error) {
    last.push_back(problem_at({source.name(), 1, 1}, "", "cannot be read: " + shown(error.what())));
  }
  out.complete = last.empty();
  out.root = reader.tree().take_root();
  if (!out.root.place.file) out.root.place = {source.name(), 1, 1};
  out.problems = reader.tree().take_problems();
  out.problems.insert(out.problems.end(), last.begin(), last.end());
  return out;
}

}  // namespace sandglass::config
