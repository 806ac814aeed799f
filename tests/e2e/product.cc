#include "e2e/product.h"

#include <algorithm>
#include <filesystem>
#include <ostream>

namespace sandglass::testing {

std::ostream& operator<<(std::ostream& out, const Seen& seen) {
  return out << seen.type << " " << seen.path;
}

std::vector<std::string> Ran::types_of(const std::string& path) const {
  std::vector<std::string> out;
  for (const Seen& seen : files)
    if (seen.path == path) out.push_back(seen.type);
  return out;
}

size_t Ran::count(const std::string& type, const std::string& path) const {
  return static_cast<size_t>(std::count(files.begin(), files.end(), Seen{type, path, {}}));
}

std::string unbase64(const std::string& text) {
  static const std::string digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  uint32_t bits = 0;
  int have = 0;
  for (char c : text) {
    const size_t digit = digits.find(c);
    if (digit == std::string::npos) break;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    have += 6;
    if (have < 8) continue;
    have -= 8;
    out += static_cast<char>(bits >> have & 0xff);
  }
  return out;
}

Product::Product() {
  std::filesystem::create_directories(workspace());
}

Output Product::git(const std::string& arguments) const {
  return shell(
      "export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null HOME=/nonexistent; git -c "
      "user.name=t "
      "-c user.email=t@example.invalid -c init.defaultBranch=main -c safe.directory='*' " +
          arguments,
      workspace());
}

void Product::repository(const std::string& script) const {
  ASSERT_EQ(git("init -q").code, 0);
  if (!script.empty()) sh(script);
}

void Product::commit_all() const {
  ASSERT_EQ(git("add -A").code, 0);
  const Output done = git("commit -q --allow-empty -m start");
  ASSERT_EQ(done.code, 0) << done.err;
}

void Product::sh(const std::string& script) const {
  const Output done = shell(script, workspace());
  ASSERT_EQ(done.code, 0) << script << "\n" << done.err;
}

Command Product::sandglass(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), {SANDGLASS, "--state-dir", state()});
  return Command(std::move(arguments))
      .in(workspace())
      .env("HOME", dir_ / "home")
      .env("XDG_CONFIG_HOME", dir_ / "config");
}

Ran Product::run(const std::string& script, std::vector<std::string> options) const {
  std::vector<std::string> arguments{"run", "--json"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.insert(arguments.end(), {"--", "sh", "-c", script});
  return taken_apart(sandglass(std::move(arguments)).run());
}

void Product::expect_diff_applies() const {
  const std::string patch = diff();
  if (patch.empty()) return;
  dir_.write("patch", patch);
  const Output done = git("apply --check --reverse --whitespace=nowarn " + (dir_ / "patch"));
  EXPECT_EQ(done.code, 0) << done.err << patch;
}

Ran Product::taken_apart(Output output) {
  Ran ran;
  ran.output = std::move(output);
  std::string_view rest = ran.output.out;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    ran.lines.push_back(nlohmann::json::parse(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const nlohmann::json& line = ran.lines.back();
    if (line.value("name", "") != "sandbox.file") continue;
    const nlohmann::json& value = line.at("value");
    std::string path = value.contains("path_b64") ? unbase64(value.at("path_b64"))
                                                  : value.at("path").get<std::string>();
    path.erase(0, std::string("/workspace/").size());
    ran.files.push_back({value.at("type"), std::move(path), value});
  }
  return ran;
}

}  // namespace sandglass::testing
