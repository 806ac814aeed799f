#include "event/delivery.h"

#include <algorithm>
#include <cstring>

#include "base/hash.h"

namespace sandglass {
namespace {

sg_str str(const std::string& text) { return {text.c_str(), text.size()}; }
sg_bytes bytes(const std::string& text) { return {reinterpret_cast<const uint8_t*>(text.c_str()), text.size()}; }

}  // namespace

Delivery* Delivery::make(const Origin& origin, EventPtr event, const ContentSource& content) {
  return new Delivery(origin, std::move(event), content);
}

Delivery::Delivery(const Origin& origin, EventPtr event, const ContentSource& content)
    : event_(std::move(event)), content_(content), id_(origin.sandbox_id + "/" + std::to_string(event_->seq)),
      sandbox_id_(origin.sandbox_id), path_(is_file(event_->kind) ? absolute_path(origin, *event_) : "") {
  abi_.struct_size = sizeof abi_;
  abi_.kind = static_cast<uint32_t>(event_->kind);
  abi_.flags = event_->flags;
  abi_.seq = event_->seq;
  abi_.time_ns = event_->time_ns;
  abi_.id = str(id_);
  abi_.sandbox_id = str(sandbox_id_);
  abi_.run_id = str(event_->run_id);
  abi_.path = bytes(path_);
  abi_.relative = bytes(event_->path);
  abi_.topic = str(event_->topic);
  abi_.json = str(event_->json);
  abi_.actor = str(event_->actor.command);
  abi_.actor_pid = event_->actor.pid;
  abi_.actor_state = static_cast<uint32_t>(event_->actor.kind);
}

void Delivery::release() {
  if (--references_ == 0) delete this;
}

const Delivery::Remembered& Delivery::remembered(uint32_t which) {
  const bool for_export = which & SG_FOR_EXPORT;
  const uint32_t plain = which & ~uint32_t{SG_FOR_EXPORT};
  std::lock_guard lock(mutex_);
  auto& slot = pieces_[plain + (for_export ? 3u : 0u)];
  if (slot) return *slot;
  Remembered made;
  if (is_file(event_->kind) && content_)
    made.piece = content_(*event_, static_cast<git::Which>(plain), for_export);
  const bool whole = made.piece.state == git::PieceState::here && made.piece.bytes.size() == made.piece.full_size;
  if (whole) made.sha256 = sha256_hex(made.piece.bytes);
  if (event_->flags & event_replay && plain != SG_BEFORE) made.piece.flags |= git::piece_late;
  return slot.emplace(std::move(made));
}

void Delivery::content(uint32_t which, sg_content* out) {
  const uint32_t size = std::min<uint32_t>(out->struct_size, sizeof(sg_content));
  sg_content full{};
  full.struct_size = out->struct_size;
  if ((which & ~uint32_t{SG_FOR_EXPORT}) > SG_DIFF) {
    full.state = SG_CONTENT_FAULT;
  } else {
    const Remembered& got = remembered(which);
    full.state = static_cast<uint32_t>(got.piece.state);
    full.flags = got.piece.flags;
    full.mode = got.piece.mode;
    full.data = bytes(got.piece.bytes);
    full.full_size = got.piece.full_size;
    full.sha256 = str(got.sha256);
  }
  std::memcpy(out, &full, size);
}

}  // namespace sandglass
