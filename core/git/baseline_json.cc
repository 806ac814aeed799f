#include <array>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "git/content.h"

namespace sandglass::git {

namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 4> kKinds = {"none", "no_commit", "commit", "unsupported"};

// Paths and patterns are bytes: what is no UTF-8 is written as {"hex": "..."}.
void write_bytes(JsonWriter& w, std::string_view bytes) {
  if (is_utf8(bytes))
    w.value(bytes);
  else
    w.open('{').key("hex").value(hex(bytes)).close('}');
}

void write_list(JsonWriter& w, const std::vector<std::string>& list) {
  w.open('[');
  for (const std::string& text : list) write_bytes(w, text);
  w.close(']');
}

std::string read_bytes(const Json& value) {
  if (!value.is_object()) return value.get<std::string>();
  const auto text = value.at("hex").get<std::string>();
  std::string out;
  for (size_t i = 0; i + 1 < text.size(); i += 2)
    out += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  return out;
}

std::vector<std::string> read_list(const Json& value) {
  std::vector<std::string> out;
  for (const Json& item : value) out.push_back(read_bytes(item));
  return out;
}

BaselineKind read_kind(const std::string& name) {
  for (size_t i = 0; i < kKinds.size(); i++)
    if (kKinds[i] == name) return static_cast<BaselineKind>(i);
  throw std::invalid_argument("unknown kind");
}

}  // namespace

std::string Baseline::to_json() const {
  JsonWriter w;
  w.open('{').key("kind").value(kKinds[static_cast<size_t>(kind)]);
  w.key("commit").value(commit).key("branch");
  write_bytes(w, branch);
  w.key("objects");
  write_bytes(w, objects);
  w.key("alternates");
  write_list(w, alternates);
  w.key("prefix");
  write_bytes(w, prefix);
  w.key("note").value(note).key("ignore_lines");
  write_list(w, ignore_lines);
  w.key("ignore_files").open('[');
  for (const IgnoreAbove& file : ignore_files) {
    w.open('{').key("directory");
    write_bytes(w, file.directory);
    w.key("lines");
    write_list(w, file.lines);
    w.close('}');
  }
  w.close(']');
  w.key("tree").value(tree).key("snapshot").value(snapshot).key("nested").open('[');
  for (const Nested& one : nested) {
    w.open('{').key("path");
    write_bytes(w, one.path);
    w.key("commit").value(one.commit).key("tree").value(one.tree).key("objects");
    write_bytes(w, one.objects);
    w.key("alternates");
    write_list(w, one.alternates);
    w.close('}');
  }
  w.close(']');
  w.key("line_settings").open('{').key("autocrlf");
  write_bytes(w, line_settings.autocrlf);
  w.key("eol");
  write_bytes(w, line_settings.eol);
  w.key("attributes");
  write_bytes(w, line_settings.attributes);
  w.close('}').key("lfs_store");
  write_bytes(w, lfs_store);
  return w.close('}').take();
}

Result<Baseline> Baseline::from_json(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    Baseline out;
    out.kind = read_kind(json.at("kind").get<std::string>());
    out.commit = json.at("commit").get<std::string>();
    out.branch = read_bytes(json.at("branch"));
    out.objects = read_bytes(json.at("objects"));
    out.alternates = read_list(json.at("alternates"));
    out.prefix = read_bytes(json.at("prefix"));
    out.note = json.at("note").get<std::string>();
    out.ignore_lines = read_list(json.at("ignore_lines"));
    for (const Json& file : json.at("ignore_files"))
      out.ignore_files.push_back({read_bytes(file.at("directory")), read_list(file.at("lines"))});
    out.tree = json.value("tree", "");
    out.snapshot = json.value("snapshot", false);
    for (const Json& one : json.value("nested", Json::array()))
      out.nested.push_back({read_bytes(one.at("path")), one.at("commit").get<std::string>(),
                            one.at("tree").get<std::string>(), read_bytes(one.at("objects")),
                            read_list(one.at("alternates"))});
    if (json.contains("line_settings")) {  // not in older records
      const Json& settings = json.at("line_settings");
      out.line_settings = {read_bytes(settings.at("autocrlf")), read_bytes(settings.at("eol")),
                           read_bytes(settings.at("attributes"))};
      out.lfs_store = read_bytes(json.at("lfs_store"));
    }
    return out;
  } catch (const std::exception& error) {
    return fail(Fault::corrupt, "the stored baseline cannot be read: " + shown(error.what()) +
                                    "; remove the sandbox and let it be made again");
  }
}

}  // namespace sandglass::git
