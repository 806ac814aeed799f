// ledger: keeps one file that says which files differ from the session baseline, and by how many
// lines. A C++ hook with state, errors, patches, and work that waits for flush().
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <sandglass/plugin.hpp>
#include <string>

namespace {

struct Lines {
  std::string note;  // why they are not counted
  size_t added = 0, removed = 0;
};

Lines count(std::string_view patch) {
  Lines out;
  bool in_hunk = false;  // before the first hunk, +++ and --- are names, not lines
  while (!patch.empty()) {
    const std::string_view line = patch.substr(0, patch.find('\n'));
    in_hunk = in_hunk || line.substr(0, 3) == "@@ ";
    if (in_hunk && !line.empty()) {
      out.added += line[0] == '+';
      out.removed += line[0] == '-';
    }
    patch.remove_prefix(std::min(line.size() + 1, patch.size()));
  }
  return out;
}

// Names are bytes and may hold anything: a newline in one must not forge a line of ours.
std::string escaped(std::string_view name) {
  std::string out;
  for (const char ch : name) {
    const auto c = static_cast<unsigned char>(ch);
    char code[5] = {ch, 0};
    if (c < 0x20 || c >= 0x7f || c == '\\') std::snprintf(code, sizeof code, "\\x%02x", c);
    out += code;
  }
  return out;
}

class Ledger {
 public:
  static constexpr uint64_t interests = SG_EV_FILES;
  static constexpr const char* config_schema = R"({
    "type": "object", "additionalProperties": false, "required": ["file"],
    "properties": {"file": {"type": "string", "pattern": "^/",
      "description": "The file to keep: an absolute path outside the workspace"}}})";

  Ledger(sandglass::Host, const sandglass::Config& config) : file_(config.text("/file")) {
    // Say now what cannot work later; where() makes the host show the line of the YAML.
    if (::access(file_.substr(0, file_.rfind('/') + 1).c_str(), W_OK) < 0)
      throw sandglass::Error::config("file", std::string("its folder: ") + std::strerror(errno));
  }

  void on_event(sandglass::Call, const sandglass::Event& event) {
    // Never fails: state() says why there is nothing to read. `true`, as the numbers leave the
    // host.
    const sandglass::Content diff = event.diff(true);
    const std::string name = escaped(event.relative());
    if (diff.state() == SG_CONTENT_SAME)
      files_.erase(name);  // as it was at the start
    else if (!diff.here() || diff.binary())
      files_[name] = {diff.here() ? "binary" : "not shown", 0, 0};
    else
      files_[name] = count(diff.text());
    changed_ = true;
  }

  // Called every `flush:` interval and before the end. Readers see the old file or the new one.
  void flush(sandglass::Call) {
    if (!changed_) return;
    std::string text;
    for (const auto& [name, lines] : files_) {
      const std::string numbers =
          "+" + std::to_string(lines.added) + " -" + std::to_string(lines.removed);
      text += (lines.note.empty() ? numbers : lines.note) + "\t" + name + "\n";
    }
    const std::string fresh = file_ + ".new";
    write(fresh, text);
    if (std::rename(fresh.c_str(), file_.c_str()) < 0) fail("rename to " + file_);
    changed_ = false;
  }

 private:
  // What is thrown becomes a status with this text; nothing crosses the border.
  [[noreturn]] static void fail(const std::string& what) {
    throw sandglass::Error(SG_E_FAILED, "cannot " + what + ": " + std::strerror(errno),
                           SG_FAIL_RETRY);
  }
  static void write(const std::string& path, const std::string& text) {
    const int fd =
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) fail("write " + path);
    const ssize_t written = ::write(fd, text.data(), text.size());
    const bool whole = written == static_cast<ssize_t>(text.size()) && ::fdatasync(fd) == 0;
    ::close(fd);
    if (!whole) fail("write " + path);
  }

  std::string file_;
  std::map<std::string, Lines> files_;  // by escaped name
  bool changed_ = false;
};

}  // namespace

SANDGLASS_PLUGIN_ABOUT("com.example.ledger", "0.1.0", "Apache-2.0", nullptr,
                       sandglass::hook<Ledger>("ledger", "Keeps a file of what differs"))
