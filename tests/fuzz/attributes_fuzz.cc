// Attribute files of any bytes are asked about any path and answer in good time; a line that is
// added on top of all decides; line ends that are converted forth and back stay.
#include "fuzz.h"
#include "git/line_ends.h"

using namespace sandglass;

namespace {

git::LineAttributes ask(std::string_view bytes, std::string_view info, std::string_view path) {
  git::Macros macros = git::built_in_macros();
  git::AttributeFile::read_macros(bytes, macros);
  git::AttributeFile::read_macros(info, macros);
  git::AttributeSet set;
  set.macros = &macros;
  set.info = git::AttributeFile::parse(info, macros);
  set.of_directory = [file = git::AttributeFile::parse(bytes, macros)](std::string_view) {
    return file;
  };
  return git::line_attributes(set, path);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Bytes in(data, size);
  const std::string_view path = in.text(), autocrlf = in.text(), eol = in.text(), info = in.text();
  const std::string_view rest = in.rest();
  if (path.empty()) return 0;
  const git::LineAttributes got = ask(rest, info, path);
  fuzz::require(got == ask(rest, info, path), "the same question has the same answer");
  const git::LineAttributes top = ask(rest, "* !text !crlf eol=lf", path);
  if (rest.find("[attr]") == rest.npos)
    fuzz::require(top.eol.text == "lf" && top.text == git::AttributeValue(), "info decides", rest);

  const git::LineEnds how = git::line_ends_of(got, autocrlf, eol);
  const std::string file = git::checked_out(how, std::string(rest));
  fuzz::require(git::checked_out(how, file) == file, "a checkout is checked out as it is", rest);
  if (rest.find('\r') == rest.npos)
    fuzz::require(git::as_stored(how, file, rest) == rest, "an untouched file is stored again",
                  file);
  return 0;
}
