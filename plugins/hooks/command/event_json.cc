#include "event_json.h"

#include <array>
#include <nlohmann/json.hpp>

namespace {

using Json = nlohmann::ordered_json;

std::string base64(std::string_view s) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (size_t i = 0; i < s.size(); i += 3) {
    auto byte = [&](size_t k) -> uint32_t {
      return k < s.size() ? static_cast<unsigned char>(s[k]) : 0u;
    };
    const uint32_t v = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    out += kDigits[v >> 18 & 63];
    out += kDigits[v >> 12 & 63];
    out += i + 1 < s.size() ? kDigits[v >> 6 & 63] : '=';
    out += i + 2 < s.size() ? kDigits[v & 63] : '=';
  }
  return out;
}

bool is_utf8(std::string_view bytes) {
  try {
    (void)Json(std::string(bytes)).dump();
    return true;
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

void put_bytes(Json& to, const std::string& key, std::string_view bytes) {
  to[key] = bytes;
  if (!is_utf8(bytes)) to[key + "_b64"] = base64(bytes);
}

const char* state_name(uint32_t state) {
  static constexpr std::array<const char*, 10> kNames = {
      "here",     "absent",    "same", "no_baseline", "ignored",
      "redacted", "too_large", "gone", "unsupported", "fault"};
  return state < kNames.size() ? kNames[state] : "unknown";
}

Json content_json(const sandglass::Content& content) {
  Json out{{"state", state_name(content.state())}};
  if (is_utf8(content.text()))
    out["text"] = content.text();
  else
    out["b64"] = base64(content.text());
  return out;
}

Json actor_json(const sandglass::Event& event) {
  static constexpr std::array kNames{"unknown", "run", "hook", "host", "outside", "unattributed"};
  const uint32_t state = event.actor_state();
  Json out{{"kind", state < kNames.size() ? kNames[state] : "unknown"}};
  if (event.actor_pid()) out["pid"] = event.actor_pid();
  if (!event.actor().empty()) out["command"] = event.actor();
  if (state == SG_ACTOR_RUN && !event.run_id().empty()) out["run"] = event.run_id();
  if (state == SG_ACTOR_UNATTRIBUTED) out["candidates"] = Json::parse(event.json(), nullptr, false);
  return out;
}

}  // namespace

std::string event_json(const sandglass::Event& event, const std::vector<std::string>& include) {
  Json out;
  out["id"] = event.id();
  out["seq"] = event.seq();
  out["type"] = event.type();
  if (event.is_file()) {
    put_bytes(out, "path", event.path());
    put_bytes(out, "relative", event.relative());
  }
  out["timestamp"] = event.time_ns() / 1'000'000;
  out["sandbox"] = event.sandbox_id();
  if (!event.run_id().empty()) out["runId"] = event.run_id();
  if (event.flags() & SG_EVF_REPLAY) out["replay"] = true;
  if (event.actor_state() != SG_ACTOR_UNKNOWN || event.actor_pid())
    out["actor"] = actor_json(event);
  const bool has_details = event.actor_state() != SG_ACTOR_UNATTRIBUTED && !event.json().empty();
  if (has_details) out["details"] = Json::parse(event.json(), nullptr, false);
  if (event.is_file())
    for (const std::string& name : include)
      out[name] = content_json(name == "before"  ? event.before()
                               : name == "after" ? event.after()
                                                 : event.diff());
  return out.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}
