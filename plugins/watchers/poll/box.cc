#include "box.h"

#include <algorithm>

namespace poll {

using sandglass::bytes;
using sandglass::Error;
using sandglass::str;

namespace {

constexpr size_t kMostOut = size_t{1} << 30;  // some five million files
constexpr size_t kMostErr = size_t{1} << 20;
constexpr size_t kMostShown = 200;

struct Listener : sg_io {
  explicit Listener(Said& to) : sg_io{}, said(to) {
    struct_size = sizeof(sg_io);
    read_fd = -1;
    write = [](sg_io* io, int32_t stream, const void* data, size_t len) {
      return static_cast<Listener*>(io)->take(stream, {static_cast<const char*>(data), len});
    };
  }
  sg_status take(int32_t stream, std::string_view part) {
    if (stream == 1) {
      if (said.out.size() + part.size() > kMostOut) return SG_E_NO_MEMORY;
      said.out += part;
      return SG_OK;
    }
    const size_t room = kMostErr - said.err.size();
    said.cut |= part.size() > room;
    said.err += part.substr(0, room);
    return SG_OK;
  }
  Said& said;
};

}  // namespace

Box::Box(sandglass::Host host, sandglass::WatchTarget target)
    : host_(host),
      service_(host.service<sg_sandbox_service>(SG_SERVICE_SANDBOX)),
      sandbox_id_(target.sandbox_id()),
      root_(target.root()),
      where_(shown(target.local_root().empty() ? target.root() : target.local_root())),
      tag_("sandglass-poll") {
  if (!service_ || !service_->exec)
    throw Error(SG_E_UNSUPPORTED, "polling needs to run commands in the sandbox");
}

Said Box::run(sandglass::Call call, const Argv& argv) const {
  std::vector<sg_bytes> words;
  for (const std::string& word : argv) words.push_back(bytes(word));
  const sg_bytes locale = bytes("LC_ALL=C");
  sg_exec exec{};
  exec.struct_size = sizeof exec;
  exec.argv = words.data();
  exec.argc = words.size();
  exec.env = &locale;
  exec.envc = 1;
  exec.cwd = bytes(root_);
  exec.tag = str(tag_);
  Said said;
  Listener io(said);
  sg_exit end{};
  end.struct_size = sizeof end;
  const sg_status status =
      service_->exec(host_.abi(), call.abi(), str(sandbox_id_), &exec, &io, &end);
  if (status != SG_OK)
    throw Error(status, argv[0] + " could not be run in the sandbox (" +
                            (status == SG_E_LOST      ? "it is gone"
                             : status == SG_E_TIMEOUT ? "it took too long"
                                                      : "status " + std::to_string(status)) +
                            ")");
  said.how = end.how;
  said.value = end.value;
  return said;
}

std::string shown(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (const char ch : text) {
    const auto c = static_cast<unsigned char>(ch);
    if (c >= 0x20 && c < 0x7f)
      out += ch;
    else
      out += {'\\', 'x', kHex[c >> 4], kHex[c & 15]};
  }
  return out;
}

std::string last_words(const Said& said) {
  std::string_view text = said.err;
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  text.remove_prefix(text.size() - std::min(text.size(), kMostShown));
  if (!text.empty()) return shown(text);
  if (said.how == SG_EXIT_SIGNAL) return "ended by signal " + std::to_string(said.value);
  if (said.how == SG_EXIT_NOT_FOUND) return "no such program";
  return "exit " + std::to_string(said.value) + ", without a word";
}

}  // namespace poll
