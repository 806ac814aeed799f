#include "sandbox/store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/temp_dir.h"

namespace sandglass::sandbox {

using testing::TempDir;

static InstanceRecord record(const std::string& id, const std::string& workspace, int64_t created) {
  InstanceRecord r;
  r.id = id;
  r.workspace = workspace;
  r.root = "/workspace";
  r.provider = "local";
  r.provider_id = std::string("id\0\xff", 4);
  r.watcher = "inotify";
  r.created_ns = created;
  r.baseline.kind = git::BaselineKind::commit;
  r.redact = {"*.pem"};
  r.baseline.commit = "0123456789012345678901234567890123456789";
  return r;
}

TEST(Store, Open_NewDirectory_IsPrivateAndVersioned) {  // P2
  TempDir dir;
  ASSERT_TRUE(Store::open(dir / "state"));
  struct stat st;
  ASSERT_EQ(::stat((dir / "state").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0700u);
  EXPECT_EQ(dir.read("state/schema"), "1");
}

TEST(Store, Open_NewerSchema_IsRefused) {  // P2
  TempDir dir;
  ASSERT_TRUE(Store::open(dir / "state"));
  dir.write("state/schema", "2\n");
  auto store = Store::open(dir / "state");
  ASSERT_FALSE(store);
  EXPECT_NE(store.error().text.find("schema 2"), std::string::npos) << store.error().text;
}

TEST(Store, Record_AnyBytes_ComesBackAsItWas) {
  TempDir dir;
  auto store = Store::open(dir / "state");
  std::string id;
  auto held = store->make_instance("shop", "", id);
  ASSERT_TRUE(held);
  ASSERT_TRUE(store->save(*held, record(id, "/w/caf\xe9", 5)));
  auto back = store->find(id);
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_EQ(back->workspace, "/w/caf\xe9");
  EXPECT_EQ(back->provider_id, std::string("id\0\xff", 4));
  EXPECT_EQ(back->redact, std::vector<std::string>{"*.pem"});
  EXPECT_EQ(back->baseline.commit, "0123456789012345678901234567890123456789");
}

TEST(Store, Owned_LastsAsLongAsTheLock) {  // P1a
  TempDir dir;
  auto store = Store::open(dir / "state");
  std::string id;
  {
    auto held = store->make_instance("shop", "", id);
    ASSERT_TRUE(held);
    EXPECT_TRUE(store->owned(id));
  }
  EXPECT_FALSE(store->owned(id));
}

TEST(Store, NamedSandbox_HeldElsewhere_IsAClearError) {  // P1a
  TempDir dir;
  auto store = Store::open(dir / "state");
  std::string first, second;
  auto held = store->make_instance("repo", "repo", first);
  ASSERT_TRUE(held);
  auto again = store->make_instance("repo", "repo", second);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().fault, Fault::busy);
  EXPECT_NE(again.error().text.find("repo"), std::string::npos);
}

TEST(Store, Latest_IsTheNewestWhoseWorkspaceHoldsTheDirectory) {
  TempDir dir;
  auto store = Store::open(dir / "state");
  int64_t created = 1;
  for (const char* workspace : {"/w/a", "/w/a", "/w/ab"}) {
    std::string id;
    auto held = store->make_instance("x", "", id);
    ASSERT_TRUE(store->save(*held, record(id, workspace, created++)));
  }
  EXPECT_EQ(store->latest("/w/a/sub")->created_ns, 2);
  EXPECT_EQ(store->latest("/w/ab")->created_ns, 3);
  EXPECT_FALSE(store->latest("/w"));
}

}  // namespace sandglass::sandbox
