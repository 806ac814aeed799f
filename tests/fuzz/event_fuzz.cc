// Whatever stands in the columns of a journal's row, the event goes out as one line of valid JSON.
#include "event/details.h"
#include "lines.h"

using namespace sandglass;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Bytes bytes(data, size);
  Event event;
  event.kind = static_cast<EventKind>(bytes.byte() % 16);
  event.actor.kind = static_cast<ActorKind>(bytes.byte() % 8);
  event.flags = bytes.byte();
  event.seq = bytes.number();
  event.time_ns = static_cast<int64_t>(bytes.number());
  event.actor.pid = bytes.byte() - 1;
  event.run_id = bytes.text();
  event.path = bytes.text();
  event.topic = bytes.text();
  event.actor.command = bytes.text();
  const std::string patch(bytes.text());
  event.json = details_from_file(std::string(bytes.rest()));
  fuzz::require_lines(event, patch);
  return 0;
}
