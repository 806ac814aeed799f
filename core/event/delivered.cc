#include "event/delivered.h"

#include <poll.h>

#include "base/fd.h"
#include "base/hash.h"

namespace sandglass {
namespace {

sg_str str(const std::string& text) {
  return {text.c_str(), text.size()};
}
sg_bytes bytes(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.c_str()), text.size()};
}

bool cancelled(const sg_call* call) {
  return call && call->cancel_fd >= 0 && wait_fd(call->cancel_fd, POLLIN, 0);
}

bool known(uint32_t which) {
  return (which & ~uint32_t{SG_FOR_EXPORT}) <= SG_DIFF;
}

size_t slot_of(uint32_t which) {
  return (which & ~uint32_t{SG_FOR_EXPORT}) + (which & SG_FOR_EXPORT ? 3 : 0);
}

git::Piece empty_piece(git::PieceState state) {
  git::Piece piece;
  piece.state = state;
  return piece;
}

bool whole(const git::Piece& piece) {
  return piece.state == git::PieceState::here && piece.bytes.size() == piece.full_size;
}

void show(const git::Piece& piece, sg_content* out) {
  out->state = static_cast<uint32_t>(piece.state);
  out->flags = piece.flags;
  out->mode = piece.mode;
  out->full_size = piece.full_size;
}

sg_status status_of(const git::Piece& piece) {
  switch (piece.state) {
    case git::PieceState::here:
    case git::PieceState::same:
      return SG_OK;
    case git::PieceState::absent:
    case git::PieceState::no_baseline:
    case git::PieceState::gone:
      return SG_E_NOT_FOUND;
    case git::PieceState::ignored:
    case git::PieceState::redacted:
      return SG_E_DENIED;
    case git::PieceState::too_large:
    case git::PieceState::unsupported:
      return SG_E_UNSUPPORTED;
    case git::PieceState::fault:
      break;
  }
  return SG_E_FAILED;
}

}  // namespace

std::optional<git::Piece> ContentDesk::read(const Event& event, git::Which which,
                                            bool for_export) const {
  if (!source_ || closed_) return std::nullopt;
  return source_(event, which, for_export);
}

bool ContentDesk::take(size_t bytes, size_t own) {
  size_t used = used_;
  do {
    if (used > own && used + bytes > kBudget) {
      tight_ = true;
      return false;
    }
  } while (!used_.compare_exchange_weak(used, used + bytes));
  return true;
}

DeliveredEvent* DeliveredEvent::make(const Origin& origin, EventPtr event,
                                     std::shared_ptr<ContentDesk> desk) {
  return new DeliveredEvent(origin, std::move(event), std::move(desk));
}

DeliveredEvent::DeliveredEvent(const Origin& origin, EventPtr event,
                               std::shared_ptr<ContentDesk> desk)
    : sg_event{},
      event_(std::move(event)),
      desk_(std::move(desk)),
      id_(origin.sandbox_id + "/" + std::to_string(event_->seq)),
      sandbox_id_(origin.sandbox_id),
      path_(is_file(event_->kind) ? absolute_path(origin, *event_) : "") {
  struct_size = sizeof(sg_event);
  kind = static_cast<uint32_t>(event_->kind);
  flags = event_->flags;
  seq = event_->seq;
  time_ns = event_->time_ns;
  id = str(id_);
  sandbox_id = str(sandbox_id_);
  run_id = str(event_->run_id);
  path = bytes(path_);
  relative = bytes(event_->path);
  topic = str(event_->topic);
  json = str(event_->json);
  actor = str(event_->actor.command);
  actor_pid = event_->actor.pid;
  actor_state = static_cast<uint32_t>(event_->actor.kind);
}

DeliveredEvent::~DeliveredEvent() {
  desk_->give_back(held_);
}

void DeliveredEvent::release() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

git::Piece DeliveredEvent::read(const sg_call* call, uint32_t which) const {
  if (!is_file(event_->kind)) return empty_piece(git::PieceState::absent);
  if (!known(which)) return empty_piece(git::PieceState::unsupported);
  if (cancelled(call)) return empty_piece(git::PieceState::fault);  // the lane says so
  const auto plain = static_cast<git::Which>(which & ~uint32_t{SG_FOR_EXPORT});
  auto piece = desk_->read(*event_, plain, which & SG_FOR_EXPORT);
  if (!piece) return empty_piece(git::PieceState::unsupported);
  if (flags & SG_EVF_REPLAY && plain != git::Which::before) piece->flags |= git::piece_late;
  return std::move(*piece);
}

void DeliveredEvent::content(const sg_call* call, uint32_t which, sg_content* out) {
  const uint32_t size = out->struct_size;
  *out = {};
  out->struct_size = size;
  std::lock_guard lock(mutex_);
  const bool may_keep = is_file(event_->kind) && known(which);
  auto* slot = may_keep ? &kept_[slot_of(which)] : nullptr;
  if (!slot || !*slot) {
    git::Piece piece = read(call, which);
    show(piece, out);
    if (!slot || piece.state == git::PieceState::fault) return;
    if (!desk_->take(piece.bytes.size(), held_)) {
      out->state = SG_CONTENT_TOO_LARGE;
      return;
    }
    held_ += piece.bytes.size();
    std::string sha256 = whole(piece) ? sha256_hex(piece.bytes) : "";
    slot->emplace(Remembered{std::move(piece), std::move(sha256)});
  }
  show((*slot)->piece, out);
  out->data = bytes((*slot)->piece.bytes);
  out->sha256 = str((*slot)->sha256);
}

sg_status DeliveredEvent::stream(const sg_call* call, uint32_t which, sg_out* out) {
  if (cancelled(call)) return SG_E_CANCELLED;
  git::Piece read_now;
  const git::Piece* piece = &read_now;
  std::lock_guard lock(mutex_);
  if (known(which) && kept_[slot_of(which)])
    piece = &kept_[slot_of(which)]->piece;
  else
    read_now = read(call, which);
  const sg_status status = status_of(*piece);
  if (status != SG_OK || piece->bytes.empty()) return status;
  return out->append(out, piece->bytes.data(), piece->bytes.size());
}

}  // namespace sandglass
