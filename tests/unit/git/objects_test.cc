#include "git/objects.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <thread>
#include <vector>

#include "git/delta.h"
#include "repo.h"

namespace sandglass::git {

namespace {

// Every object of the repository as git reads it and as we do.
void expect_all_equal(const Repo& repo, size_t at_least) {
  const auto objects = Objects::open({repo / ".git/objects"});
  ASSERT_TRUE(objects) << objects.error().text;
  const std::string list =
      repo.git({"cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)"});
  size_t seen = 0;
  for (size_t at = 0; at < list.size(); at = list.find('\n', at) + 1, seen++) {
    const std::string name = list.substr(at, 40);
    const std::string type = list.substr(at + 41, list.find('\n', at) - at - 41);
    const auto got = (*objects)->read(*parse_oid(name), 1 << 20);
    ASSERT_TRUE(got) << name << ": " << got.error().text;
    EXPECT_EQ((*got)->bytes, repo.git({"cat-file", type, name}));
  }
  EXPECT_GE(seen, at_least);
}

void fill(const Repo& repo) {
  std::string text;
  for (int i = 0; i < 300; i++) text += "a line of text " + std::to_string(i) + "\n";
  for (int i = 0; i < 12; i++) {
    text.insert(static_cast<size_t>(i) * 100, "inserted " + std::to_string(i) + "\n");
    repo.write("dir/big", text);
    repo.write("f" + std::to_string(i), std::to_string(i));
    repo.commit_all(std::to_string(i));
  }
  repo.git({"tag", "-a", "-m", "tag", "v1"});
}

}  // namespace

TEST(Objects, Loose_EqualGits) {
  const Repo repo;
  fill(repo);
  expect_all_equal(repo, 40);
}

TEST(Objects, PackedWithOffsetDeltas_EqualGits) {
  const Repo repo;
  fill(repo);
  repo.git({"gc", "-q", "--aggressive", "--prune=now"});
  expect_all_equal(repo, 40);
}

TEST(Objects, PackedWithRefDeltas_EqualGits) {
  const Repo repo;
  fill(repo);
  repo.git({"-c", "repack.useDeltaBaseOffset=false", "repack", "-q", "-a", "-d", "-f"});
  expect_all_equal(repo, 40);
}

TEST(Objects, Read_OverTheLimit_GivesTheSizeOnly) {
  const Repo repo;
  repo.write("f", std::string(5000, 'x'));
  repo.commit_all();
  const std::optional<Oid> id = object_id(ObjectType::blob, std::string(5000, 'x'));
  const auto objects = Objects::open({repo / ".git/objects"}).value();
  for (const char* how : {"loose", "packed"}) {
    const auto got = objects->read(*id, 100);
    ASSERT_TRUE(got) << how;
    EXPECT_EQ((*got)->full_size, 5000u);
    EXPECT_FALSE((*got)->whole());
    repo.git({"gc", "-q", "--prune=now"});
  }
}

TEST(Objects, Read_Unknown_IsNotFound) {
  const Repo repo;
  const auto objects = Objects::open({repo / ".git/objects"}).value();
  EXPECT_EQ(objects->read(Oid{}, 100).error().fault, Fault::not_found);
}

TEST(Objects, Read_InManyThreadsWhileOthersOpenMore_StaysRight) {
  const Repo empty;
  const Repo repo;
  fill(repo);
  const Oid id = *parse_oid(repo.git({"rev-parse", "HEAD:f3"}).substr(0, 40));
  for (int round = 0; round < 300; round++) {
    const auto objects = Objects::open({empty / ".git/objects"}, {repo / ".git/objects"});
    ASSERT_TRUE(objects) << objects.error().text;
    std::atomic<int> right = 0;
    std::barrier together(4);
    std::vector<std::thread> readers;
    for (int i = 0; i < 4; i++)
      readers.emplace_back([&] {
        together.arrive_and_wait();
        const auto got = (*objects)->read(id, 100);
        if (got && (*got)->bytes == "3") right++;
      });
    for (std::thread& reader : readers) reader.join();
    EXPECT_EQ(right, 4);
  }
}

TEST(Delta, Apply_Damaged_IsRefused) {
  const std::string base = "0123456789";
  EXPECT_EQ(apply_delta(base, std::string("\x0a\x03\x91\x02\x03", 5), 100).value(), "234");
  EXPECT_FALSE(apply_delta("short", std::string("\x0a\x03\x91\x02\x03", 5), 100));
  EXPECT_FALSE(apply_delta(base, std::string("\x0a\x03\x91\x09\x03", 5), 100));  // past the base
  EXPECT_FALSE(apply_delta(base, std::string("\x0a\x02\x91\x02\x03", 5), 100));  // too much
  EXPECT_FALSE(apply_delta(base, std::string("\x0a\x04\x91\x02\x03", 5), 100));  // too little
  EXPECT_FALSE(apply_delta(base, std::string("\x0a\x03\x91\x02", 4), 100));      // cut
  EXPECT_FALSE(apply_delta(base, std::string("\x0a\x03\x00", 3), 100));          // reserved
  EXPECT_FALSE(apply_delta(base, std::string("\x0a\x03\x91\x02\x03", 5), 2));    // limit
}

}  // namespace sandglass::git
