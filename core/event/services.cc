// What a hook instance is lent: the content of its events, and a voice on the sandbox's stream.
#include "base/clock.h"
#include "base/text.h"
#include "event/delivered.h"
#include "event/details.h"
#include "event/dispatch.h"

namespace sandglass {
namespace {

constexpr size_t kTopicCap = 200;
constexpr size_t kJsonCap = 64 << 10;  // of one custom event; the ring holds thousands
constexpr std::string_view kOwnTopics = "sandbox.";

sg_status check(std::string_view topic, std::string_view json) {
  if (topic.empty() || topic.size() > kTopicCap || shown(topic) != topic) return SG_E_INVALID;
  if (topic.starts_with(kOwnTopics)) return SG_E_DENIED;
  return json.size() <= kJsonCap && is_sound_json(json) ? SG_OK : SG_E_INVALID;
}

Event custom_event(std::string_view topic, std::string_view json) {
  Event event;
  event.kind = EventKind::custom;
  event.time_ns = wall_ns();
  event.topic = topic;
  event.json = on_one_line(json);
  event.actor.kind = ActorKind::hook;
  return event;
}

}  // namespace

plugin::HostServices event_services(Journal& journal) {
  plugin::HostServices services;
  services.content = [](sg_call* call, const sg_event* event, uint32_t which, sg_content* out) {
    DeliveredEvent::of(event).content(call, which, out);
  };
  services.stream = [](sg_call* call, const sg_event* event, uint32_t which, sg_out* out) {
    return DeliveredEvent::of(event).stream(call, which, out);
  };
  services.retain = [](const sg_event* event) { DeliveredEvent::of(event).retain(); };
  services.release = [](const sg_event* event) { DeliveredEvent::of(event).release(); };
  services.emit = [append = journal.outlet(), id = journal.origin().sandbox_id](
                      std::string_view sandbox_id, std::string_view topic, std::string_view json) {
    if (sandbox_id != id) return sg_status{SG_E_NOT_FOUND};
    const sg_status valid = check(topic, json);
    if (valid != SG_OK) return valid;
    return append(custom_event(topic, json)) ? sg_status{SG_OK} : sg_status{SG_E_BUSY};
  };
  return services;
}

}  // namespace sandglass
