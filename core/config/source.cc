#include "config/source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/fd.h"
#include "base/text.h"

namespace sandglass::config {

static constexpr std::string_view kBom = "\xef\xbb\xbf";
static constexpr size_t kExcerptBytes = 100;

static size_t characters(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

// What stands at the front of `rest` that may not stand in a configuration; "" when all is well.
static std::string fault_at(std::string_view rest, size_t length) {
  const auto c = static_cast<unsigned char>(rest[0]);
  char text[8];
  std::snprintf(text, sizeof text, "\\x%02x", c);
  if (length == 0) return std::string("the byte ") + text + " is not UTF-8; save the file as UTF-8";
  if (c == 0) return "a NUL byte; save the file as UTF-8 text (UTF-16 looks like this)";
  if (c == '\r') return "a carriage return that ends a line alone; end lines with LF, or CR LF";
  if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
    return std::string("the control character ") + text +
           "; remove it, or write it as an escape in double quotes";
  return "";
}

Result<Source> Source::of(std::string_view bytes, std::string name) {
  Source source;
  source.name_ = std::make_shared<const std::string>(std::move(name));
  source.starts_ = {0};
  if (bytes.substr(0, 2) == "\xff\xfe" || bytes.substr(0, 2) == "\xfe\xff")
    return fail(Fault::config, problem_at({source.name_, 1, 1}, "",
                                          "the file is UTF-16 or UTF-32; save it as UTF-8")
                                   .text);
  if (bytes.substr(0, kBom.size()) == kBom) bytes.remove_prefix(kBom.size());
  source.text_.reserve(bytes.size());
  while (!bytes.empty()) {
    if (bytes.substr(0, 2) == "\r\n") bytes.remove_prefix(1);
    const size_t length = utf8_length(bytes);
    if (std::string fault = fault_at(bytes, length); !fault.empty())
      return fail(Fault::config, problem_at(source.place_of(source.text_.size()), "", fault).text);
    source.text_.append(bytes.substr(0, length));
    if (bytes[0] == '\n') source.starts_.push_back(source.text_.size());
    bytes.remove_prefix(length);
  }
  return source;
}

size_t Source::line_of(size_t position) const {
  auto after = std::upper_bound(starts_.begin(), starts_.end(), position);
  return static_cast<size_t>(after - starts_.begin());
}

size_t Source::line_start(size_t number) const {
  return number == 0 || number > starts_.size() ? text_.size() : starts_[number - 1];
}

std::string_view Source::line(size_t number) const {
  const size_t start = line_start(number);
  const std::string_view rest = std::string_view(text_).substr(start);
  return rest.substr(0, rest.find('\n'));
}

Place Source::place_of(size_t position) const {
  position = std::min(position, text_.size());
  const size_t number = line_of(position);
  const size_t start = starts_[number - 1];
  const size_t column = characters(std::string_view(text_).substr(start, position - start));
  return {name_, static_cast<int>(number), static_cast<int>(column) + 1};
}

std::string Source::excerpt(const Place& place) const {
  std::string_view text = line(static_cast<size_t>(place.line));
  size_t at = 0;
  for (int column = 1; column < place.column && at < text.size(); column++)
    at += std::max<size_t>(utf8_length(text.substr(at)), 1);
  std::string before = shown(text.substr(0, at)), after = shown(text.substr(at));
  if (before.size() > kExcerptBytes) before = "...";
  if (after.size() > kExcerptBytes) {
    size_t end = kExcerptBytes;
    while ((static_cast<unsigned char>(after[end]) & 0xc0) == 0x80) end--;
    after = after.substr(0, end) + "...";
  }
  const std::string number = std::to_string(place.line);
  return "  " + number + " | " + before + after + "\n  " + std::string(number.size(), ' ') + " | " +
         std::string(characters(before), ' ') + "^";
}

static Result<FileText> read_bounded(const Fd& fd, const std::string& name) {
  struct stat st;
  if (::fstat(fd.get(), &st) < 0) return fail_errno(errno, shown(name) + ": cannot be read");
  if (S_ISDIR(st.st_mode))
    return fail(Fault::config, shown(name) + ": is a directory; name a file in it");
  if (!S_ISREG(st.st_mode))
    return fail(Fault::config, shown(name) + ": is not a regular file; name a YAML file");
  FileText out;
  out.id = {st.st_dev, st.st_ino};
  out.bytes.resize(kMaxFileBytes + 1);
  size_t have = 0;
  while (have < out.bytes.size()) {
    const ssize_t n = ::read(fd.get(), out.bytes.data() + have, out.bytes.size() - have);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno(errno, shown(name) + ": cannot be read");
    if (n == 0) break;
    have += static_cast<size_t>(n);
  }
  if (have > kMaxFileBytes)
    return fail(Fault::config, shown(name) + ": is larger than 1 MiB; a configuration file is not");
  out.bytes.resize(have);
  return out;
}

Result<FileText> read_config_file(const std::string& name) {
  if (name.empty() || name.find('\0') != std::string::npos)
    return fail(Fault::config, "\"" + shown(name) + "\" is not a file name");
  // O_NONBLOCK: a FIFO must not hang the start; it is refused once it is open.
  Fd fd(::open(name.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (fd) return read_bounded(fd, name);
  switch (errno) {
    case ENOENT:
      return fail(Fault::config, shown(name) + ": there is no such file; check the name");
    case ENOTDIR:
      return fail(Fault::config, shown(name) + ": a part of this path is not a directory");
    case EACCES:
    case EPERM:
      return fail(Fault::config, shown(name) +
                                     ": cannot be read: permission denied; check the "
                                     "owner and mode of the file and its directories");
    default: {
      auto error = fail_errno(errno, shown(name) + ": cannot be opened").value();
      return fail(Fault::config, error.text);
    }
  }
}

}  // namespace sandglass::config
