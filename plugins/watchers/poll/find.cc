#include "find.h"

#include <charconv>

namespace poll {

using sandglass::Error;

namespace {

constexpr const char* kPrint = "%y %m %i %s %T@ %C@ %p\\0";
constexpr const char* kStat = "//%f %i %s %Y %Z %y %z %n";

std::string escaped(const std::string& name) {
  std::string out;
  for (const char c : name) {
    if (std::string_view("*?[]\\").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

// Everything below, but for directories of these names.
Argv command_for(bool prints, const std::vector<std::string>& ignore) {
  Argv words = {"find", "."};
  if (prints) words.push_back("-ignore_readdir_race");
  Argv names;
  for (const std::string& name : ignore) {
    if (name.empty() || name.find('/') != std::string::npos) continue;  // no name is like that
    if (!names.empty()) names.push_back("-o");
    names.insert(names.end(), {"-name", escaped(name)});
  }
  if (!names.empty()) {
    words.insert(words.end(), {"-type", "d", "("});
    words.insert(words.end(), names.begin(), names.end());
    words.insert(words.end(), {")", "-prune", "-o"});
  }
  if (prints)
    words.insert(words.end(), {"-printf", kPrint});
  else
    words.insert(words.end(), {"-exec", "stat", "-c", kStat, "{}", "+"});
  return words;
}

// Takes fields off the front of a record.
class Fields {
 public:
  explicit Fields(std::string_view text) : text_(text) {}
  bool ok() const { return ok_; }
  std::string_view rest() const { return text_; }

  std::string_view word() {
    const size_t end = text_.find(' ');
    ok_ &= end != std::string_view::npos && end > 0;
    if (!ok_) return {};
    const std::string_view word = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    return word;
  }
  template <class T>
  T number(int base = 10) {
    const std::string_view text = word();
    return digits<T>(text, base);
  }
  // "1796113288.1903717280"
  int64_t stamp() {
    const std::string_view text = word();
    const size_t point = text.find('.');
    const auto seconds = digits<int64_t>(text.substr(0, point), 10);
    return seconds * 1'000'000'000 +
           (point == std::string_view::npos ? 0 : fraction(text.substr(point + 1)));
  }
  // The nanoseconds of "2026-12-01 08:21:28.190371728 +0000", whose zone some leave out.
  int64_t nanoseconds() {
    word();
    const std::string_view time = word();
    if (!text_.empty() && (text_[0] == '+' || text_[0] == '-')) word();
    const size_t point = time.find('.');
    return point == std::string_view::npos ? 0 : fraction(time.substr(point + 1));
  }

 private:
  template <class T>
  T digits(std::string_view text, int base) {
    T value = 0;
    const auto end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value, base);
    ok_ &= read.ec == std::errc() && read.ptr == end;
    return value;
  }
  int64_t fraction(std::string_view text) {
    int64_t value = 0;
    for (size_t i = 0; i < 9; i++) {
      const char c = i < text.size() ? text[i] : '0';
      ok_ &= c >= '0' && c <= '9';
      value = value * 10 + (c - '0');
    }
    return value;
  }
  std::string_view text_;
  bool ok_ = true;
};

bool take_path(std::string_view text, Record& record) {
  if (text == ".") return true;
  if (!text.starts_with("./") || text.size() == 2) return false;
  record.path = text.substr(2);
  return true;
}

char type_of_letter(char letter) {
  if (letter == 'f' || letter == 'd' || letter == 'l') return letter;
  return letter == 'U' || letter == '?' ? '?' : 'o';
}

char type_of_mode(uint32_t mode) {
  switch (mode & 0170000) {
    case 0100000:
      return 'f';
    case 0040000:
      return 'd';
    case 0120000:
      return 'l';
    default:
      return 'o';
  }
}

bool read_printed(std::string_view text, Record& record) {
  Fields fields(text);
  const std::string_view letter = fields.word();
  record.type = letter.size() == 1 ? type_of_letter(letter[0]) : '?';
  record.mode = fields.number<uint32_t>(8);
  record.inode = fields.number<uint64_t>();
  record.size = fields.number<uint64_t>();
  record.mtime_ns = fields.stamp();
  record.ctime_ns = fields.stamp();
  return fields.ok() && take_path(fields.rest(), record);
}

bool read_stat(std::string_view text, Record& record) {
  Fields fields(text);
  const auto mode = fields.number<uint32_t>(16);
  record.type = type_of_mode(mode);
  record.mode = mode & 07777;
  record.inode = fields.number<uint64_t>();
  record.size = fields.number<uint64_t>();
  record.mtime_ns = fields.number<int64_t>() * 1'000'000'000;
  record.ctime_ns = fields.number<int64_t>() * 1'000'000'000;
  record.mtime_ns += fields.nanoseconds();
  record.ctime_ns += fields.nanoseconds();
  return fields.ok() && take_path(fields.rest(), record);
}

bool read_all_printed(std::string_view out, std::vector<Record>& records) {
  while (!out.empty()) {
    const size_t end = out.find('\0');
    if (end == std::string_view::npos) return false;
    if (!read_printed(out.substr(0, end), records.emplace_back())) return false;
    out.remove_prefix(end + 1);
  }
  return true;
}

bool read_all_stat(std::string_view out, std::vector<Record>& records) {
  if (out.empty()) return true;
  if (!out.starts_with("//") || out.back() != '\n') return false;
  out.remove_prefix(2);
  while (!out.empty()) {
    const size_t end = out.find("\n//");
    const bool last = end == std::string_view::npos;
    const std::string_view text = out.substr(0, last ? out.size() - 1 : end);
    if (!read_stat(text, records.emplace_back())) return false;
    out.remove_prefix(last ? out.size() : end + 3);
  }
  return true;
}

// The same command for the root alone: do the tools know all that is in it?
bool works(const Box& box, sandglass::Call call, bool prints, Said& said) {
  Argv words = command_for(prints, {"name"});
  words.insert(words.begin() + (prints ? 3 : 2), "-prune");
  said = box.run(call, words);
  std::vector<Record> records;
  const bool read = prints ? read_all_printed(said.out, records) : read_all_stat(said.out, records);
  return said.well() && read && records.size() == 1 && records[0].path.empty();
}

}  // namespace

std::string_view Record::dir() const {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string_view Record::name() const {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

Find::Find(const Box& box, sandglass::Call call, const std::vector<std::string>& ignore) {
  Said printing, stating;
  prints_ = works(box, call, true, printing);
  if (printing.how == SG_EXIT_BAD_CWD) throw NoRoot(box.where());
  if (printing.how == SG_EXIT_NOT_FOUND)
    throw Error(SG_E_UNSUPPORTED,
                "there is no find in the sandbox, which polling needs: put findutils, busybox or "
                "toybox into its image");
  if (!prints_ && !works(box, call, false, stating))
    throw Error(SG_E_UNSUPPORTED, "find and stat of the sandbox cannot list a directory (" +
                                      last_words(stating) +
                                      "): put findutils, busybox or toybox into its image");
  command_ = command_for(prints_, ignore);
}

bool Find::read(std::string_view out, std::vector<Record>& records) const {
  return prints_ ? read_all_printed(out, records) : read_all_stat(out, records);
}

// What GNU tools make of other than printable bytes: \303\244, \t, \\, \'.
static std::string unescaped(std::string_view text) {
  constexpr std::string_view kLetters = "abfnrtv", kBytes = "\a\b\f\n\r\t\v";
  std::string out;
  while (!text.empty()) {
    size_t taken = 1;
    char c = text[0];
    if (c == '\\' && text.size() > 1) {
      taken = 2;
      c = text[1];
      if (const size_t at = kLetters.find(c); at != std::string_view::npos) c = kBytes[at];
      unsigned value = 0;
      if (text.size() > 3 &&
          std::from_chars(&text[1], &text[1] + 3, value, 8).ptr == &text[1] + 3) {
        taken = 4;
        c = static_cast<char>(value);
      }
    }
    out += c;
    text.remove_prefix(taken);
  }
  return out;
}

// "find: './a': Permission denied", "stat: can't stat './a': ...", "find: ./a: ...": the place is
// what stands between "./" and the last colon.
Complaints complaints_of(const Said& said) {
  Complaints out;
  out.all = said.cut;
  std::string_view rest = said.err;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    // What went while it was looked at is gone.
    if (line.ends_with(": No such file or directory") || line.ends_with(": Not a directory"))
      continue;
    const size_t begin = line.find("./"), end = line.rfind(": ");
    if (begin == std::string_view::npos || end == std::string_view::npos || end <= begin + 2) {
      out.all = true;
      continue;
    }
    std::string_view path = line.substr(begin + 2, end - begin - 2);
    if (begin > 0 && line[begin - 1] == '\'' && path.ends_with('\'')) path.remove_suffix(1);
    out.places.push_back({std::string(path), unescaped(path)});
  }
  return out;
}

}  // namespace poll
