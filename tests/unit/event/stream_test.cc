#include "event/stream.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "event/details.h"

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
  EXPECT_EQ(
      custom(kOrigin, file_event("src/a.c")),
      R"({"type":"CUSTOM","name":"sandbox.file","value":{"type":"create","path":"/workspace/src/a.c",)"
      R"("timestamp":1700000000123,"seq":41},"timestamp":1700000000123})");
}

TEST(Stream, Custom_PathThatIsNoUtf8_IsShownEscapedAndExactly) {  // W9
  const auto line = nlohmann::json::parse(custom(kOrigin, file_event("a\xff\n")));
  EXPECT_EQ(line["value"]["path"], "/workspace/a\\xff\n");
  EXPECT_EQ(line["value"]["path_b64"], "L3dvcmtzcGFjZS9h/wo=");
  EXPECT_FALSE(
      nlohmann::json::parse(custom(kOrigin, file_event("a")))["value"].contains("path_b64"));
}

TEST(Stream, Custom_KnownActor_IsAnAddition) {  // W11
  Event e = file_event("a");
  e.actor = {ActorKind::run, 7, "sed"};
  e.run_id = "run-1";
  const auto value = nlohmann::json::parse(custom(kOrigin, e))["value"];
  EXPECT_EQ(value["actor"]["kind"], "run");
  EXPECT_EQ(value["actor"]["pid"], 7);
  EXPECT_EQ(value["actor"]["command"], "sed");
  EXPECT_EQ(value["actor"]["run"], "run-1");
  EXPECT_EQ(value["runId"], "run-1");
}

TEST(Stream, Custom_UnattributedEvent_ListsItsCandidates) {  // W11
  Event e = file_event("a");
  e.actor.kind = ActorKind::unattributed;
  e.json = R"(["run-1","run-2"])";
  const auto actor = nlohmann::json::parse(custom(kOrigin, e))["value"]["actor"];
  EXPECT_EQ(actor,
            nlohmann::json::parse(R"({"kind":"unattributed","candidates":["run-1","run-2"]})"));
}

TEST(Stream, Custom_DetailsOfAnyForm_AreOneLineOfJson) {  // S1
  for (const char* json : {"", "{}", "{ }", " {\"a\": 1} \n", "{\n\"a\":\n1\n}", "[1]\n", "\"x\"",
                           "{\"to\":", "7 8", "\xff", "{\"a\":\"\xff\"}"}) {
    Event e;
    e.kind = EventKind::custom;
    e.topic = "acme.done";
    e.seq = 5;
    e.json = details_from_file(json);
    const std::string line = custom(kOrigin, e);
    EXPECT_EQ(line.find_first_of("\r\n"), line.npos) << line;
    const auto value = nlohmann::json::parse(line).at("value");
    EXPECT_EQ(value.at("seq"), 5) << line;
    if (std::string(json).find("\"a\": 1") != std::string::npos) {
      EXPECT_EQ(value.at("a"), 1);
    }
  }
}

