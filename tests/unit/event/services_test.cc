// What a hook may ask while it has an event: content, a longer life for it, a voice of its own.
#include <poll.h>

#include <map>

#include "base/hash.h"
#include "unit/event/fake_hook.h"

namespace sandglass {
namespace {

using testing::FakeHook;
using testing::str;
using testing::text_of;
using Strings = std::vector<std::string>;

const sg_event_service& service_of(const sg_host* host) {
  return *static_cast<const sg_event_service*>(host->service(host, SG_SERVICE_EVENT));
}

sg_content content_of(const sg_host* host, sg_call* call, const sg_event* event, uint32_t which) {
  sg_content out{};
  out.struct_size = sizeof out;
  service_of(host).content(host, call, event, which, &out);
  return out;
}

git::Piece piece_of(std::string bytes) {
  git::Piece piece;
  piece.state = git::PieceState::here;
  piece.mode = 0100644;
  piece.full_size = bytes.size();
  piece.bytes = std::move(bytes);
  return piece;
}

// A source that counts what it is asked.
struct Source {
  std::mutex mutex;
  std::map<std::string, int> asked;  // "<path> <which> <for export>"
  std::function<git::Piece(const Event&, git::Which)> answer = [](const Event& event, git::Which) {
    return piece_of("patch of " + event.path);
  };
  ContentSource function() {
    return [this](const Event& event, git::Which which, bool for_export) {
      std::lock_guard lock(mutex);
      asked[event.path + " " + std::to_string(static_cast<int>(which)) +
            (for_export ? " export" : "")]++;
      return answer(event, which);
    };
  }
};

class Services : public testing::DispatchTest {
 protected:
  // Delivers one event per path to a hook that does `act`, and waits.
  void deliver(const FakeHook::OnEvent& act, const Strings& paths,
               std::vector<uint64_t> masks = {SG_EV_FILES}) {
    FakeHook& fake = hook();
    fake.on_event = act;
    add(fake, "h", std::move(masks));
    start(source_.function());
    for (const std::string& path : paths) append(path);
    EXPECT_EQ(drain().late.events, 0u);
  }
  Source source_;
};

TEST_F(Services, Content_NotAsked_IsNotRead) {  // E1
  deliver([](const sg_host*, sg_call*, const sg_event*) { return sg_status{SG_OK}; }, {"a", "b"});
  EXPECT_TRUE(source_.asked.empty());
}

TEST_F(Services, Content_AskedAgain_IsReadOncePerEvent_WhateverTheMasks) {  // E1
  deliver(
      [](const sg_host* host, sg_call* call, const sg_event* event) {
        for (int i = 0; i < 3; i++) {
          const sg_content got = content_of(host, call, event, SG_DIFF);
          EXPECT_EQ(got.state, static_cast<uint32_t>(SG_CONTENT_HERE));
          EXPECT_EQ(text_of(got.data), "patch of " + text_of(event->relative));
          EXPECT_EQ(got.data.data[got.data.len], 0);
          EXPECT_EQ(got.full_size, got.data.len);
          EXPECT_EQ(got.mode, 0100644u);
          EXPECT_EQ(text_of(got.sha256), sha256_hex(text_of(got.data)));
          EXPECT_EQ(got.flags, 0u);
        }
        return sg_status{SG_OK};
      },
      {"a", "b"}, {SG_EV_FILES, testing::bit(SG_EV_FILE_CHANGE)});
  EXPECT_EQ(source_.asked, (std::map<std::string, int>{{"a 2", 1}, {"b 2", 1}}));
}

TEST_F(Services, Content_EachKindAndExport_IsItsOwn) {  // B8
  deliver(
      [](const sg_host* host, sg_call* call, const sg_event* event) {
        for (uint32_t which : {SG_BEFORE, SG_AFTER, SG_DIFF}) {
          content_of(host, call, event, which);
          content_of(host, call, event, which | SG_FOR_EXPORT);
        }
        return sg_status{SG_OK};
      },
      {"a"});
  EXPECT_EQ(source_.asked.size(), 6u);
  EXPECT_EQ(source_.asked["a 0"], 1);
  EXPECT_EQ(source_.asked["a 2 export"], 1);
}

TEST_F(Services, Content_EveryStateAndFlag_IsPassedOn) {  // B5
  source_.answer = [](const Event& event, git::Which) {
    git::Piece piece;
    piece.state = static_cast<git::PieceState>(std::stoi(event.path));
    piece.flags = git::piece_binary | git::piece_symlink;
    piece.full_size = 99;
    return piece;
  };
  Strings states;
  for (int state = 0; state <= 9; state++) states.push_back(std::to_string(state));
  deliver(
      [](const sg_host* host, sg_call* call, const sg_event* event) {
        const sg_content got = content_of(host, call, event, SG_AFTER);
        EXPECT_EQ(std::to_string(got.state), text_of(event->relative));
        EXPECT_EQ(got.flags, static_cast<uint32_t>(SG_CF_BINARY | SG_CF_SYMLINK));
        EXPECT_EQ(got.full_size, 99u);
        EXPECT_EQ(got.sha256.len, 0u);  // none of them is whole
        return sg_status{SG_OK};
      },
      states);
}

TEST_F(Services, Content_OfALifecycleEvent_IsAbsent_AndAnUnknownKindUnsupported) {
  FakeHook& fake = hook();
  fake.on_event = [](const sg_host* host, sg_call* call, const sg_event* event) {
    const uint32_t which = event->kind == SG_EV_READY ? SG_AFTER : 3;
    const uint32_t state = event->kind == SG_EV_READY ? SG_CONTENT_ABSENT : SG_CONTENT_UNSUPPORTED;
    EXPECT_EQ(content_of(host, call, event, which).state, state);
    return sg_status{SG_OK};
  };
  add(fake, "h", {SG_EV_ALL});
  start(source_.function());
  append("", EventKind::ready);
  append("a");
  EXPECT_EQ(drain().late.events, 0u);
  EXPECT_TRUE(source_.asked.empty());
}

TEST_F(Services, Content_OlderPlugin_GetsNoMoreThanItHasRoomFor) {
  deliver(
      [](const sg_host* host, sg_call* call, const sg_event* event) {
        sg_content small{};
        small.struct_size = offsetof(sg_content, full_size);
        small.full_size = 4711;
        service_of(host).content(host, call, event, SG_DIFF, &small);
        EXPECT_EQ(text_of(small.data), "patch of a");
        EXPECT_EQ(small.full_size, 4711u);
        return sg_status{SG_OK};
      },
      {"a"});
}

TEST_F(Services, Content_OneHugeEvent_IsNeverRefused) {
  source_.answer = [](const Event&, git::Which) { return piece_of(std::string(20 << 20, 'x')); };
  deliver(
      [](const sg_host* host, sg_call* call, const sg_event* event) {
        for (uint32_t which : {SG_BEFORE, SG_AFTER, SG_DIFF})
          EXPECT_EQ(content_of(host, call, event, which).data.len, size_t{20} << 20);
        return sg_status{SG_OK};
      },
      {"a"});
}

TEST_F(Services, Content_OfEventsAPluginKeeps_IsBounded_AndRoomComesBack) {
  source_.answer = [](const Event&, git::Which) { return piece_of(std::string(10 << 20, 'x')); };
  std::vector<const sg_event*> kept;
  deliver(
      [&](const sg_host* host, sg_call* call, const sg_event* event) {
        service_of(host).retain(host, event);
        kept.push_back(event);
        const sg_content got = content_of(host, call, event, SG_AFTER);
        EXPECT_EQ(got.full_size, size_t{10} << 20);
        if (kept.size() <= 3) {
          EXPECT_EQ(got.state, static_cast<uint32_t>(SG_CONTENT_HERE));
        } else if (kept.size() == 4) {  // 30 MiB are held
          EXPECT_EQ(got.state, static_cast<uint32_t>(SG_CONTENT_TOO_LARGE));
          EXPECT_EQ(got.data.len, 0u);
          service_of(host).release(host, kept[0]);
          EXPECT_EQ(content_of(host, call, event, SG_AFTER).state,
                    static_cast<uint32_t>(SG_CONTENT_HERE));
        }
        return sg_status{SG_OK};
      },
      {"a", "b", "c", "d"});
  ASSERT_EQ(kept.size(), 4u);
  for (size_t i = 1; i < 4; i++) EXPECT_EQ(kept[i]->seq, i + 1);
  const auto services = event_services(*journal_);
  for (size_t i = 1; i < 4; i++) services.release(kept[i]);
}

// Where a batch's content does not fit, the next events come one at a time and get all of theirs.
TEST_F(Services, Content_BatchThatDoesNotFit_IsFollowedBySingles) {
  source_.answer = [](const Event&, git::Which) { return piece_of(std::string(12 << 20, 'x')); };
  FakeHook& fake = hook();
  testing::Gate gate;
  int refused = 0;
  fake.on_batch = [&](const sg_host* host, sg_call* call, const sg_event* const* events,
                      size_t count, size_t* accepted) {
    if (events[0]->seq == 1) gate.pass();
    for (size_t i = 0; i < count; i++)
      refused += content_of(host, call, events[i], SG_AFTER).state == SG_CONTENT_TOO_LARGE;
    *accepted = count;
    return sg_status{SG_OK};
  };
  fake.on_event = [&](const sg_host* host, sg_call* call, const sg_event* event) {
    EXPECT_EQ(content_of(host, call, event, SG_AFTER).state,
              static_cast<uint32_t>(SG_CONTENT_HERE));
    return sg_status{SG_OK};
  };
  add(fake, "h");
  start(source_.function());
  append("first");
  ASSERT_TRUE(journal_->sync(10'000));
  testing::append_many(*journal_, 70);
  ASSERT_TRUE(journal_->sync(10'000));
  gate.open();
  EXPECT_EQ(drain().late.events, 0u);
  EXPECT_GT(refused, 0);
  EXPECT_GT(fake.seen().size(), 0u);
}

struct Sink : sg_out {
  std::string bytes;
  Sink() : sg_out{} {
    struct_size = sizeof(sg_out);
    append = [](sg_out* out, const void* data, size_t len) -> sg_status {
      static_cast<Sink*>(out)->bytes.append(static_cast<const char*>(data), len);
      return SG_OK;
    };
  }
};

TEST_F(Services, Stream_AppendsWithoutRemembering_AndNeverHalf) {
  source_.answer = [](const Event& event, git::Which which) {
    git::Piece piece = piece_of("bytes");
    if (event.path == "cut") piece.state = git::PieceState::too_large;
    if (event.path == "gone" || which == git::Which::before) piece = git::Piece{};
    return piece;
  };
  deliver(
      [](const sg_host* host, sg_call* call, const sg_event* event) {
        const std::string path = text_of(event->relative);
        for (int i = 0; i < 2; i++) {
          Sink sink;
          const sg_status status = service_of(host).stream(host, call, event, SG_AFTER, &sink);
          EXPECT_EQ(status, path == "cut"    ? SG_E_UNSUPPORTED
                            : path == "gone" ? SG_E_NOT_FOUND
                                             : SG_OK);
          EXPECT_EQ(sink.bytes, path == "whole" ? "bytes" : "");
        }
        return sg_status{SG_OK};
      },
      {"whole", "cut", "gone"});
  EXPECT_EQ(source_.asked["whole 1"], 2);
}

TEST_F(Services, CancelledCall_ReadsNothingMore) {
  FakeHook& fake = hook();
  fake.on_event = [](const sg_host* host, sg_call* call, const sg_event* event) {
    EXPECT_NE(host->wait(host, call, -1, 0, 60'000), SG_OK);
    while (!host->cancelled(host, call)) {
    }
    pollfd fd{call->cancel_fd, POLLIN, 0};
    EXPECT_EQ(::poll(&fd, 1, 10'000), 1);
    EXPECT_EQ(content_of(host, call, event, SG_DIFF).state,
              static_cast<uint32_t>(SG_CONTENT_FAULT));
    Sink sink;
    EXPECT_EQ(service_of(host).stream(host, call, event, SG_DIFF, &sink), SG_E_CANCELLED);
    return sg_status{SG_OK};
  };
  add(fake, "h", {SG_EV_FILES}, 50 * testing::kMs);
  start(source_.function());
  append("a");
  EXPECT_EQ(drain().late.events, 0u);
  EXPECT_TRUE(source_.asked.empty());
}

TEST_F(Services, KeptEvent_OutlivesItsCall_ItsDispatcherAndItsJournal) {
  const sg_event* kept = nullptr;
  FakeHook& fake = hook();
  fake.on_event = [&](const sg_host* host, sg_call* call, const sg_event* event) {
    if (event->seq != 1) return sg_status{SG_OK};
    service_of(host).retain(host, event);
    content_of(host, call, event, SG_DIFF);
    kept = event;
    return sg_status{SG_OK};
  };
  add(fake, "h");
  start(source_.function());
  append("a");
  append("b");
  drain();
  dispatcher_.reset();
  const auto services = event_services(*journal_);
  journal_.reset();
  ASSERT_NE(kept, nullptr);
  EXPECT_EQ(text_of(kept->id), "box-1/1");
  EXPECT_EQ(text_of(kept->path), "/workspace/a");
  services.release(kept);
}

TEST_F(Services, Emit_BecomesAnEventOfTheJournal_OnOneLine) {
  deliver(
      [](const sg_host* host, sg_call*, const sg_event* event) {
        EXPECT_EQ(service_of(host).emit(host, event->sandbox_id, str("acme.note"),
                                        str("{\r\n \"a\": \"x\\ny\"\n}")),
                  SG_OK);
        return sg_status{SG_OK};
      },
      {"a"});
  ASSERT_TRUE(journal_->sync(10'000));
  const auto events = read_journal(dir_ / "j.db", 1, 10);
  ASSERT_EQ(events->size(), 1u);
  EXPECT_EQ(events->front().kind, EventKind::custom);
  EXPECT_EQ(events->front().topic, "acme.note");
  EXPECT_EQ(events->front().json, "{   \"a\": \"x\\ny\" }");
  EXPECT_EQ(events->front().actor.kind, ActorKind::hook);
  EXPECT_GT(events->front().time_ns, 0);
}

TEST_F(Services, Emit_WhatIsNoJsonOrNotItsOwn_IsRefused) {
  const std::string deep = std::string(65, '[') + std::string(65, ']');
  const std::string shallow = std::string(64, '[') + std::string(64, ']');
  const std::string long_json = "\"" + std::string(64 << 10, 'x') + "\"";
  deliver(
      [&](const sg_host* host, sg_call*, const sg_event* event) {
        auto emit = [&](std::string_view topic, std::string_view json) {
          return service_of(host).emit(host, event->sandbox_id, str(topic), str(json));
        };
        EXPECT_EQ(emit("acme.note", shallow), SG_OK);
        EXPECT_EQ(emit("acme.note", "{\"a\":"), SG_E_INVALID);
        EXPECT_EQ(emit("acme.note", ""), SG_E_INVALID);
        EXPECT_EQ(emit("acme.note", "\"\xff\""), SG_E_INVALID);
        EXPECT_EQ(emit("acme.note", deep), SG_E_INVALID);
        EXPECT_EQ(emit("acme.note", long_json), SG_E_INVALID);
        EXPECT_EQ(emit("", "1"), SG_E_INVALID);
        EXPECT_EQ(emit("a\nb", "1"), SG_E_INVALID);
        EXPECT_EQ(emit(std::string(201, 'x'), "1"), SG_E_INVALID);
        EXPECT_EQ(emit("sandbox.file", "1"), SG_E_DENIED);
        EXPECT_EQ(service_of(host).emit(host, str("other"), str("acme.note"), str("1")),
                  SG_E_NOT_FOUND);
        return sg_status{SG_OK};
      },
      {"a"});
  ASSERT_TRUE(journal_->sync(10'000));
  EXPECT_EQ(journal_->last_seq(), 2u);
}

}  // namespace
}  // namespace sandglass
