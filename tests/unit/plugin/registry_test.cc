// Cases P1, P2, P4, P5, P6 with real plugins.
#include "plugin/registry.h"

#include <gmock/gmock.h>
#include <sandglass/plugin.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/hash.h"
#include "files.h"
#include "plugin/abi.h"
#include "support/logged.h"
#include "support/temp_dir.h"

namespace sandglass::plugin {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Registry load(const std::vector<std::string>& names) {
  std::vector<PluginFile> files;
  for (const std::string& name : names) files.push_back({bad_plugin(name), {}, {}});
  return Registry(std::move(files));
}

const Looked& looked_at(const Registry& registry, const std::string& file) {
  for (const Looked& looked : registry.looked())
    if (looked.file == file) return looked;
  ADD_FAILURE() << file << " was not looked at";
  static const Looked none;
  return none;
}

// Why one plugin is refused, once it is certain that its file is named.
std::string refusal(const std::string& name) {
  const Registry registry = load({name});
  const Looked& looked = looked_at(registry, bad_plugin(name));
  EXPECT_FALSE(looked.loaded);
  EXPECT_TRUE(looked.types.empty());
  EXPECT_THAT(looked.sentence, HasSubstr(bad_plugin(name) + ": "));
  return looked.sentence;
}

uint64_t interests_of(const Registry& registry, const char* name) {
  const auto type = registry.find(SG_KIND_HOOK, name);
  if (!type) {
    ADD_FAILURE() << type.error().text;
    return 0;
  }
  return adopt<sg_hook>((*type)->abi->methods).interests(nullptr);
}

TEST(Registry, EachFile_IsALineOfThePluginCategory) {  // G1
  const testing::Logged logged;
  load({"good", "no_symbol"});
  EXPECT_EQ(logged.count("plugin: loaded " + bad_plugin("good") + ": "), 1u);
  EXPECT_EQ(logged.count("plugin: refused " + bad_plugin("no_symbol") + ": "), 1u);
}

TEST(Registry, GoodPlugin_Loaded_OffersItsType) {
  const Registry registry = load({"good"});
  const Looked& looked = looked_at(registry, bad_plugin("good"));
  ASSERT_TRUE(looked.loaded) << looked.sentence;
  EXPECT_THAT(looked.types, ElementsAre("hook good"));
  EXPECT_EQ(looked.plugin_id, "test.good");
  EXPECT_EQ(looked.plugin_version, "1.0.0");
  const auto type = registry.find(SG_KIND_HOOK, "good");
  ASSERT_TRUE(type) << type.error().text;
  EXPECT_EQ((*type)->summary, "Does nothing");
  EXPECT_EQ((*type)->file, bad_plugin("good"));
}

// Case P1.
TEST(Registry, MissingSymbol_Loaded_NamesPluginAndSymbol) {
  const Registry registry = load({"missing_symbol", "good"});
  const Looked& looked = looked_at(registry, bad_plugin("missing_symbol"));
  EXPECT_FALSE(looked.loaded);
  EXPECT_THAT(looked.sentence, AllOf(HasSubstr(bad_plugin("missing_symbol")),
                                     HasSubstr("'not_to_be_found_anywhere'")));
  EXPECT_TRUE(looked_at(registry, bad_plugin("good")).loaded) << "others go on";
}

// Case P2.
TEST(Registry, SameHelperInTwoPlugins_Called_EachItsOwn) {
  const Registry registry = load({"twin_a", "twin_b"});
  EXPECT_EQ(interests_of(registry, "twin-a"), 1u);
  EXPECT_EQ(interests_of(registry, "twin-b"), 2u);
}

// Case P2.
TEST(Registry, SameTypeInTwoPlugins_Loaded_SecondIsRefusedWithBothPaths) {
  const Registry registry = load({"good", "same_name"});
  EXPECT_TRUE(looked_at(registry, bad_plugin("good")).loaded);
  const Looked& second = looked_at(registry, bad_plugin("same_name"));
  EXPECT_FALSE(second.loaded);
  EXPECT_THAT(second.sentence, AllOf(HasSubstr(bad_plugin("good")),
                                     HasSubstr(bad_plugin("same_name")), HasSubstr("hook good")));
  EXPECT_EQ((*registry.find(SG_KIND_HOOK, "good"))->file, bad_plugin("good"));
}

// Case P4.
TEST(Registry, NewerMajor_Loaded_IsRefusedBeforeItsCodeRuns) {
  ::unsetenv("SANDGLASS_TEST_CODE_RAN");
  EXPECT_THAT(refusal("newer_major"),
              AllOf(HasSubstr("plugin ABI 2"), HasSubstr("this host has 1")));
  EXPECT_EQ(std::getenv("SANDGLASS_TEST_CODE_RAN"), nullptr);
}

// Case P4.
TEST(Registry, NewerTableOrMinor_Loaded_IsRefusedWithBothNumbers) {
  EXPECT_THAT(refusal("newer_table"), AllOf(HasSubstr("ABI 3"), HasSubstr("this host has 1")));
  EXPECT_THAT(refusal("newer_minor"), AllOf(HasSubstr("ABI 1.7"), HasSubstr("this host has 1.0")));
}

// Case P4: struct_size lets an older plugin run on a newer host.
TEST(Registry, OlderTable_Loaded_MissingSlotsAreNull) {
  const Registry registry = load({"older_hook"});
  const auto type = registry.find(SG_KIND_HOOK, "older-hook");
  ASSERT_TRUE(type) << type.error().text;
  const auto hook = adopt<sg_hook>((*type)->abi->methods);
  EXPECT_NE(hook.on_event, nullptr);
  EXPECT_EQ(hook.on_batch, nullptr);
  EXPECT_EQ(hook.flush, nullptr);
}

// Case P5.
TEST(Registry, MissingLibrary_Loaded_NamesPluginAndLibrary) {
  EXPECT_THAT(
      refusal("missing_library"),
      AllOf(HasSubstr("needs the library libsandglass-test-gone.so"), HasSubstr("is not found")));
}

// Case P5: told apart from a plugin that is not there.
TEST(Registry, MissingPlugin_Loaded_SaysSo) {
  EXPECT_THAT(refusal("not_there"),
              AllOf(HasSubstr("cannot be opened"), HasSubstr("No such file")));
}

TEST(Registry, NoPluginAtAll_Loaded_IsRefused) {
  EXPECT_THAT(refusal("no_symbol"), HasSubstr("exports no sg_plugin_v1"));
  EXPECT_THAT(refusal("function_symbol"), HasSubstr("as a function"));
  EXPECT_THAT(refusal("newer_kind"), HasSubstr("sandglass.sink/1"));
}

// Case P7: null slots.
TEST(Registry, HalfFilledTable_Loaded_SaysWhatIsMissing) {
  EXPECT_THAT(refusal("half_filled"), HasSubstr("hook 'half-filled' has no on_event()"));
}

TEST(Registry, ForeignMachine_Loaded_IsRefused) {
  const testing::TempDir dir;
  std::string bytes = bytes_of(bad_plugin("good"));
  bytes[18] = 22;  // e_machine: IBM Z
  bytes[19] = 0;
  dir.write("foreign.so", bytes);
  const Registry registry({{dir / "foreign.so", {}, {}}});
  EXPECT_THAT(looked_at(registry, dir / "foreign.so").sentence, HasSubstr("is built for IBM Z"));
}

TEST(Registry, CutFile_Loaded_IsRefused) {
  const testing::TempDir dir;
  const std::string bytes = bytes_of(bad_plugin("good"));
  dir.write("cut.so", bytes.substr(0, bytes.size() / 2));
  const Registry registry({{dir / "cut.so", {}, {}}});
  EXPECT_THAT(looked_at(registry, dir / "cut.so").sentence, HasSubstr("is cut short"));
}

TEST(Registry, PrintingConstructor_Loaded_IsOnlyAPlugin) {
  ::testing::internal::CaptureStdout();
  const Registry registry = load({"prints"});
  std::fflush(stdout);
  const std::string printed = ::testing::internal::GetCapturedStdout();
  EXPECT_TRUE(looked_at(registry, bad_plugin("prints")).loaded);
  EXPECT_EQ(printed, "hello from a constructor\n");  // where fd 1 leads is the program's business
}

TEST(Registry, Pin_Loaded_IsHeldTo) {
  const std::string right = sha256_hex(bytes_of(bad_plugin("good")));
  const Registry held({{bad_plugin("good"), right, "sandglass.yaml:3:5"}});
  EXPECT_TRUE(looked_at(held, bad_plugin("good")).loaded);
  const Registry refused({{bad_plugin("good"), sha256_hex("other"), "sandglass.yaml:3:5"}});
  EXPECT_THAT(looked_at(refused, bad_plugin("good")).sentence,
              AllOf(HasSubstr("sandglass.yaml:3:5: "), HasSubstr(right)));
}

TEST(Registry, WritableByOthers_Loaded_IsRefused) {
  const testing::TempDir dir;
  dir.write("p.so", bytes_of(bad_plugin("good")));
  ASSERT_EQ(::chmod((dir / "p.so").c_str(), 0777), 0);
  const Registry registry({{dir / "p.so", {}, {}}});
  EXPECT_THAT(looked_at(registry, dir / "p.so").sentence, HasSubstr("chmod go-w"));
}

class PluginPath : public ::testing::Test {
 protected:
  void set(const std::string& value) { ::setenv("SANDGLASS_PLUGIN_PATH", value.c_str(), 1); }
  void TearDown() override { ::unsetenv("SANDGLASS_PLUGIN_PATH"); }
};

TEST_F(PluginPath, TwoFolders_Read_InOrderAndByName) {
  const testing::TempDir one, two;
  std::filesystem::copy_file(bad_plugin("twin_b"), one / "2.so");
  std::filesystem::copy_file(bad_plugin("twin_a"), one / "1.so");
  std::filesystem::copy_file(bad_plugin("same_name"), two / "0.so");
  one.write("notes.txt", "no plugin");
  set(one.path() + "::" + two.path());
  const Registry registry = load({"good"});
  ASSERT_GE(registry.looked().size(), 4u);
  EXPECT_EQ(registry.looked()[0].file, bad_plugin("good"));
  EXPECT_EQ(registry.looked()[1].file, one / "1.so");
  EXPECT_EQ(registry.looked()[2].file, one / "2.so");
  EXPECT_EQ(registry.looked()[3].file, two / "0.so");
  EXPECT_FALSE(registry.looked()[3].loaded);
}

TEST_F(PluginPath, SameFileTwice_Read_IsLookedAtOnce) {
  const testing::TempDir dir;
  ASSERT_EQ(::symlink(bad_plugin("good").c_str(), (dir / "again.so").c_str()), 0);
  set(dir.path());
  const Registry registry = load({"good"});
  for (const Looked& looked : registry.looked()) EXPECT_NE(looked.file, dir / "again.so");
}

TEST_F(PluginPath, FolderThatIsNotThere_Read_IsSaid) {
  set("/no/such/folder");
  const Registry registry;
  EXPECT_THAT(looked_at(registry, "/no/such/folder").sentence,
              AllOf(HasSubstr("SANDGLASS_PLUGIN_PATH"), HasSubstr("No such file")));
}

TEST(Registry, ShippedFolder_BesideTheProgram_IsRead) {
  const Registry registry;
  const auto log = registry.find(SG_KIND_HOOK, "log");
  ASSERT_TRUE(log) << log.error().text;
  EXPECT_EQ((*log)->file, std::string(SANDGLASS_PLUGIN_DIR) + "/hook-log.so");
}

TEST(Registry, UnknownName_Sought_SaysWhatThereIs) {
  const Registry registry = load({"good", "half_filled", "no_symbol"});
  const auto none = registry.find(SG_KIND_HOOK, "god");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().fault, Fault::plugin);
  EXPECT_THAT(none.error().text, AllOf(HasSubstr("no hook 'god'"), HasSubstr("did you mean 'good'"),
                                       HasSubstr("There is: good"), HasSubstr("2 other files")));
  const auto half = registry.find(SG_KIND_HOOK, "half_filled");
  ASSERT_FALSE(half);
  EXPECT_THAT(half.error().text, AllOf(HasSubstr("has no on_event()"), HasSubstr("1 other file,")));
  EXPECT_THAT(registry.find(SG_KIND_PROVIDER, "good").error().text, HasSubstr("provider 'good'"));
}

