#include "sandbox/contents.h"

#include "base/log.h"

namespace sandglass::sandbox {

void Contents::add(uint64_t first_seq, git::Baseline baseline, std::string workspace) {
  std::lock_guard lock(mutex_);
  boxes_[first_seq] = {std::move(baseline), std::move(workspace), nullptr, nullptr, false};
}

std::shared_ptr<git::Content> Contents::open(Box& box) {
  if (box.content || box.failed) return box.content;
  auto opened = git::Content::open(box.baseline, box.workspace, options_);
  if (opened) {
    box.content = std::move(*opened);
  } else {
    box.failed = true;
    log::error("contents cannot be read: " + opened.error().text);
  }
  return box.content;
}

git::Piece Contents::get(const Event& event, git::Which which, bool for_export) {
  git::Piece none;
  none.state = git::PieceState::no_baseline;
  std::shared_ptr<git::Content> content;
  {
    std::lock_guard lock(mutex_);
    auto box = boxes_.upper_bound(event.seq);
    if (box == boxes_.begin()) return none;
    content = open((--box)->second);
    if (box->second.failed) none.state = git::PieceState::fault;
  }
  return content ? content->get(event.path, which, for_export) : none;
}

git::Content* Contents::newest() {
  std::lock_guard lock(mutex_);
  return boxes_.empty() ? nullptr : open(boxes_.rbegin()->second).get();
}

git::Content* Contents::newest_at_ready() {
  std::lock_guard lock(mutex_);
  if (boxes_.empty()) return nullptr;
  Box& box = boxes_.rbegin()->second;
  if (box.baseline.tree.empty()) return nullptr;
  if (box.baseline.snapshot) return open(box).get();
  if (box.at_ready) return box.at_ready.get();
  git::Baseline baseline = box.baseline;
  baseline.snapshot = true;
  if (auto opened = git::Content::open(baseline, box.workspace, options_))
    box.at_ready = std::move(*opened);
  return box.at_ready.get();
}

}  // namespace sandglass::sandbox
