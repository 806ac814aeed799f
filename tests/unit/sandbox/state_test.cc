#include "sandbox/state.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>

namespace sandglass::sandbox {

static State state(int i) {
  return static_cast<State>(i);
}
static Trigger trigger(int i) {
  return static_cast<Trigger>(i);
}

TEST(State, EveryStateAndTrigger_LeadsSomewhereKnownOrNowhere) {  // L1
  for (int s = 0; s < kStates; s++)
    for (int t = 0; t < kTriggers; t++)
      if (const auto to = next(state(s), trigger(t))) {
        EXPECT_LT(static_cast<int>(*to), kStates);
        EXPECT_FALSE(name_of(*to).empty());
      }
}

TEST(State, EveryState_IsReachedFromAbsent) {  // L1
  std::set<State> seen{State::absent};
  for (size_t before = 0; before != seen.size();) {
    before = seen.size();
    for (State from : std::set<State>(seen))
      for (int t = 0; t < kTriggers; t++)
        if (const auto to = next(from, trigger(t))) seen.insert(*to);
  }
  EXPECT_EQ(seen.size(), static_cast<size_t>(kStates));
}

TEST(State, EveryLiveState_CanBeDestroyed) {  // L6
  for (int s = 0; s < kStates; s++) {
    const State from = state(s);
    const bool over = from == State::absent || from == State::destroyed ||
                      from == State::draining || from == State::destroying;
    EXPECT_EQ(next(from, Trigger::destroy).has_value(), !over) << name_of(from);
  }
}

TEST(State, Destroyed_HasNoWayOut) {
  for (int t = 0; t < kTriggers; t++) EXPECT_FALSE(next(State::destroyed, trigger(t)));
}

TEST(State, Ready_ComesOnlyAfterArmingOrASnapshot) {  // L2
  for (int s = 0; s < kStates; s++)
    for (int t = 0; t < kTriggers; t++)
      if (next(state(s), trigger(t)) == State::ready) {
        EXPECT_TRUE(state(s) == State::arming || state(s) == State::snapshotting);
      }
}

TEST(State, Diagram_InTheReadme_IsTheTable) {
  std::ifstream in(SANDBOX_README);
  const std::string readme{std::istreambuf_iterator<char>(in), {}};
  EXPECT_NE(readme.find("```mermaid\n" + diagram() + "```"), std::string::npos)
      << "put this into core/sandbox/README.md:\n"
      << diagram();
}

}  // namespace sandglass::sandbox
