// Tables that are wrong in memory; those that are wrong in files are in registry_test.cc.
#include "plugin/abi.h"

#include <gmock/gmock.h>

namespace sandglass::plugin {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

uint64_t interests(void*) {
  return 0;
}
sg_status on_event(void*, sg_call*, const sg_event*) {
  return SG_OK;
}
sg_status create(const sg_host*, sg_call*, const sg_config*, void**) {
  return SG_OK;
}
void destroy(void*) {}

// A valid plugin to break.
struct Tables {
  sg_hook hook{sizeof(sg_hook), 0, interests, on_event, nullptr, nullptr};
  sg_type type{sizeof(sg_type), 0,     SG_KIND_HOOK, "h",     "Hooks",
               nullptr,         &hook, create,       destroy, nullptr};
  const sg_type* list[3] = {&type, nullptr, nullptr};
  sg_plugin plugin{sizeof(sg_plugin), SG_ABI_MAJOR, SG_ABI_MINOR, 0, "test.h", "1",
                   nullptr,           nullptr,      list};

  std::string refusal() const {
    const auto table = read_table(&plugin);
    return table ? "accepted" : table.error().text;
  }
};

TEST(Abi, ValidTable_Read_IsAccepted) {
  Tables t;
  const auto table = read_table(&t.plugin);
  ASSERT_TRUE(table) << table.error().text;
  EXPECT_EQ(table->id, "test.h");
  ASSERT_EQ(table->types.size(), 1u);
  EXPECT_STREQ(table->types[0].name, "h");
}

TEST(Abi, InterfaceIds_Frozen_StayAsReleased) {
  EXPECT_STREQ(SG_KIND_HOOK, "sandglass.hook/1");
  EXPECT_STREQ(SG_KIND_WATCHER, "sandglass.watcher/1");
  EXPECT_STREQ(SG_KIND_PROVIDER, "sandglass.provider/1");
  EXPECT_STREQ(SG_SERVICE_EVENT, "sandglass.event/1");
  EXPECT_STREQ(SG_SERVICE_SANDBOX, "sandglass.sandbox/1");
  EXPECT_STREQ(SG_SERVICE_PROCESS, "sandglass.process/1");
}

TEST(Abi, OtherMajor_Read_NamesBothNumbers) {
  Tables t;
  t.plugin.abi_major = 3;
  EXPECT_THAT(t.refusal(), AllOf(HasSubstr("plugin ABI 3"), HasSubstr("this host has 1")));
}

// Case P4.
TEST(Abi, NewerMinorNeeded_Read_NamesBothNumbers) {
  Tables t;
  t.plugin.abi_minor_needed = 7;
  EXPECT_THAT(t.refusal(), AllOf(HasSubstr("ABI 1.7"), HasSubstr("this host has 1.0")));
}

TEST(Abi, NewerMinorCompiled_Read_IsAccepted) {
  Tables t;
  t.plugin.abi_minor = 9;
  EXPECT_EQ(t.refusal(), "accepted");
}

TEST(Abi, SizesThatCannotBe_Read_AreRefused) {
  for (uint32_t size : {0u, 4u, 55u, 0x10001u, 0xffffffffu}) {
    Tables t;
    t.plugin.struct_size = size;
    EXPECT_THAT(t.refusal(), HasSubstr("says it has " + std::to_string(size) + " bytes"));
  }
  Tables t;
  t.type.struct_size = 8;
  EXPECT_THAT(t.refusal(), AllOf(HasSubstr("its type 1"), HasSubstr("8 bytes")));
  Tables methods;
  methods.hook.struct_size = 0;
  EXPECT_THAT(methods.refusal(), HasSubstr("the methods of its hook 'h'"));
}

TEST(Abi, MissingParts_Read_SaysWhich) {
  const auto without = [](auto&& take) {
    Tables t;
    take(t);
    return t.refusal();
  };
  EXPECT_THAT(without([](Tables& t) { t.plugin.id = nullptr; }), HasSubstr("no id"));
  EXPECT_THAT(without([](Tables& t) { t.plugin.types = nullptr; }), HasSubstr("no list of types"));
  EXPECT_THAT(without([](Tables& t) { t.list[0] = nullptr; }), HasSubstr("its list is empty"));
  EXPECT_THAT(without([](Tables& t) { t.type.kind = nullptr; }),
              HasSubstr("its type 1 has no kind"));
  EXPECT_THAT(without([](Tables& t) { t.type.name = nullptr; }),
              HasSubstr("its type 1 has no name"));
  EXPECT_THAT(without([](Tables& t) { t.type.methods = nullptr; }),
              HasSubstr("hook 'h' has no methods"));
  EXPECT_THAT(without([](Tables& t) { t.type.create = nullptr; }), HasSubstr("no create()"));
  EXPECT_THAT(without([](Tables& t) { t.type.destroy = nullptr; }), HasSubstr("no destroy()"));
  EXPECT_THAT(without([](Tables& t) { t.hook.on_event = nullptr; }),
              HasSubstr("hook 'h' has no on_event(), which every hook needs"));
  EXPECT_THAT(without([](Tables& t) { t.hook.struct_size = offsetof(sg_hook, on_event); }),
              HasSubstr("no on_event()"));
}

TEST(Abi, NamesThatYamlCannotSay_Read_AreRefused) {
  for (const char* name : {"", "two words", "es\x1b[31mc", "a/b"}) {
    Tables t;
    t.type.name = name;
    EXPECT_THAT(t.refusal(), HasSubstr("a name has up to 64 letters")) << name;
    EXPECT_EQ(t.refusal().find('\x1b'), std::string::npos);
  }
}

TEST(Abi, ProviderAndWatcher_WithoutARequiredSlot_AreRefused) {
  Tables t;
  sg_provider provider{};
  provider.struct_size = sizeof provider;
  t.type.kind = SG_KIND_PROVIDER;
  t.type.methods = &provider;
  EXPECT_THAT(t.refusal(), HasSubstr("provider 'h' has no capabilities()"));
  sg_watcher watcher{};
  watcher.struct_size = sizeof watcher;
  t.type.kind = SG_KIND_WATCHER;
  t.type.methods = &watcher;
  EXPECT_THAT(t.refusal(), HasSubstr("watcher 'h' has no run()"));
}

TEST(Abi, UnknownKindBesideAKnownOne_Read_IsPassedOver) {
  Tables t, other;
  other.type.kind = "sandglass.hook/2";
  t.list[1] = &other.type;
  const auto table = read_table(&t.plugin);
  ASSERT_TRUE(table) << table.error().text;
  EXPECT_EQ(table->types.size(), 1u);
  EXPECT_THAT(table->unknown, ElementsAre("sandglass.hook/2"));
}

TEST(Abi, EndlessTypeList_Read_IsRefused) {
  Tables t;
  std::vector<const sg_type*> many(300, &t.type);
  t.plugin.types = many.data();
  EXPECT_THAT(t.refusal(), HasSubstr("has no end"));
}

TEST(Abi, ShorterAndLongerTables_Adopted_ReadAsNullOrCut) {
  Tables t;
  t.hook.on_batch = [](void*, sg_call*, const sg_event* const*, size_t, size_t*) -> sg_status {
    return SG_OK;
  };
  t.hook.struct_size = offsetof(sg_hook, on_batch);
  const auto older = adopt<sg_hook>(&t.hook);
  EXPECT_EQ(older.on_event, t.hook.on_event);
  EXPECT_EQ(older.on_batch, nullptr);
  struct {
    sg_hook hook;
    uint64_t more[4];
  } newer{t.hook, {1, 2, 3, 4}};
  newer.hook.struct_size = sizeof newer;
  const auto cut = adopt<sg_hook>(&newer);
  EXPECT_EQ(cut.struct_size, sizeof(sg_hook));
  EXPECT_EQ(cut.on_batch, t.hook.on_batch);
}

}  // namespace
}  // namespace sandglass::plugin
