// The shipped hook `log`, loaded as it ships, with a host that lends it content.
#include <gmock/gmock.h>

#include "instances.h"
#include "patch.h"
#include "text.h"

namespace sandglass::plugin {
namespace {

using config::Value;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Type& log_type() {
  static const Registry* registry = new Registry(
      std::vector<PluginFile>{{std::string(SANDGLASS_PLUGIN_DIR) + "/hook-log.so", {}, {}}});
  const auto type = registry->find(SG_KIND_HOOK, "log");
  if (!type) throw std::runtime_error(type.error().text);
  return **type;
}

struct HookLog : ::testing::Test {
  LogLines lines;
  sg_content content{};
  std::string patch;
  int asked = 0;
  std::shared_ptr<Instance> instance;

  HookLog() { content.state = SG_CONTENT_HERE; }

  void start(const Value& with = {}) {
    HostServices services;
    services.content = [this](sg_call*, const sg_event*, uint32_t which, sg_content* out) {
      EXPECT_EQ(which, uint32_t{SG_DIFF});
      asked++;
      const uint32_t size = out->struct_size;
      *out = content;
      out->struct_size = size;
      out->data = {reinterpret_cast<const uint8_t*>(patch.data()), patch.size()};
    };
    auto made = Instance::create(log_type(), "log", with, services);
    ASSERT_TRUE(made) << made.error().text;
    instance = *made;
  }
  void deliver(const sg_event& event) {
    Call call({});
    const auto hook = instance->methods<sg_hook>();
    const auto status =
        instance->call(call, [&](void* self) { return hook.on_event(self, call.abi(), &event); });
    EXPECT_TRUE(status) << status.error().text;
  }
  std::string line(uint32_t kind, const std::string& path, uint32_t flags = 0) {
    sg_event event = file_event(kind, path);
    event.flags = flags;
    deliver(event);
    const auto all = lines.take();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? "" : all[0];
  }
  std::string line_in(uint32_t state, uint32_t flags = 0) {
    content.state = state;
    content.flags = flags;
    return line(SG_EV_FILE_CHANGE, "src/style.c");
  }
};

const char kPatch[] =
    "diff --git a/src/style.c b/src/style.c\n--- a/src/style.c\n+++ b/src/style.c\n"
    "@@ -1,2 +1,2 @@\n int a;\n-colour\n+color\n";

TEST_F(HookLog, Changes_Logged_InColumns) {
  start();
  patch = kPatch;
  EXPECT_EQ(line(SG_EV_FILE_CHANGE, "src/style.c"), "info log change  src/style.c   +1 -1");
  patch = "--- /dev/null\n+++ b/notes.txt\n@@ -0,0 +1 @@\n+new\n";
  EXPECT_EQ(line(SG_EV_FILE_CREATE, "notes.txt"), "info log create  notes.txt     +1");
  patch = "--- a/x\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-1\n-2\n-3\n";
  EXPECT_EQ(line(SG_EV_FILE_DELETE, "x"), "info log delete  x             -3");
}

TEST_F(HookLog, Diff_Asked_FollowsTheLine) {
  Value with = Value::make_map();
  with.set("diff", Value::of(true));
  start(with);
  patch = "@@ -1 +1 @@\n-a\n+\x1b[31mb\t\\\n";
  EXPECT_EQ(line(SG_EV_FILE_CHANGE, "f"),
            "info log change  f             +1 -1\n@@ -1 +1 @@\n-a\n+\\x1b[31mb\t\\");
}

// Rule E1: a hook that reads only type and path causes no file access.
TEST_F(HookLog, StatAndDiffOff_Logged_AsksForNothing) {
  Value with = Value::make_map();
  with.set("stat", Value::of(false));
  start(with);
  EXPECT_EQ(line(SG_EV_FILE_CHANGE, "f"), "info log change  f");
  EXPECT_EQ(asked, 0);
}

TEST_F(HookLog, ContentThatIsNotShown_Logged_SaysWhyInAWord) {
  start();
  const std::string front = "info log change  src/style.c   ";
  EXPECT_EQ(line_in(SG_CONTENT_HERE, SG_CF_BINARY), front + "binary");
  EXPECT_EQ(line_in(SG_CONTENT_IGNORED), front + "ignored");
  EXPECT_EQ(line_in(SG_CONTENT_REDACTED), front + "redacted");
  EXPECT_EQ(line_in(SG_CONTENT_TOO_LARGE), front + "too large");
  EXPECT_EQ(line_in(SG_CONTENT_NO_BASELINE), front + "no baseline");
  EXPECT_EQ(line_in(SG_CONTENT_FAULT), front + "unreadable");
  EXPECT_EQ(line_in(SG_CONTENT_ABSENT), "info log change  src/style.c");
}

TEST_F(HookLog, ModeOnly_Logged_SaysMode) {
  start();
  content.state = SG_CONTENT_HERE;
  EXPECT_EQ(line(SG_EV_FILE_CHANGE, "run.sh", SG_EVF_META_ONLY),
            "info log change  run.sh        mode");
}

TEST_F(HookLog, HostileName_Logged_IsEscaped) {
  start();
  content.state = SG_CONTENT_ABSENT;
  EXPECT_EQ(line(SG_EV_FILE_CREATE, "a\x1b[2J\n\xff\xe2\x80\xae\\b"),
            "info log create  a\\x1b[2J\\n\\xff\\u202e\\\\b");
}

TEST_F(HookLog, Lifecycle_Logged_WithSandboxAndDetails) {
  start();
  const std::string box = "shop-7f3a", json = "{\"why\":\"lost\"}", empty = "{}";
  sg_event event = file_event(SG_EV_READY, "");
  event.sandbox_id = text_of(box);
  event.json = text_of(empty);
  deliver(event);
  event.kind = SG_EV_ERROR;
  event.json = text_of(json);
  deliver(event);
  event.kind = SG_EV_DESTROY;
  event.json = text_of(empty);
  deliver(event);
  EXPECT_THAT(lines.take(), ElementsAre("info log ready   shop-7f3a",
                                        "info log error   shop-7f3a   {\"why\":\"lost\"}",
                                        "info log destroy  shop-7f3a"));
  EXPECT_EQ(asked, 0);
}

TEST_F(HookLog, LevelDebug_Logged_OnlyWhenItsCategoryIsOn) {
  Value with = Value::make_map();
  with.set("level", Value::of(std::string("debug")));
  start(with);
  deliver(file_event(SG_EV_FILE_CHANGE, "f"));
  EXPECT_THAT(lines.take(), IsEmpty());
  EXPECT_EQ(asked, 0);
  log::show_categories({"log"});
  content.state = SG_CONTENT_ABSENT;
  EXPECT_EQ(line(SG_EV_FILE_CHANGE, "f"), "debug log change  f");
  log::show_categories({});
}

TEST_F(HookLog, WrongConfiguration_Created_IsRefused) {
  Value with = Value::make_map();
  with.set("diffs", placed(Value::of(true), 3));
  const auto made = Instance::create(log_type(), "log", with, {});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().text, HasSubstr("diffs"));
}

TEST(HookLogPatch, LinesLikeHeaders_Counted_AsContent) {
  const auto counted = [](const char* text) {
    return hook_log::to_text(hook_log::count_lines(text));
  };
  EXPECT_EQ(counted("--- a/f\n+++ b/f\n@@ -1,2 +1,3 @@\n+++ added\n--- removed\n same\n+more\n"),
            "+2 -1");
  EXPECT_EQ(
      counted("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n"),
      "+1 -1");
  EXPECT_EQ(counted("@@ -1,1 +1,1 @@ f\n-a\n+b\n@@ -9,2 +9,1 @@\n x\n-y\n"), "+1 -2");
  EXPECT_EQ(counted("old mode 100644\nnew mode 100755\n"), "");
  EXPECT_EQ(counted("@@ -99999999999999999999,1 +"), "");
  EXPECT_EQ(counted(""), "");
}

TEST(HookLogText, BytesThatAreNoText_Shown_AreEscaped) {
  EXPECT_EQ(hook_log::safe_line("\xc3\xa4 \xf0\x9f\x98\x80"), "\xc3\xa4 \xf0\x9f\x98\x80");
  EXPECT_EQ(hook_log::safe_line("\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80\xe2\x82"),
            "\\xc0\\xaf\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80\\xe2\\x82");
  EXPECT_EQ(hook_log::safe_line("\xc2\x9b\xef\xbb\xbf\xf3\xa0\x80\x81"),
            "\\u009b\\ufeff\\U000e0001");
  EXPECT_EQ(hook_log::safe_lines("a\r\nb\\"), "a\\r\nb\\");
  EXPECT_EQ(hook_log::width("\xc3\xa4"
                            "b"),
            2u);
}

}  // namespace
}  // namespace sandglass::plugin
