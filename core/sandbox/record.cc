#include "sandbox/record.h"

#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"

namespace sandglass::sandbox {
namespace {

// Paths are bytes: hex keeps what JSON text cannot.
void put_bytes(JsonWriter& w, const char* key, const std::string& bytes) {
  w.key(key).value(hex(bytes));
}

std::string from_hex(const std::string& text) {
  std::string out;
  for (size_t i = 0; i + 1 < text.size(); i += 2)
    out += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
  return out;
}

git::Baseline baseline_of(const nlohmann::json& j) {
  auto baseline = git::Baseline::from_json(j.dump());
  if (!baseline) throw std::runtime_error(baseline.error().text);
  return std::move(*baseline);
}

InstanceRecord read(const nlohmann::json& j) {
  InstanceRecord r;
  r.id = j.at("id").get<std::string>();
  r.name = j.at("name").get<std::string>();
  r.key = j.value("key", "");
  r.workspace = from_hex(j.at("workspaceHex").get<std::string>());
  r.directory = from_hex(j.value("directoryHex", j.at("workspaceHex").get<std::string>()));
  r.root = j.at("root").get<std::string>();
  r.provider = j.at("provider").get<std::string>();
  r.provider_id = from_hex(j.at("providerIdHex").get<std::string>());
  r.watcher = j.at("watcher").get<std::string>();
  if (j.contains("watching")) r.watching = j.at("watching").dump();
  r.created_ns = j.at("createdNs").get<int64_t>();
  r.first_seq = j.value("firstSeq", uint64_t{1});
  r.baseline = baseline_of(j.at("baseline"));
  for (const auto& one : j.value("past", nlohmann::json::array()))
    r.past.push_back({one.at("firstSeq").get<uint64_t>(),
                      from_hex(one.at("workspaceHex").get<std::string>()),
                      baseline_of(one.at("baseline"))});
  r.redact = j.value("redact", std::vector<std::string>());
  r.binary_full = j.value("binaryFull", false);
  r.definition = j.value("definition", nlohmann::json::object()).dump();
  r.keep_alive_ns = j.value("keepAliveNs", int64_t{0});
  return r;
}

}  // namespace

std::string record_to_json(const InstanceRecord& r) {
  JsonWriter w;
  w.open('{').key("id").value(r.id).key("name").value(r.name).key("key").value(r.key);
  w.key("workspace").value(utf8_or_escaped(r.workspace));
  put_bytes(w, "workspaceHex", r.workspace);
  put_bytes(w, "directoryHex", r.directory);
  if (!r.watching.empty()) w.key("watching").raw(r.watching);
  w.key("root").value(r.root).key("provider").value(r.provider);
  put_bytes(w, "providerIdHex", r.provider_id);
  w.key("watcher").value(r.watcher).key("createdNs").value(r.created_ns);
  w.key("firstSeq").value(r.first_seq).key("baseline").raw(r.baseline.to_json());
  w.key("past").open('[');
  for (const PastBox& one : r.past) {
    w.open('{').key("firstSeq").value(one.first_seq);
    put_bytes(w, "workspaceHex", one.workspace);
    w.key("baseline").raw(one.baseline.to_json()).close('}');
  }
  w.close(']').key("redact").open('[');
  for (const std::string& pattern : r.redact) w.value(pattern);
  w.close(']').key("binaryFull").value(r.binary_full).key("definition").raw(r.definition.empty() ? "{}" : r.definition);
  w.key("keepAliveNs").value(r.keep_alive_ns).close('}');
  return w.take();
}

Result<InstanceRecord> record_from_json(const std::string& text) {
  try {
    return read(nlohmann::json::parse(text));
  } catch (const std::exception& e) {
    return fail(Fault::corrupt, e.what());
  }
}

}  // namespace sandglass::sandbox
