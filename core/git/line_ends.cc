#include "git/line_ends.h"

#include <algorithm>
#include <cstdlib>

namespace sandglass::git {

namespace {

struct Counts {
  size_t cr = 0, lf = 0, crlf = 0;  // alone, alone, together
  size_t nul = 0, printable = 0, other = 0;

  explicit Counts(std::string_view bytes) {
    for (size_t i = 0; i < bytes.size(); i++) {
      const auto c = static_cast<unsigned char>(bytes[i]);
      if (c == '\r' && i + 1 < bytes.size() && bytes[i + 1] == '\n')
        crlf++, i++;
      else if (c == '\r')
        cr++;
      else if (c == '\n')
        lf++;
      else if (c == '\b' || c == '\t' || c == '\x1b' || c == '\f' || (c >= 32 && c != 127))
        printable++;
      else
        other++, nul += c == 0;
    }
    if (bytes.ends_with('\x1a') && other > 0) other--;  // DOS end of file
  }
  bool binary() const { return cr > 0 || nul > 0 || printable >> 7 < other; }
};

bool is_auto(LineEnds how) {
  return how == LineEnds::auto_lf || how == LineEnds::auto_crlf;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  return out;
}

enum class AutoCrlf { off, on, input };

AutoCrlf parse_autocrlf(std::string_view value) {
  const std::string word = lower(value);
  if (word == "input") return AutoCrlf::input;
  if (word == "true" || word == "yes" || word == "on") return AutoCrlf::on;
  return std::atoi(word.c_str()) != 0 ? AutoCrlf::on : AutoCrlf::off;
}

enum class Text { unspecified, yes, no, automatic, input };

Text parse_text(const AttributeValue& value) {
  switch (value.state) {
    case AttributeValue::State::set:
      return Text::yes;
    case AttributeValue::State::unset:
      return Text::no;
    case AttributeValue::State::text:
      return value.text == "input"  ? Text::input
             : value.text == "auto" ? Text::automatic
                                    : Text::unspecified;
    case AttributeValue::State::unspecified:
      break;
  }
  return Text::unspecified;
}

}  // namespace

LineEnds line_ends_of(const LineAttributes& attributes, std::string_view autocrlf,
                      std::string_view eol) {
  const AutoCrlf automatic = parse_autocrlf(autocrlf);
  const bool native_crlf =
      automatic == AutoCrlf::on || (automatic == AutoCrlf::off && lower(eol) == "crlf");
  Text text = parse_text(attributes.text);
  if (text == Text::unspecified) text = parse_text(attributes.crlf);
  if (text == Text::no) return LineEnds::as_is;
  const std::string& wanted = attributes.eol.text;
  if (wanted == "lf" || wanted == "crlf") {
    const bool lf = wanted == "lf";
    if (text == Text::automatic) return lf ? LineEnds::auto_lf : LineEnds::auto_crlf;
    return lf ? LineEnds::lf : LineEnds::crlf;
  }
  switch (text) {
    case Text::yes:
      return native_crlf ? LineEnds::crlf : LineEnds::lf;
    case Text::input:
      return LineEnds::lf;
    case Text::automatic:
      return native_crlf ? LineEnds::auto_crlf : LineEnds::auto_lf;
    default:
      break;
  }
  if (automatic == AutoCrlf::off) return LineEnds::as_is;
  return automatic == AutoCrlf::on ? LineEnds::auto_crlf : LineEnds::auto_lf;
}

std::string checked_out(LineEnds how, std::string blob) {
  if (how != LineEnds::crlf && how != LineEnds::auto_crlf) return blob;
  if (blob.find('\n') == blob.npos) return blob;
  const Counts counts(blob);
  if (counts.lf == 0) return blob;
  if (is_auto(how) && (counts.crlf > 0 || counts.binary())) return blob;
  std::string out;
  out.reserve(blob.size() + counts.lf);
  for (size_t i = 0; i < blob.size(); i++) {
    if (blob[i] == '\n' && (i == 0 || blob[i - 1] != '\r')) out += '\r';
    out += blob[i];
  }
  return out;
}

std::string as_stored(LineEnds how, std::string file, std::string_view baseline) {
  if (how == LineEnds::as_is || file.find('\r') == file.npos) return file;
  const Counts counts(file);
  if (counts.crlf == 0 || (is_auto(how) && counts.binary())) return file;
  if (is_auto(how) && baseline.find('\r') != baseline.npos) {
    const Counts old(baseline);
    if (old.crlf > 0 && !old.binary()) return file;
  }
  std::string out;
  out.reserve(file.size() - counts.crlf);
  for (size_t i = 0; i < file.size(); i++)
    if (file[i] != '\r' || i + 1 == file.size() || file[i + 1] != '\n') out += file[i];
  return out;
}

bool is_unnormalized(LineEnds how, std::string_view blob) {
  return (how == LineEnds::lf || how == LineEnds::crlf) && blob.find("\r\n") != blob.npos;
}

}  // namespace sandglass::git
