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
  r.binary_full = true;
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
  auto held = store->make_instance("shop");
  ASSERT_TRUE(held);
  InstanceRecord written = record(held->id, "/w/caf\xe9", 5);
  written.key = "0123456789abcdef";
  written.first_seq = 77;
  written.past.push_back({3, "/w/\xff", written.baseline});
  written.definition = R"({"provider":{"use":"local","with":{}}})";
  written.keep_alive_ns = 99;
  ASSERT_TRUE(store->save(*held, written));
  auto back = store->find(held->id);
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_EQ(back->workspace, "/w/caf\xe9");
  EXPECT_EQ(back->provider_id, std::string("id\0\xff", 4));
  EXPECT_EQ(back->redact, std::vector<std::string>{"*.pem"});
  EXPECT_TRUE(back->binary_full);
  EXPECT_EQ(back->baseline.commit, "0123456789012345678901234567890123456789");
  EXPECT_EQ(back->key, written.key);
  EXPECT_EQ(back->first_seq, 77u);
  EXPECT_EQ(back->definition, written.definition);
  EXPECT_EQ(back->keep_alive_ns, 99);
  ASSERT_EQ(back->past.size(), 1u);
  EXPECT_EQ(back->past[0].first_seq, 3u);
  EXPECT_EQ(back->past[0].workspace, "/w/\xff");
  EXPECT_EQ(back->past[0].baseline.commit, written.baseline.commit);
}

TEST(Store, Record_OfAnOlderVersion_HasDefaults) {  // P2
  TempDir dir;
  auto store = Store::open(dir / "state");
  dir.write(
      "state/instances/old-1/instance.json",
      R"({"id":"old-1","name":"","workspaceHex":"2f77","root":"/workspace","provider":"local",)"
      R"("providerIdHex":"","watcher":"","createdNs":1,"baseline":)" +
          git::Baseline{}.to_json() + "}");
  auto back = store->find("old-1");
  ASSERT_TRUE(back) << back.error().text;
  EXPECT_EQ(back->workspace, "/w");
  EXPECT_EQ(back->first_seq, 1u);
  EXPECT_EQ(back->keep_alive_ns, 0);
}

TEST(Store, Owned_LastsAsLongAsTheLock) {  // P1a
  TempDir dir;
  auto store = Store::open(dir / "state");
  std::string id;
  {
    auto held = store->make_instance("shop");
    ASSERT_TRUE(held);
    id = held->id;
    EXPECT_TRUE(store->owned(id));
  }
  EXPECT_FALSE(store->owned(id));
  EXPECT_EQ(store->open_ids(), std::vector<std::string>{id});  // its process ended without it
}

TEST(Store, Hold_WhileHeld_IsAClearError_ThenFree) {  // P1a
  TempDir dir;
  auto store = Store::open(dir / "state");
  auto held = store->hold("repo-12345678");
  ASSERT_TRUE(held);
  auto again = store->hold("repo-12345678");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().fault, Fault::busy);
  EXPECT_NE(again.error().text.find("repo-12345678"), std::string::npos);
  store->let_go(std::move(*held), false);
  EXPECT_EQ(store->open_ids().size(), 1u);
  held = store->hold("repo-12345678");
  ASSERT_TRUE(held);
  store->let_go(std::move(*held), true);
  EXPECT_TRUE(store->open_ids().empty());
}

TEST(Store, Owner_IsTheSameForEveryProcess_AndAnotherElsewhere) {
  TempDir dir;
  const std::string owner = Store::open(dir / "state")->owner();
  EXPECT_EQ(owner.size(), 16u);
  EXPECT_EQ(Store::open(dir / "state")->owner(), owner);
  EXPECT_NE(Store::open(dir / "other")->owner(), owner);
}

TEST(Store, Find_ByName_IsTheNewest) {
  TempDir dir;
  auto store = Store::open(dir / "state");
  for (int64_t created : {1, 2}) {
    auto held = store->make_instance("x");
    InstanceRecord one = record(held->id, "/w", created);
    one.name = "repo";
    ASSERT_TRUE(store->save(*held, one));
  }
  EXPECT_EQ(store->find("repo")->created_ns, 2);
  EXPECT_FALSE(store->find("rep"));
}

TEST(Store, Remove_TakesTheFolderAndTheMark) {
  TempDir dir;
  auto store = Store::open(dir / "state");
  auto held = store->make_instance("x");
  const std::string id = held->id;
  ASSERT_TRUE(store->save(*held, record(id, "/w", 1)));
  EXPECT_GT(store->size_of(id), 0u);
  ASSERT_TRUE(store->remove(std::move(*held)));
  EXPECT_FALSE(store->find(id));
  EXPECT_TRUE(store->open_ids().empty());
}

TEST(Store, Latest_IsTheNewestWhoseWorkspaceHoldsTheDirectory) {
  TempDir dir;
  auto store = Store::open(dir / "state");
  int64_t created = 1;
  for (const char* workspace : {"/w/a", "/w/a", "/w/ab"}) {
    auto held = store->make_instance("x");
    ASSERT_TRUE(store->save(*held, record(held->id, workspace, created++)));
  }
  EXPECT_EQ(store->latest("/w/a/sub")->created_ns, 2);
  EXPECT_EQ(store->latest("/w/ab")->created_ns, 3);
  EXPECT_FALSE(store->latest("/w"));
}

}  // namespace sandglass::sandbox
