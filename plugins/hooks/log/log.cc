// The hook `log`: one line of the log for each event.
#include <algorithm>
#include <sandglass/plugin.hpp>
#include <string>

#include "patch.h"
#include "text.h"

namespace hook_log {
namespace {

// Paths are put into a column as wide as the widest so far, within these.
constexpr size_t kLeastColumn = 11, kMostColumn = 40;

std::string padded(std::string text, size_t columns) {
  const size_t have = width(text);
  if (have < columns) text.append(columns - have, ' ');
  return text;
}

// What stands for the content of a patch that cannot be counted.
const char* word_for(const sandglass::Content& diff) {
  switch (diff.state()) {
    case SG_CONTENT_HERE:
      return diff.binary() ? "binary" : "";
    case SG_CONTENT_IGNORED:
      return "ignored";
    case SG_CONTENT_REDACTED:
      return "redacted";
    case SG_CONTENT_TOO_LARGE:
      return "too large";
    case SG_CONTENT_SAME:
      return "as at the start";
    case SG_CONTENT_NO_BASELINE:
      return "no baseline";
    case SG_CONTENT_GONE:
      return "content gone";
    case SG_CONTENT_UNSUPPORTED:
      return "no diff here";
    case SG_CONTENT_FAULT:
      return "unreadable";
    default:
      return "";
  }
}

class Log {
 public:
  static constexpr uint64_t interests =
      SG_EV_FILES | SG_EV_LIFECYCLE | SG_EV_RUNS | UINT64_C(1) << SG_EV_RESCAN;
  static constexpr const char* config_schema = R"({
    "type": "object",
    "additionalProperties": false,
    "properties": {
      "stat": {"type": "boolean", "default": true,
               "description": "Show how many lines differ from the session baseline"},
      "diff": {"type": "boolean", "default": false,
               "description": "Show the patch below the line"},
      "level": {"type": "string", "enum": ["info", "debug"], "default": "info",
                "description": "debug: shown with the debug category log only"}
    }
  })";

  Log(sandglass::Host host, const sandglass::Config& config)
      : host_(host),
        stat_(config.flag("/stat", true)),
        diff_(config.flag("/diff", false)),
        level_(config.text("/level", "info") == "debug" ? SG_LOG_DEBUG : SG_LOG_INFO) {}

  void on_event(sandglass::Call, const sandglass::Event& event) {
    if (!host_.logs(level_)) return;
    host_.log(level_, event.is_file() ? file_line(event) : other_line(event));
  }

 private:
  std::string file_line(const sandglass::Event& event) {
    const std::string path = safe_line(event.relative());
    std::string line = padded(event.type(), 6) + "  ";
    if (!stat_ && !diff_) return line + path;
    const sandglass::Content patch = event.diff();
    const std::string note = note_for(event, patch);
    column_ = std::min(std::max(column_, width(path)), kMostColumn);
    line += note.empty() ? path : padded(path, column_) + "   " + note;
    if (diff_ && patch.here() && !patch.text().empty()) {
      line += '\n' + safe_lines(patch.text());
      if (line.back() == '\n') line.pop_back();
    }
    return line;
  }

  std::string note_for(const sandglass::Event& event, const sandglass::Content& patch) const {
    if (std::string word = word_for(patch); !word.empty()) return word;
    const std::string counted = stat_ ? to_text(count_lines(patch.text())) : "";
    if (!counted.empty()) return counted;
    return event.flags() & SG_EVF_META_ONLY ? "mode" : "";
  }

  static std::string other_line(const sandglass::Event& event) {
    std::string line = padded(event.type(), 6) + "  " + safe_line(event.sandbox_id());
    if (!event.run_id().empty()) line += "  " + safe_line(event.run_id());
    if (!event.json().empty() && event.json() != "{}") line += "   " + safe_line(event.json());
    return line;
  }

  sandglass::Host host_;
  bool stat_, diff_;
  uint32_t level_;
  size_t column_ = kLeastColumn;  // on_event() never runs twice at once
};

}  // namespace
}  // namespace hook_log

SANDGLASS_PLUGIN_ABOUT("sandglass.log", "1.0.0", "Apache-2.0", nullptr,
                       sandglass::hook<hook_log::Log>("log", "One line of the log for each event"))
