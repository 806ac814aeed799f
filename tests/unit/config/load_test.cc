#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "config/json_schema.h"
#include "config/schema.h"
#include "config/source.h"
#include "config/yaml.h"
#include "support.h"
#include "support/temp_dir.h"

namespace sandglass::config {

using testing::TempDir;

static Loaded load_file(const std::string& file) {
  return load(file, test_environment);
}

static const Definition& only(const Loaded& loaded) {
  static const Definition none;
  EXPECT_EQ(texts(loaded.problems), "");
  EXPECT_EQ(loaded.configuration.sandboxes.size(), 1u);
  return loaded.configuration.sandboxes.empty() ? none
                                                : loaded.configuration.sandboxes.begin()->second;
}

TEST(Load, Everything_Typed) {  // D1, D2, D3
  Loaded loaded = load_yaml(R"(
version: 1
plugins:
  - {file: ./libx.so, sha256: 9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08}
sandboxes:
  repo:
    provider: {use: docker, with: {image: "node:22"}}
    workspace: {path: src/./app//, root: /work}
    fileEvents:
      watcher: {use: poll, with: {fast: true}}
      interval: 1.5s
      ignore: [dist]
      diff: true
      required: false
    hooks:
      onDestroy: log
      onFile: [log, {use: webhook, with: {url: u}, name: hook, timeout: 2m}]
      onReady: {use: command}
debug: {sandbox: true}
)",
                            "/etc/sandglass/x.yaml");
  const Definition& d = only(loaded);
  EXPECT_EQ(d.id, "repo");
  EXPECT_EQ(d.place.text(), "/etc/sandglass/x.yaml:7:5");
  EXPECT_EQ(d.provider.name, "docker");
  EXPECT_EQ(d.provider.with.to_json(), R"({"image":"node:22"})");
  EXPECT_EQ(d.workspace, "/etc/sandglass/src/app");
  EXPECT_EQ(d.root, "/work");
  EXPECT_TRUE(d.file_events.enabled && d.file_events.diff && !d.file_events.required);
  EXPECT_EQ(d.file_events.watcher, "poll");
  EXPECT_EQ(d.file_events.watcher_with.to_json(), R"({"fast":true})");
  EXPECT_EQ(d.file_events.interval_ns, 1'500'000'000);
  EXPECT_EQ(d.file_events.ignore, std::vector<std::string>{"dist"});
  ASSERT_EQ(d.hooks.size(), 4u);
  EXPECT_EQ(d.hooks[0].point, HookPoint::file);
  EXPECT_EQ(d.hooks[0].name, "log");
  EXPECT_EQ(d.hooks[0].timeout_ns, 10'000'000'000);
  EXPECT_EQ(d.hooks[0].use.with.to_json(), "{}");
  EXPECT_EQ(d.hooks[1].name, "hook");
  EXPECT_EQ(d.hooks[1].timeout_ns, 120'000'000'000);
  EXPECT_EQ(d.hooks[1].use.place.line, 17);
  EXPECT_EQ(d.hooks[2].point, HookPoint::ready);
  EXPECT_EQ(d.hooks[3].point, HookPoint::destroy);
  EXPECT_EQ(d.json, R"({"id":"repo","provider":{"use":"docker","with":{"image":"node:22"}},)"
                    R"("workspace":{"path":"/etc/sandglass/src/app","root":"/work"}})");
  ASSERT_EQ(loaded.configuration.plugins.size(), 1u);
  EXPECT_EQ(loaded.configuration.plugins[0].path, "/etc/sandglass/libx.so");
  EXPECT_EQ(loaded.configuration.plugins[0].sha256,
            "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08");
  EXPECT_EQ(loaded.configuration.debug, std::vector<std::string>{"sandbox"});
}

TEST(Load, EmptySandbox_HasTheDefaults) {  // D2, D3
  Loaded loaded = load_yaml("version: 1\nsandboxes: {x: {}}");
  const Definition& d = only(loaded);
  EXPECT_EQ(d.provider.name, "local");
  EXPECT_EQ(d.workspace, "");
  EXPECT_EQ(d.root, "/workspace");
  EXPECT_TRUE(d.file_events.enabled && d.file_events.required && !d.file_events.diff);
  EXPECT_EQ(d.file_events.watcher, "auto");
  EXPECT_EQ(d.file_events.interval_ns, 700'000'000);
  EXPECT_EQ(d.file_events.ignore, (std::vector<std::string>{".git", "node_modules"}));
  EXPECT_TRUE(d.hooks.empty());
}

TEST(Load, FileEvents_Flag_Switches) {  // D2
  EXPECT_FALSE(
      only(load_yaml("version: 1\nsandboxes: {x: {fileEvents: false}}")).file_events.enabled);
  EXPECT_TRUE(
      only(load_yaml("version: 1\nsandboxes: {x: {fileEvents: true}}")).file_events.enabled);
}

TEST(Load, DefaultDefinition_LogsEveryFileEvent) {
  const Definition d = default_definition();
  EXPECT_EQ(d.id, "");
  EXPECT_EQ(d.provider.name, "local");
  EXPECT_EQ(d.file_events.watcher, "auto");
  ASSERT_EQ(d.hooks.size(), 1u);
  EXPECT_EQ(d.hooks[0].point, HookPoint::file);
  EXPECT_EQ(d.hooks[0].use.name, "log");
  EXPECT_EQ(
      d.json,
      R"({"id":"","provider":{"use":"local","with":{}},"workspace":{"path":"","root":"/workspace"}})");
}

TEST(Load, Debug_AllOrSome_IsAList) {  // G1
  auto debug = [](const std::string& text) {
    return load_yaml("version: 1\ndebug: " + text).configuration.debug;
  };
  EXPECT_EQ(debug("true"), std::vector<std::string>{"all"});
  EXPECT_EQ(debug("false"), std::vector<std::string>{});
  EXPECT_EQ(debug("{watch: true, errors: true}"), std::vector<std::string>{"watch"});
}

TEST(Load, Json_HooksAndWatching_AreNotIdentity) {  // L4
  const std::string plain = only(load_yaml("version: 1\nsandboxes: {x: {}}")).json;
  EXPECT_EQ(
      only(load_yaml("version: 1\nsandboxes: {x: {hooks: {onFile: log}, fileEvents: false}}")).json,
      plain);
  EXPECT_NE(only(load_yaml("version: 1\nsandboxes: {x: {provider: docker}}")).json, plain);
}

TEST(Load, Variables_AllForms_AreFilledIn) {  // D6
  Loaded loaded = load_yaml(R"(version: 1
sandboxes:
  x:
    provider: ${PROVIDER}
    workspace: {path: "${HOME}/src"}
    fileEvents: {interval: "${INTERVAL}", diff: "${UNSET:-}"}
)");
  EXPECT_EQ(texts(loaded.problems),
            "sandglass.yaml:6:49: sandboxes.x.fileEvents.diff: \"${UNSET:-}\" with its variables "
            "filled in is text; write true or false\n");
  loaded = load_yaml(R"(version: 1
sandboxes:
  x:
    provider: {use: "${PROVIDER}", with: {a: "$$HOME $5 $${X} $", b: "${EMPTY:-d} ${UNSET:-}!", c: "${EMPTY}"}}
    workspace: {path: "${HOME}/src"}
    fileEvents:
      diff: ${ON}
      interval: ${INTERVAL:-1s}
)");
  const Definition& d = only(loaded);
  EXPECT_EQ(d.provider.name, "docker");
  EXPECT_EQ(d.provider.with.to_json(), R"({"a":"$HOME $5 ${X} $","b":"d !","c":""})");
  EXPECT_EQ(d.workspace, "/home/user/src");
  EXPECT_TRUE(d.file_events.diff);
  EXPECT_EQ(d.file_events.interval_ns, 250'000'000);
}

TEST(Load, Variables_StructureInside_StaysText) {  // D6
  Loaded loaded =
      load_yaml("version: 1\nsandboxes: {x: {provider: {use: l, with: {a: \"${STRUCTURE}\"}}}}");
  EXPECT_EQ(only(loaded).provider.with.find("a")->string, "a: [1, {b: 2}]\nc: d");
  loaded = load_yaml(
      "version: 1\nsandboxes:\n  x:\n    provider:\n      use: l\n      with:\n        a: "
      "${STRUCTURE}\n");
  EXPECT_EQ(only(loaded).provider.with.find("a")->kind, Kind::string);
}

TEST(Load, Variables_Unquoted_AreTypedAndQuotedAreText) {
  Loaded loaded = load_yaml(
      "version: 1\nsandboxes:\n  x:\n    provider:\n      use: l\n      with:\n        a: ${ON}\n"
      "        b: \"${ON}\"\n        c: ${UNSET:-12}\n        d: ${UNSET:-null}\n");
  EXPECT_EQ(only(loaded).provider.with.to_json(), R"({"a":true,"b":"true","c":12,"d":"null"})");
}

TEST(Load, Variables_NotUtf8_IsTold) {
  EXPECT_EQ(
      texts(load_yaml("version: 1\nsandboxes: {x: {provider: \"${NOT_UTF8}\"}}").problems),
      "sandglass.yaml:2:27: sandboxes.x.provider: ${NOT_UTF8} holds bytes that are not UTF-8\n");
}

TEST(Load, Variables_Expanded_AreNeverShown) {  // a message is no place for a secret
  Loaded loaded = load_yaml(
      "version: 1\nsandboxes:\n  x:\n    provider: \"${SECRET} \"\n    workspace: \"${SECRET}\"\n"
      "    fileEvents: {interval: \"${SECRET}\", diff: \"${SECRET}\", ignore: \"${SECRET}\"}\n");
  EXPECT_EQ(loaded.problems.size(), 5u);
  EXPECT_EQ(texts(loaded.problems).find("hunter2"), std::string::npos);
}

TEST(Load, File_MissingDirectoryUnreadable_EachSaySo) {  // Y4
  TempDir dir;
  EXPECT_EQ(texts(load_file(dir / "no.yaml").problems),
            (dir / "no.yaml") + ": there is no such file; check the name\n");
  EXPECT_EQ(texts(load_file(dir.path()).problems),
            dir.path() + ": is a directory; name a file in it\n");
  dir.write("x", "");
  EXPECT_EQ(texts(load_file(dir / "x/y").problems),
            (dir / "x/y") + ": a part of this path is not a directory\n");
  ASSERT_EQ(::mkfifo((dir / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(texts(load_file(dir / "fifo").problems),
            (dir / "fifo") + ": is not a regular file; name a YAML file\n");
  dir.write("big.yaml", std::string((1 << 20) + 1, '#'));
  EXPECT_EQ(texts(load_file(dir / "big.yaml").problems),
            (dir / "big.yaml") + ": is larger than 1 MiB; a configuration file is not\n");
  EXPECT_EQ(texts(load_file("").problems), "\"\" is not a file name\n");
}

TEST(Load, File_Unreadable_SaysPermission) {  // Y4
  if (::geteuid() == 0) {
    // Root reads everything; another user's view needs a child of its own.
    TempDir dir;
    dir.write("x.yaml", "version: 1\n");
    ::chmod((dir / "x.yaml").c_str(), 0);
    ::chmod(dir.path().c_str(), 0755);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const bool dropped = ::setuid(65534) == 0;
      const std::string text = texts(load_file(dir / "x.yaml").problems);
      const bool told = text.find("permission denied; check the owner and mode") != text.npos;
      ::_exit(dropped && told ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    return;
  }
  TempDir dir;
  dir.write("x.yaml", "version: 1\n");
  ::chmod((dir / "x.yaml").c_str(), 0);
  EXPECT_NE(texts(load_file(dir / "x.yaml").problems).find("permission denied"), std::string::npos);
}

TEST(Load, Include_Relative_IsBelowItsOwnFile) {  // D6
  TempDir dir;
  dir.write(
      "main.yaml",
      "version: 1\ninclude: [sub/a.yaml, sub/b.yaml]\nsandboxes: {m: {workspace: {path: w}}}\n");
  dir.write("sub/a.yaml",
            "version: 1\ninclude: [b.yaml]\nsandboxes: {a: {workspace: {path: w}}}\nplugins: "
            "[{file: p.so}]\n");
  dir.write("sub/b.yaml", "version: 1\nsandboxes: {b: {workspace: {path: ../w}}}\ndebug: true\n");
  dir.write("off.yaml", "version: 1\ninclude: [sub/b.yaml]\ndebug: {watch: false}\n");
  Loaded loaded = load_file(dir / "main.yaml");
  EXPECT_EQ(texts(loaded.problems), "");
  auto& boxes = loaded.configuration.sandboxes;
  EXPECT_EQ(boxes.at("m").workspace, dir / "w");
  EXPECT_EQ(boxes.at("a").workspace, dir / "sub/w");
  EXPECT_EQ(boxes.at("b").workspace, dir / "sub/../w");  // what .. means depends on links
  EXPECT_EQ(loaded.configuration.plugins.at(0).path, dir / "sub/p.so");
  EXPECT_EQ(loaded.configuration.debug, std::vector<std::string>{"all"});
  EXPECT_EQ(load_file(dir / "off.yaml").configuration.debug,
            (std::vector<std::string>{"plugin", "sandbox"}));
}

TEST(Load, Include_SameIdTwice_NamesBoth) {  // D6
  TempDir dir;
  dir.write("main.yaml",
            "version: 1\ninclude: [a.yaml]\nsandboxes:\n  x: {}\nplugins: [{file: p.so}]\n");
  dir.write("a.yaml", "version: 1\nsandboxes:\n  # one\n  x: {}\nplugins: [{file: ./p.so}]\n");
  EXPECT_EQ(texts(load_file(dir / "main.yaml").problems),
            (dir / "main.yaml") + ":4:3: sandboxes.x: is defined twice, first at " +
                (dir / "a.yaml") + ":4:3; rename or remove one\n" + (dir / "main.yaml") +
                ":5:18: plugins[0]: is listed twice, first at " + (dir / "a.yaml") +
                ":5:18; remove one\n");
}

TEST(Load, Include_Circle_IsNamed) {  // D6
  TempDir dir;
  dir.write("a.yaml", "version: 1\ninclude: [b.yaml]\n");
  dir.write("b.yaml", "version: 1\ninclude: [./a.yaml]\n");
  const std::string a = dir / "a.yaml", b = dir / "b.yaml";
  EXPECT_EQ(texts(load_file(a).problems), b + ":2:11: include[0]: includes go in a circle: " + a +
                                              " -> " + b + " -> " + dir.path() + "/./a.yaml\n");
}

TEST(Load, Include_Depth8_IsTheLimit) {  // D6
  TempDir dir;
  for (int i = 0; i < 10; i++)
    dir.write(std::to_string(i) + ".yaml",
              "version: 1\ninclude: [" + std::to_string(i + 1) + ".yaml]\n");
  dir.write("10.yaml", "version: 1\n");
  EXPECT_EQ(texts(load_file(dir / "2.yaml").problems), "");
  EXPECT_NE(texts(load_file(dir / "1.yaml").problems)
                .find("9.yaml:2:11: include[0]: files include each "
                      "other deeper than 8 levels: "),
            std::string::npos);
}

TEST(Load, Include_Faults_AreAllTold) {
  TempDir dir;
  dir.write("main.yaml", "version: 1\ninclude: [no.yaml, bad.yaml, .]\nx: 1\n");
  dir.write("bad.yaml", "version: 1\ny: 1\n");
  const std::string at = dir.path() + "/";
  EXPECT_EQ(texts(load_file(at + "main.yaml").problems),
            at +
                "main.yaml:3:1: x: unknown key; write version, include, plugins, sandboxes, "
                "retention or debug\n" +
                at + "main.yaml:2:11: include[0]: " + at +
                "no.yaml: there is no such file; check the name\n" + at +
                "bad.yaml:2:1: y: unknown key; write version, include, plugins, sandboxes, "
                "retention or debug\n" +
                at + "main.yaml:2:30: include[2]: " + at +
                ".: is a directory; name a file in it\n");
}

TEST(Load, Problems_Thousands_AreCounted) {
  std::string text = "version: 1\nsandboxes:\n";
  for (int i = 0; i < 500; i++) text += "  x" + std::to_string(i) + ": {p: 1}\n";
  Loaded loaded = load_yaml(text);
  EXPECT_EQ(loaded.problems.size(), 101u);
  EXPECT_EQ(loaded.problems.back().text, "and 400 more mistakes");
}

TEST(Load, DefaultFiles_Existing_AreListed) {  // D7
  TempDir dir;
  dir.write("sandglass/sandglass.yaml", "version: 1\n");
  ::setenv("XDG_CONFIG_HOME", dir.path().c_str(), 1);
  auto files = default_files();
  ASSERT_FALSE(files.empty());
  EXPECT_EQ(files[0], dir / "sandglass/sandglass.yaml");
  ::setenv("XDG_CONFIG_HOME", "relative", 1);  // to be ignored, says the specification
  dir.write(".config/sandglass/sandglass.yaml", "version: 1\n");
  ::setenv("HOME", dir.path().c_str(), 1);
  ASSERT_FALSE(default_files().empty());
  EXPECT_EQ(default_files()[0], dir / ".config/sandglass/sandglass.yaml");
}

TEST(Load, ShippedExample_Loads) {
  Loaded loaded = load(std::string(SANDGLASS_CONFIGS_DIR) + "/sandglass.yaml", test_environment);
  EXPECT_EQ(texts(loaded.problems), "");
  EXPECT_EQ(loaded.configuration.sandboxes.size(), 4u);
  EXPECT_TRUE(loaded.configuration.sandboxes.at("scratch").file_events.required);
  EXPECT_EQ(loaded.configuration.sandboxes.at("scratch").workspace, "/tmp");
}

TEST(Schema, JsonSchema_SaysWhatTheCheckSays) {
  // What loads must fit the printed schema, what does not must fail it.
  auto fits = [](const std::string& text) {
    auto source = Source::of(text, "t.yaml");
    return check_against_json_schema(parse_yaml(*source).root, json_schema(), "").empty();
  };
  auto example = read_config_file(std::string(SANDGLASS_CONFIGS_DIR) + "/sandglass.yaml");
  ASSERT_TRUE(example);
  EXPECT_TRUE(fits(example->bytes));
  for (const char* good :
       {"{}", "{x: {provider: {use: a, with: {b: 1}}}}", "{x: {fileEvents: false}}",
        "{x: {fileEvents: {interval: 1.5 s}}}", "{x: {hooks: {onFile: [a, {use: b}]}}}"}) {
    const std::string text = std::string("version: 1\nsandboxes: ") + good;
    EXPECT_TRUE(fits(text) && load_yaml(text).problems.empty()) << good;
  }
  for (const char* bad :
       {"[]", "{X: {}}", "{x: {provider: {with: {}}}}", "{x: {provider: 1}}",
        "{x: {fileEvents: {interval: 5}}}", "{x: {fileEvents: {interval: 5 sec}}}",
        "{x: {fileEvents: {diff: yes}}}", "{x: {hook: {}}}", "{x: null}",
        "{x: {hooks: {onFile: [[a]]}}}", "{x: {workspace: {root: a}}}"}) {
    const std::string text = std::string("version: 1\nsandboxes: ") + bad;
    EXPECT_FALSE(fits(text)) << bad;
    EXPECT_FALSE(load_yaml(text).problems.empty()) << bad;
  }
  EXPECT_TRUE(
      fits("version: 1\nsandboxes: {x: {fileEvents: {diff: \"${X}\", interval: \"${Y}\"}}}"));
  EXPECT_FALSE(fits("version: 2"));
  EXPECT_FALSE(fits("sandboxes: {}"));
  EXPECT_FALSE(fits("version: 1\ndebug: {errors: false}"));
}

TEST(Schema, DurationText_LargestUnit_IsTaken) {
  EXPECT_EQ(duration_text(0), "0s");
  EXPECT_EQ(duration_text(700'000'000), "700ms");
  EXPECT_EQ(duration_text(90'000'000'000), "90s");
  EXPECT_EQ(duration_text(3'600'000'000'000), "1h");
}

}  // namespace sandglass::config
