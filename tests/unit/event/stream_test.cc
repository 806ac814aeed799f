#include "event/stream.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace sandglass::stream {
namespace {

const Origin kOrigin{"box-1", "/workspace"};

Event file_event(const std::string& path) {
  Event e;
  e.seq = 41;
  e.kind = EventKind::file_create;
  e.topic = "sandbox.file";
  e.path = path;
  e.time_ns = 1'700'000'000'123'456'789;
  return e;
}

TEST(Stream, Custom_FileEvent_HasTheFormOfTheSpecification) {  // S1, E1, E2
  EXPECT_EQ(custom(kOrigin, file_event("src/a.c")),
            R"({"type":"CUSTOM","name":"sandbox.file","value":{"type":"create","path":"/workspace/src/a.c",)"
            R"("timestamp":1700000000123,"seq":41},"timestamp":1700000000123})");
}

TEST(Stream, Custom_PathThatIsNoUtf8_IsShownEscapedAndExactly) {  // W9
  const auto line = nlohmann::json::parse(custom(kOrigin, file_event("a\xff\n")));
  EXPECT_EQ(line["value"]["path"], "/workspace/a\\xff\n");
  EXPECT_EQ(line["value"]["path_b64"], "L3dvcmtzcGFjZS9h/wo=");
  EXPECT_FALSE(nlohmann::json::parse(custom(kOrigin, file_event("a")))["value"].contains("path_b64"));
}

TEST(Stream, Custom_KnownActor_IsAnAddition) {  // W11
  Event e = file_event("a");
  e.actor = {ActorKind::run, 7, "sed"};
  e.run_id = "run-1";
  const auto value = nlohmann::json::parse(custom(kOrigin, e))["value"];
  EXPECT_EQ(value["actor"]["kind"], "run");
  EXPECT_EQ(value["actor"]["pid"], 7);
  EXPECT_EQ(value["runId"], "run-1");
}

TEST(Stream, Run_Lines_AreAgUi) {  // S4
  const RunInfo run{"run-1", "thread-1"};
  const auto started = nlohmann::json::parse(run_started(run, 5'000'000));
  EXPECT_EQ(started, nlohmann::json::parse(R"({"type":"RUN_STARTED","threadId":"thread-1","runId":"run-1","timestamp":5})"));
  const auto finished = nlohmann::json::parse(run_finished(run, "success", 137, "SIGKILL", 5'000'000));
  EXPECT_EQ(finished["outcome"]["type"], "success");
  EXPECT_EQ(finished["result"]["exitCode"], 137);
  EXPECT_EQ(finished["result"]["signal"], "SIGKILL");
  const auto error = nlohmann::json::parse(run_error(run, "isolation", "cannot", 5'000'000));
  EXPECT_EQ(error["type"], "RUN_ERROR");
  EXPECT_EQ(error["code"], "isolation");
}

TEST(Stream, Diff_LatinOnePatch_StaysValidAndExact) {  // B15
  const auto value = nlohmann::json::parse(diff(kOrigin, file_event("l"), "+caf\xe9\n"))["value"];
  EXPECT_EQ(value["diff"], "+caf\xef\xbf\xbd\n");
  EXPECT_EQ(value["diff_b64"], "K2NhZukK");
}

TEST(Utf8Joiner, EveryCut_GivesWholeCharacters) {  // E1
  const std::string text = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z";
  for (size_t a = 0; a <= text.size(); a++)
    for (size_t b = a; b <= text.size(); b++) {
      Utf8Joiner joiner;
      std::string all;
      for (const std::string& part : {text.substr(0, a), text.substr(a, b - a), text.substr(b)}) {
        const std::string whole = joiner.push(part);
        EXPECT_EQ(nlohmann::json::parse(output(1, whole, 0))["value"].count("b64"), 0u);
        all += whole;
      }
      EXPECT_EQ(all + joiner.finish(), text);
    }
}

TEST(Utf8Joiner, CutAtTheEnd_IsOneReplacementCharacter) {  // E1
  Utf8Joiner joiner;
  EXPECT_EQ(joiner.push("x\xe2\x82"), "x");
  const auto value = nlohmann::json::parse(output(1, joiner.finish(), 0))["value"];
  EXPECT_EQ(value["b64"], "4oI=");
}

}  // namespace
}  // namespace sandglass::stream
