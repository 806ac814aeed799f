// `sandglass check`: what it says of the plugins that a configuration names.
#include <gmock/gmock.h>

#include <string>

#include "api/operations.h"
#include "support/temp_dir.h"

namespace sandglass::api {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::TempDir;

class CheckPlugins : public ::testing::Test {
 protected:
  std::vector<std::string> problems(const std::string& yaml) {
    dir_.write("c.yaml", "version: 1\n" + yaml);
    return check(dir_ / "c.yaml").problems;
  }
  std::string at(const std::string& place) const { return (dir_ / "c.yaml") + ":" + place + ": "; }

  TempDir dir_;
};

TEST_F(CheckPlugins, EveryUnknownName_IsSaidWithItsPlace) {
  EXPECT_THAT(problems("sandboxes:\n"
                       "  t:\n"
                       "    provider: locl\n"
                       "    fileEvents:\n"
                       "      watcher: inotfy\n"
                       "    hooks:\n"
                       "      onFile: [log, lgo]\n"
                       "      onReady: comand\n"),
              ElementsAre(HasSubstr(at("4:15") + "sandboxes.t.provider: "),
                          HasSubstr(at("6:16") + "sandboxes.t.fileEvents.watcher: "),
                          HasSubstr(at("8:21") + "sandboxes.t.hooks.onFile[1]: "),
                          HasSubstr(at("9:16") + "sandboxes.t.hooks.onReady: ")));
}

TEST_F(CheckPlugins, WrongSettings_AreSaidWithTheirPlace) {
  EXPECT_THAT(problems("sandboxes:\n"
                       "  t:\n"
                       "    provider: {use: local, with: {image: x}}\n"
                       "    fileEvents: {watcher: {use: inotify, with: {dept: 3}}}\n"
                       "    hooks:\n"
                       "      onFile: {use: command, with: {run: 3}}\n"
                       "      onDestroy: command\n"),
              ElementsAre(HasSubstr(at("4:35") + "sandboxes.t.provider.with.image: "),
                          HasSubstr(at("5:49") + "sandboxes.t.fileEvents.watcher.with.dept: "),
                          HasSubstr(at("7:42") + "sandboxes.t.hooks.onFile.with.run: "),
                          HasSubstr("sandboxes.t.hooks.onDestroy.with.run: ")));
}

TEST_F(CheckPlugins, RefusedFile_IsSaidWithItsPlace) {
  EXPECT_THAT(problems("plugins:\n  - file: ./missing.so\n"),
              ElementsAre(HasSubstr(at("3:11") + (dir_ / "missing.so"))));
}

TEST_F(CheckPlugins, FileWithTheTypeThatIsUsed_IsUsable) {
  const std::string plugins =
      std::string("plugins: [{file: ") + SANDGLASS_BAD_PLUGIN_DIR + "/trial.so}]\n";
  EXPECT_THAT(problems(plugins + "sandboxes: {t: {hooks: {onFile: trial}}}\n"), IsEmpty());
  EXPECT_THAT(problems("sandboxes: {t: {hooks: {onFile: trial}}}\n"),
              ElementsAre(HasSubstr("trial")));
}

}  // namespace
}  // namespace sandglass::api
