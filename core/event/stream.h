// Events in AG-UI form (rules S1, S2, S4): one JSON object without a line end. Checked against the
// AG-UI specification 1.0 (events/lifecycle, schema.json); timestamps are milliseconds since 1970.
#pragma once

#include <string>
#include <string_view>

#include "event/event.h"

namespace sandglass::stream {

// {"type":"CUSTOM","name":"sandbox.file","value":{"type","path","timestamp","seq",...},"timestamp"}
// value gains path_b64 when the path is not UTF-8, runId and actor where known, seenNs
// (CLOCK_MONOTONIC) where known, metaOnly, symlink and replay when set. Lifecycle and custom
// events: name is the topic, value their json with the seq in front.
std::string custom(const Origin& origin, const Event& event);
// sandbox.file.diff, value {path, diff, seq}; to follow its sandbox.file at once. A patch that is
// not UTF-8 is shown with U+FFFD in diff and exactly in diff_b64.
std::string diff(const Origin& origin, const Event& event, std::string_view patch);
// sandbox.reset, value {oldest}: events before it are no longer kept (rule S3).
std::string reset(uint64_t oldest, int64_t time_ns);

struct RunInfo {
  std::string run_id, thread_id;
};
std::string run_started(const RunInfo& run, int64_t time_ns);
// outcome is "success" | "cancelled" | "timeout"; a non-zero exit code is a finished run. AG-UI
// closes the set of outcomes and calls a run that a limit has stopped cancelled: a timeout is
// {"type":"cancelled"} with "timedOut":true in result.
std::string run_finished(const RunInfo& run, std::string_view outcome, int exit_code,
                         std::string_view signal, int64_t time_ns);
// code is the kind, message the text. AG-UI gives this event no ids: it ends the run that is open,
// or stands alone where none could start. `run` says whose it is, for the reader of the call.
std::string run_error(const RunInfo& run, std::string_view kind, std::string_view text,
                      int64_t time_ns);
// CUSTOM sandbox.output, value {stream:"stdout"|"stderr", text, b64?}. `text` must be cut on
// character borders by the caller (Utf8Joiner).
std::string output(int stream, std::string_view bytes, int64_t time_ns);

// Keeps the head of a character that a read has cut until its tail comes.
class Utf8Joiner {
 public:
  std::string push(std::string_view bytes);  // what is whole now
  std::string finish();                      // what is left, as it is

 private:
  std::string kept_;
};

}  // namespace sandglass::stream
