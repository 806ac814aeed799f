// The table of keys. Only what the runtime honours stands here; all else is an unknown key.
#include <algorithm>
#include <array>

#include "config/schema.h"

namespace sandglass::config {

namespace {

constexpr int64_t kMs = 1'000'000;
constexpr int64_t kHour = 3'600'000 * kMs;

bool in(char c, char from, char to) {
  return c >= from && c <= to;
}
bool lower_or_digit(char c) {
  return in(c, 'a', 'z') || in(c, '0', '9');
}
bool alphanumeric(char c) {
  return lower_or_digit(c) || in(c, 'A', 'Z');
}
bool joiner(char c) {
  return c == '-' || c == '_' || c == '.';
}

bool is_id(std::string_view s) {
  return !s.empty() && s.size() <= 63 && lower_or_digit(s[0]) &&
         std::all_of(s.begin(), s.end(), [](char c) { return lower_or_digit(c) || joiner(c); });
}

bool is_name(std::string_view s) {
  return !s.empty() && s.size() <= 63 && alphanumeric(s[0]) &&
         std::all_of(s.begin(), s.end(), [](char c) { return alphanumeric(c) || joiner(c); });
}

bool is_sha256(std::string_view s) {
  return s.size() == 64 && std::all_of(s.begin(), s.end(), [](char c) {
           return in(c, '0', '9') || in(c, 'a', 'f') || in(c, 'A', 'F');
         });
}

bool is_path(std::string_view s) {
  return !s.empty() && s.find('\0') == std::string_view::npos && s[0] != '~';
}

bool is_one_line(std::string_view s) {
  return !s.empty() && s.find('\n') == s.npos;
}

bool is_directory_name(std::string_view s) {
  return !s.empty() && s != "." && s != ".." &&
         s.find_first_of(std::string_view("/\0", 2)) == s.npos;
}

// "/a/b": absolute, no empty, "." or ".." part, no slash at the end.
bool is_clean_absolute(std::string_view s) {
  if (s.size() < 2 || s[0] != '/') return false;
  while (!s.empty()) {
    s.remove_prefix(1);
    const size_t end = std::min(s.find('/'), s.size());
    if (!is_directory_name(s.substr(0, end))) return false;
    s.remove_prefix(end);
  }
  return true;
}

constexpr std::string_view kIdPattern = "^[a-z0-9][a-z0-9._-]{0,62}$";
constexpr std::string_view kNamePattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$";

constexpr std::array kFlagShapes{Shape{.form = Form::flag}};
constexpr Rule kFlag{"true or false", kFlagShapes};

constexpr std::array kOnShapes{Shape{.form = Form::flag, .low = 1}};
constexpr Rule kOn{"true (errors are always logged)", kOnShapes};

constexpr std::array kNameShapes{
    Shape{.form = Form::text, .accepts = is_name, .pattern = kNamePattern}};
constexpr Rule kName{"a name of letters, digits, \"-\", \"_\" and \".\"", kNameShapes};

constexpr std::array kPathShapes{Shape{.form = Form::text, .accepts = is_path, .pattern = "^[^~]"}};
constexpr Rule kPath{"a path, relative to this file or absolute (for ~ write ${HOME})",
                     kPathShapes};

constexpr std::array kPathsShapes{Shape{.form = Form::list, .each = &kPath}};
constexpr Rule kPaths{"a list of paths: [more.yaml]", kPathsShapes};

constexpr std::array kAnythingShapes{Shape{.form = Form::anything}};
constexpr Rule kAnything{"a map of the plugin's own settings", kAnythingShapes};

constexpr std::array kTimeoutShapes{Shape{.form = Form::duration, .low = kMs, .high = kHour}};
constexpr Rule kTimeout{"a duration such as 10s", kTimeoutShapes};

constexpr std::array kIntervalShapes{Shape{.form = Form::duration, .low = 10 * kMs, .high = kHour}};
constexpr Rule kInterval{"a duration such as 700ms", kIntervalShapes};

template <auto& kWords>
bool is_one_of(std::string_view s) {
  return std::find(kWords.begin(), kWords.end(), s) != kWords.end();
}

// A plugin by name, or with settings.
constexpr std::array kUseKeys{
    Key{"use", &kName, "The name of a plugin's type; see `sandglass plugin list`.", {}, true},
    Key{"with", &kAnything, "Settings of the plugin; the plugin's own schema checks them.", "{}"}};
constexpr std::array kUseShapes{
    Shape{.form = Form::text, .accepts = is_name, .pattern = kNamePattern},
    Shape{.form = Form::map, .keys = kUseKeys}};
constexpr Rule kProvider{"a name, or {use: NAME, with: {...}}", kUseShapes, Slot::provider};
constexpr Rule kWatcher{"a name, or {use: NAME, with: {...}}", kUseShapes, Slot::watcher};

// plugins:
constexpr std::array kSha256Shapes{
    Shape{.form = Form::text, .accepts = is_sha256, .pattern = "^[0-9a-fA-F]{64}$"}};
constexpr Rule kSha256{"64 hexadecimal digits, as sha256sum prints them", kSha256Shapes};
constexpr std::array kPluginKeys{
    Key{"file", &kPath, "The shared object, relative to this file or absolute.", {}, true},
    Key{"sha256", &kSha256, "Refuse the file unless its SHA-256 is this."}};
constexpr std::array kPluginShapes{Shape{.form = Form::map, .keys = kPluginKeys}};
constexpr Rule kPlugin{"{file: PATH}", kPluginShapes};
constexpr std::array kPluginsShapes{Shape{.form = Form::list, .each = &kPlugin}};
constexpr Rule kPlugins{"a list: [{file: PATH}]", kPluginsShapes};

// sandboxes.<id>.workspace:
constexpr std::array kRootShapes{
    Shape{.form = Form::text, .accepts = is_clean_absolute, .pattern = "^(/[^/]+)+$"}};
constexpr Rule kRoot{
    "an absolute directory such as /workspace, without \"..\" or a slash at the end", kRootShapes};
constexpr std::array kBaselineWords{std::string_view("head"), std::string_view("snapshot")};
constexpr std::array kBaselineShapes{Shape{
    .form = Form::text, .accepts = is_one_of<kBaselineWords>, .pattern = "^(head|snapshot)$"}};
constexpr Rule kBaseline{"head or snapshot", kBaselineShapes};
constexpr std::array kWorkspaceKeys{
    Key{"path", &kPath,
        "The directory of this machine that is the workspace. Without it the command decides."},
    Key{"root", &kRoot, "Where the workspace lies inside the sandbox.", "\"/workspace\""},
    Key{"baseline", &kBaseline,
        "What changes are compared with: the commit at the start, or the files as they are then, "
        "uncommitted ones too.",
        "\"head\""}};
constexpr std::array kWorkspaceShapes{Shape{.form = Form::map, .keys = kWorkspaceKeys}};
constexpr Rule kWorkspace{"a map such as {path: .}", kWorkspaceShapes};

// sandboxes.<id>.fileEvents:
constexpr std::array kIgnoredShapes{
    Shape{.form = Form::text, .accepts = is_directory_name, .pattern = "^[^/]+$"}};
constexpr Rule kIgnored{"a directory's name without \"/\", such as node_modules", kIgnoredShapes};
constexpr std::array kIgnoreShapes{Shape{.form = Form::list, .each = &kIgnored}};
constexpr Rule kIgnore{"a list of directory names: [.git, node_modules]", kIgnoreShapes};
constexpr std::array kFileEventsKeys{
    Key{"watcher", &kWatcher, "What watches the workspace; auto takes the best that proves itself.",
        "\"auto\""},
    Key{"interval", &kInterval, "How often to look, where the watcher polls.", "\"700ms\""},
    Key{"ignore", &kIgnore, "Directories with one of these names are skipped with all below them.",
        "[\".git\",\"node_modules\"]"},
    Key{"diff", &kFlag, "One sandbox.file.diff on the stream for every file event.", "false"},
    Key{"required", &kFlag, "Without a watcher the sandbox fails.", "true"}};
constexpr std::array kFileEventsShapes{Shape{.form = Form::flag},
                                       Shape{.form = Form::map, .keys = kFileEventsKeys}};
constexpr Rule kFileEvents{"true, false, or a map such as {diff: true}", kFileEventsShapes};

// sandboxes.<id>.lifecycle:
constexpr std::array kReuseWords{std::string_view("none"), std::string_view("thread")};
constexpr std::array kReuseShapes{
    Shape{.form = Form::text, .accepts = is_one_of<kReuseWords>, .pattern = "^(none|thread)$"}};
constexpr Rule kReuse{"thread or none", kReuseShapes};
constexpr std::array kSnapshotWords{std::string_view("none"), std::string_view("after-setup"),
                                    std::string_view("after-run")};
constexpr std::array kSnapshotShapes{Shape{.form = Form::text,
                                           .accepts = is_one_of<kSnapshotWords>,
                                           .pattern = "^(none|after-setup|after-run)$"}};
constexpr Rule kSnapshot{"after-setup, after-run or none", kSnapshotShapes};
constexpr std::array kAgeShapes{
    Shape{.form = Form::duration, .low = 1'000 * kMs, .high = 3660 * 24 * kHour}};
constexpr Rule kAge{"a duration such as 30m", kAgeShapes};
constexpr std::array kLifecycleKeys{
    Key{"reuse", &kReuse,
        "thread: later runs of the same thread go on in the same box; none: each run gets a new "
        "one.",
        "\"none\""},
    Key{"keepAlive", &kAge, "How long a box that may be reused is kept after its last run.",
        "\"24h\""},
    Key{"destroyOnComplete", &kFlag,
        "Destroy the box when a run ends. Without it: as reuse says, none destroys."},
    Key{"snapshot", &kSnapshot,
        "When the provider takes a snapshot that later boxes start from, where it can.",
        "\"none\""},
    Key{"snapshotMaxAge", &kAge, "An older snapshot is not started from.", "\"7d\""}};
constexpr std::array kLifecycleShapes{Shape{.form = Form::map, .keys = kLifecycleKeys}};
constexpr Rule kLifecycle{"a map such as {reuse: thread, keepAlive: 30m}", kLifecycleShapes};

// sandboxes.<id>.hooks:
constexpr std::array kDeliveryWords{std::string_view("live"), std::string_view("durable")};
constexpr std::array kDeliveryShapes{
    Shape{.form = Form::text, .accepts = is_one_of<kDeliveryWords>, .pattern = "^(live|durable)$"}};
constexpr Rule kDelivery{"live or durable", kDeliveryShapes};
constexpr std::array kBindingKeys{
    kUseKeys[0], kUseKeys[1],
    Key{"name", &kName, "What this hook is called in logs; the type's name without it."},
    Key{"timeout", &kTimeout, "A handler that takes longer is ended.", "\"10s\""},
    Key{"delivery", &kDelivery,
        "durable: every event at least once, through crashes and restarts; needs a name.",
        "\"live\""}};
constexpr std::array kBindingShapes{
    Shape{.form = Form::text, .accepts = is_name, .pattern = kNamePattern},
    Shape{.form = Form::map, .keys = kBindingKeys}};
constexpr Rule kBinding{"a name, or {use: NAME, with: {...}}", kBindingShapes, Slot::hook};
constexpr std::array kBindingsShapes{kBindingShapes[0], kBindingShapes[1],
                                     Shape{.form = Form::list, .each = &kBinding}};
constexpr Rule kBindings{"a name, {use: NAME, with: {...}}, or a list of these", kBindingsShapes,
                         Slot::hook};
constexpr std::array kHooksKeys{
    Key{"onFile", &kBindings, "Every file event."},
    Key{"onFileCreate", &kBindings, "A file or link is there that was not."},
    Key{"onFileChange", &kBindings, "The content, mode or target of a file or link is another."},
    Key{"onFileDelete", &kBindings, "A file or link is gone."},
    Key{"onReady", &kBindings,
        "The sandbox is ready: provider up, baseline pinned, watcher armed."},
    Key{"onError", &kBindings, "The sandbox failed."},
    Key{"onDestroy", &kBindings, "The sandbox is destroyed."}};
constexpr std::array kHooksShapes{Shape{.form = Form::map, .keys = kHooksKeys}};
constexpr Rule kHooks{"a map such as {onFile: log}", kHooksShapes};

// sandboxes.<id>.redact:
constexpr std::array kPatternShapes{
    Shape{.form = Form::text, .accepts = is_one_line, .pattern = "^[^\n]+$"}};
constexpr Rule kPattern{"a pattern as in a .gitignore, such as \"*.pem\"", kPatternShapes};
constexpr std::array kRedactShapes{Shape{.form = Form::list, .each = &kPattern}};
constexpr Rule kRedact{"a list of patterns: [\"*.pem\", secrets/]", kRedactShapes};

// sandboxes.<id>.binary:
constexpr std::array kBinaryWords{std::string_view("brief"), std::string_view("full")};
constexpr std::array kBinaryShapes{
    Shape{.form = Form::text, .accepts = is_one_of<kBinaryWords>, .pattern = "^(brief|full)$"}};
constexpr Rule kBinary{"brief or full", kBinaryShapes};

// sandboxes:
constexpr std::array kSandboxKeys{
    Key{"provider", &kProvider, "What creates and drives the sandbox.", "\"local\""},
    Key{"workspace", &kWorkspace, "The directory the agent works in."},
    Key{"lifecycle", &kLifecycle, "How long the box lives, and what is kept of it."},
    Key{"fileEvents", &kFileEvents, "Whether and how the workspace is watched.", "true"},
    Key{"redact", &kRedact,
        "Files whose content nobody gets, as in a .gitignore: events come without diffs.", "[]"},
    Key{"binary", &kBinary,
        "Patches of binary files: brief says that they differ, full is one that git apply takes.",
        "\"brief\""},
    Key{"hooks", &kHooks, "Handlers that run on this machine, once for each event."}};
constexpr std::array kSandboxShapes{Shape{.form = Form::map, .keys = kSandboxKeys}};
constexpr Rule kSandbox{"a map such as {provider: local}, or {}", kSandboxShapes};
constexpr std::array kSandboxesShapes{
    Shape{.form = Form::table,
          .each = &kSandbox,
          .accepts = is_id,
          .pattern = kIdPattern,
          .name_words = "a-z, 0-9, \"-\", \"_\", \".\", first a letter or digit, at most 63"}};
constexpr Rule kSandboxes{"a map of sandboxes by id: {repo: {...}}", kSandboxesShapes};

// debug:
constexpr std::array kDebugKeys{
    Key{"errors", &kOn, "Faults; always on.", "true"},
    Key{"sandbox", &kFlag, "Watcher start and stop, event dispatch, lifecycle steps.", "false"},
    Key{"watch", &kFlag, "What the watcher hints and how it is judged.", "false"},
    Key{"plugin", &kFlag, "Loading of plugins, and what all of them log.", "false"}};
constexpr std::array kDebugShapes{Shape{.form = Form::flag},
                                  Shape{.form = Form::map, .keys = kDebugKeys}};
constexpr Rule kDebug{"true, false, or a map such as {sandbox: true}", kDebugShapes};

// retention:
bool is_size(std::string_view s) {
  return parse_size(s).has_value();
}
constexpr std::array kSizeShapes{
    Shape{.form = Form::text, .accepts = is_size, .pattern = "^[0-9]"}};
constexpr Rule kSize{"a size such as 1 GB", kSizeShapes};
constexpr std::array kRetentionKeys{
    Key{"age", &kAge, "Journals of sandboxes that ended longer ago are removed.", "\"30d\""},
    Key{"size", &kSize, "All journals together; the oldest go first.", "\"1 GB\""}};
constexpr std::array kRetentionShapes{Shape{.form = Form::map, .keys = kRetentionKeys}};
constexpr Rule kRetention{"a map such as {age: 30d, size: 1 GB}", kRetentionShapes};

// The file.
constexpr std::array kVersionShapes{Shape{.form = Form::whole, .low = 1, .high = 1}};
constexpr Rule kVersion{"1, the version of this format", kVersionShapes};
constexpr std::array kFileKeys{
    Key{"version", &kVersion, "The version of this format.", {}, true},
    Key{"include", &kPaths, "Files to read as well, relative to this one."},
    Key{"plugins", &kPlugins, "Plugin files to load besides those that ship."},
    Key{"sandboxes", &kSandboxes, "Sandboxes by id."},
    Key{"retention", &kRetention, "How long journals are kept."},
    Key{"debug", &kDebug, "Categories of debug lines on stderr.", "false"}};
constexpr std::array kFileShapes{Shape{.form = Form::map, .keys = kFileKeys}};
constexpr Rule kFile{"a map that begins with \"version: 1\"", kFileShapes};

}  // namespace

const Rule& configuration_rule() {
  return kFile;
}

}  // namespace sandglass::config