// Case P6: never unmapped, so what it left behind may run after the registry is gone.
TEST(Registry, LingeringPlugin_ThreadAndRegistryEnd_DoesNotCrash) {
  std::thread([] {
    const Registry registry = load({"lingering"});
    const auto type = registry.find(SG_KIND_HOOK, "lingering");
    ASSERT_TRUE(type) << type.error().text;
    const sg_type& abi = *(*type)->abi;
    void* self = nullptr;
    ASSERT_EQ(abi.create(nullptr, nullptr, nullptr, &self), SG_OK);
    EXPECT_EQ(adopt<sg_hook>(abi.methods).on_event(self, nullptr, nullptr), SG_OK);
    abi.destroy(self);
  }).join();
}

TEST(Registry, ShippedPlugin_LoadedAgainAndAgain_IsThere_AndItsTimeIsRecorded) {
  const auto once = [] {
    const testing::TempDir dir;  // another file each time: a mapped one costs nothing
    std::filesystem::copy_file(std::string(SANDGLASS_PLUGIN_DIR) + "/hook-log.so", dir / "log.so");
    const auto start = std::chrono::steady_clock::now();
    const Registry registry({{dir / "log.so", {}, {}}});
    EXPECT_TRUE(registry.find(SG_KIND_HOOK, "log"));
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
        .count();
  };
  double best = once();
  for (int i = 0; i < 20; i++) best = std::min(best, once());
  std::printf("look, load and adopt: %.0f us\n", best);
  RecordProperty("load_us", std::to_string(best));
}

}  // namespace
}  // namespace sandglass::plugin