TEST(Details, FromAFile_WhatIsNotSound_BecomesText) {
  EXPECT_EQ(details_from_file("{\"to\":"), R"("{\"to\":")");
  EXPECT_EQ(details_from_file(std::string(100, '[') + std::string(100, ']')).front(), '"');
  EXPECT_EQ(details_from_file(" {\"a\":\n1} "), "{\"a\": 1}");
  EXPECT_EQ(details_from_file(""), "");
  EXPECT_EQ(details_from_file(std::string("1\0", 2)), R"("1\u0000")");
}

TEST(Stream, Custom_Flags_AreThereOnlyWhenSet) {  // S1
  const auto plain = nlohmann::json::parse(custom(kOrigin, file_event("a")))["value"];
  for (const char* key : {"runId", "actor", "metaOnly", "symlink", "replay", "seenNs", "path_b64"})
    EXPECT_FALSE(plain.contains(key)) << key;
  Event e = file_event("a");
  e.flags = event_meta_only | event_symlink | event_replay;
  e.seen_ns = 7;
  const auto value = nlohmann::json::parse(custom(kOrigin, e))["value"];
  for (const char* key : {"metaOnly", "symlink", "replay"}) EXPECT_EQ(value[key], true) << key;
  EXPECT_EQ(value["seenNs"], 7);
}

TEST(Stream, Custom_OtherEvents_AreNamedByTopic_AndCarryTheirJson) {
  Event e;
  e.seq = 41;
  e.kind = EventKind::state;
  e.topic = "sandbox.state";
  e.time_ns = 5'000'000;
  e.json = R"({"from":"arming","event":"ok","to":"ready"})";
  EXPECT_EQ(custom(kOrigin, e),
            R"({"type":"CUSTOM","name":"sandbox.state",)"
            R"("value":{"seq":41,"from":"arming","event":"ok","to":"ready"},"timestamp":5})");
  e.json.clear();
  EXPECT_EQ(nlohmann::json::parse(custom(kOrigin, e))["value"], nlohmann::json({{"seq", e.seq}}));
}

TEST(Stream, RunStarted_IsAgUi) {  // S4
  EXPECT_EQ(run_started({"run-1", "thread-1"}, 5'000'000),
            R"({"type":"RUN_STARTED","threadId":"thread-1","runId":"run-1","timestamp":5})");
}

TEST(Stream, RunFinished_OutcomeIsOneThatAgUiKnows) {  // S4
  const RunInfo run{"run-1", "thread-1"};
  EXPECT_EQ(run_finished(run, "success", 3, "", 5'000'000),
            R"({"type":"RUN_FINISHED","threadId":"thread-1","runId":"run-1",)"
            R"("outcome":{"type":"success"},"result":{"exitCode":3},"timestamp":5})");
  const auto cancelled = nlohmann::json::parse(run_finished(run, "cancelled", 143, "SIGTERM", 0));
  EXPECT_EQ(cancelled["outcome"], nlohmann::json::parse(R"({"type":"cancelled"})"));
  EXPECT_EQ(cancelled["result"], nlohmann::json::parse(R"({"exitCode":143,"signal":"SIGTERM"})"));
  const auto late = nlohmann::json::parse(run_finished(run, "timeout", 124, "", 0));
  EXPECT_EQ(late["outcome"], nlohmann::json::parse(R"({"type":"cancelled"})"));
  EXPECT_EQ(late["result"], nlohmann::json::parse(R"({"exitCode":124,"timedOut":true})"));
}

TEST(Stream, RunError_HasMessageAndCodeAlone) {  // S4
  EXPECT_EQ(
      run_error({"run-1", "thread-1"}, "isolation", "cannot \"isolate\"", 5'000'000),
      R"({"type":"RUN_ERROR","message":"cannot \"isolate\"","code":"isolation","timestamp":5})");
}

TEST(Stream, Diff_Value_HasPathDiffAndSeq) {  // S1
  EXPECT_EQ(diff(kOrigin, file_event("a"), "+x\n"),
            R"({"type":"CUSTOM","name":"sandbox.file.diff","value":{"path":"/workspace/a",)"
            R"("diff":"+x\n","seq":41},"timestamp":1700000000123})");
}

TEST(Stream, AnyName_IsOneLine) {  // W9, S1
  for (const char* name : {"a\nb", "a\rb", "\x1b[2J", "\xe2\x80\xa8", "\xff\n"})
    EXPECT_EQ(custom(kOrigin, file_event(name)).find_first_of("\n\r\x1b"), std::string::npos);
}

TEST(Event, AbsolutePath_AnyRoot_HasOneSlashBetween) {  // E2
  EXPECT_EQ(absolute_path({"b", "/workspace"}, file_event("src/a.c")), "/workspace/src/a.c");
  EXPECT_EQ(absolute_path({"b", "/"}, file_event("a")), "/a");
  EXPECT_EQ(absolute_path({"b", "/work/"}, file_event("a")), "/work/a");
  EXPECT_EQ(absolute_path({"b", "/work"}, Event{}), "/work");
}

TEST(Event, Names_AreTheSpecificationsWords) {  // E1, W11
  EXPECT_EQ(name_of(EventKind::file_create), "create");
  EXPECT_EQ(name_of(EventKind::file_change), "change");
  EXPECT_EQ(name_of(EventKind::file_delete), "delete");
  EXPECT_EQ(name_of(EventKind::state), "state");
  EXPECT_EQ(name_of(static_cast<EventKind>(99)), "unknown");
  EXPECT_EQ(name_of(ActorKind::unattributed), "unattributed");
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
