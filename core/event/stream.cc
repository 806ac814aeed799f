#include "event/stream.h"

#include <utility>

#include "base/json.h"
#include "base/text.h"

namespace sandglass::stream {
namespace {

int64_t ms(int64_t ns) {
  return ns / 1'000'000;
}

JsonWriter begin_custom(std::string_view name) {
  JsonWriter w;
  w.open('{').key("type").value("CUSTOM").key("name").value(name).key("value");
  return w;
}

std::string end_line(JsonWriter& w, int64_t time_ns) {
  w.key("timestamp").value(ms(time_ns)).close('}');
  return w.take();
}

void put_path(JsonWriter& w, const std::string& path) {
  w.key("path").value(utf8_or_escaped(path));
  if (!is_utf8(path)) w.key("path_b64").value(base64(path));
}

void put_actor(JsonWriter& w, const Event& event) {
  const Actor& actor = event.actor;
  if (actor.kind == ActorKind::unknown && actor.pid == 0) return;
  w.key("actor").open('{').key("kind").value(name_of(actor.kind));
  if (actor.pid) w.key("pid").value(int64_t{actor.pid});
  if (!actor.command.empty()) w.key("command").value(utf8_or_escaped(actor.command));
  if (actor.kind == ActorKind::run && !event.run_id.empty()) w.key("run").value(event.run_id);
  if (actor.kind == ActorKind::unattributed && !event.json.empty())
    w.key("candidates").raw(event.json);
  w.close('}');
}

void put_file(JsonWriter& w, const Origin& origin, const Event& event) {
  w.open('{').key("type").value(name_of(event.kind));
  put_path(w, absolute_path(origin, event));
  w.key("timestamp").value(ms(event.time_ns)).key("seq").value(event.seq);
  if (!event.run_id.empty()) w.key("runId").value(event.run_id);
  put_actor(w, event);
  if (event.seen_ns) w.key("seenNs").value(event.seen_ns);
  if (event.flags & event_symlink) w.key("symlink").value(true);
  if (event.flags & event_meta_only) w.key("metaOnly").value(true);
  if (event.flags & event_replay) w.key("replay").value(true);
  w.close('}');
}

// The event's own details with its seq in front (rule E2); what is no object goes below `details`.
void put_details(JsonWriter& w, const Event& event) {
  const std::string_view json = event.json;
  w.open('{').key("seq").value(event.seq);
  if (json.starts_with('{')) {
    const std::string_view inside = json.substr(1, json.size() - 2);
    if (inside.find_first_not_of(" \t") != inside.npos) w.raw(inside);
  } else if (!json.empty()) {
    w.key("details").raw(json);
  }
  w.close('}');
}

void put_run(JsonWriter& w, std::string_view type, const RunInfo& run) {
  w.open('{')
      .key("type")
      .value(type)
      .key("threadId")
      .value(run.thread_id)
      .key("runId")
      .value(run.run_id);
}

}  // namespace

std::string custom(const Origin& origin, const Event& event) {
  JsonWriter w = begin_custom(event.topic);
  if (is_file(event.kind))
    put_file(w, origin, event);
  else
    put_details(w, event);
  return end_line(w, event.time_ns);
}

std::string reset(uint64_t oldest, int64_t time_ns) {
  JsonWriter w = begin_custom("sandbox.reset");
  w.open('{').key("oldest").value(oldest).close('}');
  return end_line(w, time_ns);
}

std::string diff(const Origin& origin, const Event& event, std::string_view patch) {
  JsonWriter w = begin_custom("sandbox.file.diff");
  w.open('{');
  put_path(w, absolute_path(origin, event));
  w.key("diff").value(patch);
  if (!is_utf8(patch)) w.key("diff_b64").value(base64(patch));
  w.key("seq").value(event.seq).close('}');
  return end_line(w, event.time_ns);
}

std::string run_started(const RunInfo& run, int64_t time_ns) {
  JsonWriter w;
  put_run(w, "RUN_STARTED", run);
  return end_line(w, time_ns);
}

std::string run_finished(const RunInfo& run, std::string_view outcome, int exit_code,
                         std::string_view signal, int64_t time_ns) {
  JsonWriter w;
  put_run(w, "RUN_FINISHED", run);
  const bool timed_out = outcome == "timeout";
  w.key("outcome").open('{').key("type").value(timed_out ? "cancelled" : outcome).close('}');
  w.key("result").open('{').key("exitCode").value(exit_code);
  if (!signal.empty()) w.key("signal").value(signal);
  if (timed_out) w.key("timedOut").value(true);
  w.close('}');
  return end_line(w, time_ns);
}

std::string run_error(const RunInfo&, std::string_view kind, std::string_view text,
                      int64_t time_ns) {
  JsonWriter w;
  w.open('{').key("type").value("RUN_ERROR").key("message").value(text).key("code").value(kind);
  return end_line(w, time_ns);
}

std::string output(int number, std::string_view bytes, int64_t time_ns) {
  JsonWriter w = begin_custom("sandbox.output");
  w.open('{').key("stream").value(number == 2 ? "stderr" : "stdout").key("text").value(bytes);
  if (!is_utf8(bytes)) w.key("b64").value(base64(bytes));
  w.close('}');
  return end_line(w, time_ns);
}

// How many bytes at the end may be the beginning of a character.
static size_t cut_tail(std::string_view s) {
  for (size_t back = 1; back <= 3 && back <= s.size(); back++) {
    const auto c = static_cast<unsigned char>(s[s.size() - back]);
    if ((c & 0xc0) == 0x80) continue;
    const size_t needs = c >= 0xf0 && c <= 0xf4  ? 4
                         : c >= 0xe0 && c < 0xf0 ? 3
                         : c >= 0xc2 && c < 0xe0 ? 2
                                                 : 1;
    return needs > back ? back : 0;
  }
  return 0;
}

std::string Utf8Joiner::push(std::string_view bytes) {
  kept_.append(bytes);
  const size_t tail = cut_tail(kept_);
  std::string whole = kept_.substr(0, kept_.size() - tail);
  kept_.erase(0, whole.size());
  return whole;
}

std::string Utf8Joiner::finish() {
  return std::exchange(kept_, {});
}

}  // namespace sandglass::stream
