#include "api/scaffold.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/below.h"
#include "base/fd.h"
#include "base/program.h"
#include "base/text.h"
#include "plugin/abi.h"
#include "plugin/registry.h"

namespace sandglass::api {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kLargestFile = 1 << 20;
constexpr size_t kLongestName = 40;

struct Sample {
  std::string_view kind, language, folder;
  std::string_view name;   // what its files call it
  std::string_view title;  // and its class
};
constexpr std::array<Sample, 5> kSamples{{
    {"hook", "c", "hook-c", "sizes", "Sizes"},
    {"hook", "cpp", "hook-cpp", "ledger", "Ledger"},
    {"hook", "rust", "hook-rust", "tally", "Tally"},
    {"provider", "c", "provider-c", "twin", "Twin"},
    {"watcher", "cpp", "watcher-cpp", "glance", "Glance"},
}};

Result<const Sample*> find_sample(const NewPlugin& wanted) {
  std::string there;
  for (const Sample& sample : kSamples) {
    if (sample.kind == wanted.kind && sample.language == wanted.language) return &sample;
    there += (there.empty() ? "" : ", ") + std::string(sample.kind) + " in " +
             std::string(sample.language);
  }
  return fail(Fault::invalid, "there is no sample of a " + shown(wanted.kind) + " in " +
                                  shown(wanted.language) + " to start from; there is: " + there);
}

bool is_letter(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// It becomes a file name, a CMake project, a Cargo package and a word of YAML.
Status check_name(const NewPlugin& wanted) {
  const std::string& name = wanted.name;
  const bool ok = !name.empty() && name.size() <= kLongestName && is_letter(name[0]) &&
                  std::all_of(name.begin(), name.end(), [](char c) {
                    return is_letter(c) || is_digit(c) || c == '-' || c == '_';
                  });
  if (!ok)
    return fail(Fault::invalid,
                "'" + shown(name) + "' cannot be a plugin's name: write a-z, 0-9, '-' and '_', " +
                    "first a letter, at most " + std::to_string(kLongestName) + " characters");
  const plugin::Registry registry;
  for (const plugin::Type* type : registry.types())
    if (type->name == name && plugin::short_kind(type->kind) == wanted.kind)
      return fail(Fault::exists, "there is a " + wanted.kind + " '" + name + "' already, in " +
                                     shown(type->file) + ": choose another name");
  return {};
}

bool in_word(char c) {
  return is_letter(c) || is_digit(c) || (c >= 'A' && c <= 'Z') || c == '_';
}

// Each `from` that is a word of its own, or follows the word `before`.
void replace_words(std::string& text, std::string_view from, std::string_view to,
                   std::string_view before = {}) {
  for (size_t at = 0; (at = text.find(from, at)) != text.npos;) {
    const size_t start = at - std::min(at, before.size());
    const bool led = std::string_view(text).substr(start, at - start) == before;
    const bool begins = led && (start == 0 || !in_word(text[start - 1]));
    const size_t end = at + from.size();
    if (begins && (end == text.size() || !in_word(text[end]))) {
      text.replace(at, from.size(), to);
      at += to.size();
    } else {
      at = end;
    }
  }
}

// "my-hook" as a class: "MyHook".
std::string title_of(std::string_view name) {
  std::string out;
  bool up = true;
  for (const char c : name) {
    if (is_letter(c) || is_digit(c)) out += up && is_letter(c) ? static_cast<char>(c - 32) : c;
    up = !is_letter(c) && !is_digit(c);
  }
  return out;
}

std::string renamed(std::string text, const Sample& sample, const std::string& name) {
  std::string library = name;  // as Cargo names it
  std::replace(library.begin(), library.end(), '-', '_');
  replace_words(text, sample.name, library, "lib");
  replace_words(text, sample.name, name);
  replace_words(text, sample.title, title_of(name));
  return text;
}

Status write_new(const std::string& path, const std::string& bytes) {
  const Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!fd) return fail_errno(errno, shown(path));
  return write_all(fd.get(), bytes);
}

// What is built in a sample's folder of a source tree is no part of it.
bool is_part(const fs::path& path) {
  const std::string name = path.filename().string();
  return name != "build" && name != "target" && name != "Cargo.lock";
}

Result<std::vector<fs::path>> files_of(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code failed;
  for (fs::recursive_directory_iterator at(folder, failed), end; !failed && at != end;
       at.increment(failed)) {
    if (!is_part(at->path()))
      at.disable_recursion_pending();
    else if (at->is_regular_file(failed))
      out.push_back(at->path().lexically_relative(folder));
  }
  if (failed)
    return fail(Fault::not_found, "the samples cannot be read, " + shown(folder.string()) + ": " +
                                      failed.message() +
                                      ". They come with the SDK: install sandglass whole");
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::string> commands_of(std::string_view readme) {
  constexpr std::string_view kIndent = "    ";
  std::vector<std::string> out;
  while (!readme.empty()) {
    const std::string_view line = readme.substr(0, readme.find('\n'));
    if (line.substr(0, kIndent.size()) == kIndent) out.emplace_back(line.substr(kIndent.size()));
    readme.remove_prefix(std::min(line.size() + 1, readme.size()));
  }
  return out;
}

Status fill(const Sample& sample, const std::string& name, MadePlugin& made) {
  constexpr std::string_view kSchema = "../../sandglass.schema.json";
  const fs::path share = installed("share/sandglass");
  const fs::path folder = share / "samples" / sample.folder;
  const std::string schema = (share / "sandglass.schema.json").string();
  const auto files = files_of(folder);
  if (!files) return tl::unexpected(files.error());
  const auto root = Root::open(folder.string());
  if (!root) return tl::unexpected(root.error());
  for (const fs::path& file : *files) {
    const auto read = root->read(file.string(), kLargestFile);
    if (!read) return tl::unexpected(read.error());
    std::string text = renamed(read->bytes, sample, name);
    if (const size_t at = text.find(kSchema); at != text.npos)
      text.replace(at, kSchema.size(), schema);
    if (file == "README.md") made.commands = commands_of(text);
    made.files.push_back(renamed(file.string(), sample, name));
    const fs::path to = fs::path(made.directory) / made.files.back();
    std::error_code failed;
    fs::create_directories(to.parent_path(), failed);
    if (failed) return fail_errno(failed.value(), shown(to.parent_path().string()));
    if (Status written = write_new(to.string(), text); !written) return written;
  }
  return {};
}

}  // namespace

Result<MadePlugin> new_plugin(const NewPlugin& wanted) {
  const auto sample = find_sample(wanted);
  if (!sample) return tl::unexpected(sample.error());
  if (Status named = check_name(wanted); !named) return tl::unexpected(named.error());
  MadePlugin made;
  made.directory = wanted.directory.empty() ? wanted.name : wanted.directory;
  if (::mkdir(made.directory.c_str(), 0755) < 0) {
    if (errno != EEXIST) return fail_errno(errno, "cannot make " + shown(made.directory));
    return fail(Fault::exists, shown(made.directory) +
                                   " is there already: choose another with --dir, or remove it");
  }
  if (Status filled = fill(**sample, wanted.name, made); !filled) {
    std::error_code ignored;
    fs::remove_all(made.directory, ignored);
    return tl::unexpected(filled.error());
  }
  return made;
}

}  // namespace sandglass::api
