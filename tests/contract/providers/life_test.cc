// How sandboxes come, are found again, and go: rules L4, L6.
#include <filesystem>
#include <thread>

#include "contract/providers/provider.h"

namespace sandglass::contract {
namespace {

TEST_P(Provider, Create_EqualInputs_GiveAnEqualId) {
  EXPECT_EQ(*box.create(box.dir().path()), box.id());
}

TEST_P(Provider, Resume_InAnotherInstance_WorksFromTheId) {
  box.dir().write("f", "kept");
  Box other(GetParam());
  ASSERT_TRUE(other.resume(box.id()));
  EXPECT_EQ(*other.local_path(box.id()), *box.local_path(box.id()));
}

TEST_P(Provider, List_Owner_SeesItsOwnOnly) {
  const auto held = box.list("the-owner");
  ASSERT_EQ(held.size(), 1u);
  EXPECT_EQ(held[0].id, box.id());
  EXPECT_EQ(held[0].key, "key:with%odd/bytes");
  EXPECT_EQ(held[0].owner, "the-owner");
  EXPECT_EQ(held[0].state, uint32_t{SG_HELD_RUNNING});
  EXPECT_TRUE(box.list("somebody-else").empty());
}

TEST_P(Provider, Destroy_Twice_IsFine) {
  EXPECT_TRUE(box.destroy());
  EXPECT_TRUE(box.destroy());
  EXPECT_TRUE(box.list("the-owner").empty());
}

TEST_P(Provider, Ids_OfOthers_AreRefused) {
  for (const std::string id : {"", "x", "docker:1:2:3:4:-", "local:k:o:/w:relative:-",
                               "local:k:o:/w:%2:-", "local:k:o:/w:/a%00b:-", "local:k:o:/w"}) {
    EXPECT_EQ(box.resume(id).error().fault, Fault::invalid) << id;
    EXPECT_EQ(box.destroy(id).error().fault, Fault::invalid) << id;
    EXPECT_EQ(box.local_path(id).error().fault, Fault::invalid) << id;
  }
}

TEST_P(Provider, WaitGone_Cancelled_ReturnsWithoutNews) {
  plugin::Call call({box.id(), mono_ns() + 20'000'000'000, nullptr});
  call.cancel();
  EXPECT_EQ(box.wait_gone(call).error().fault, Fault::cancelled);
}

TEST_P(Provider, WaitGone_PastItsDeadline_SaysSo) {
  plugin::Call call({box.id(), mono_ns() + 100'000'000, nullptr});
  EXPECT_EQ(box.wait_gone(call).error().fault, Fault::timeout);
}

}  // namespace
}  // namespace sandglass::contract
