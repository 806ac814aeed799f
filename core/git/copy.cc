#include "git/copy.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/fd.h"
#include "base/log.h"
#include "base/text.h"
#include "git/needed.h"
#include "git/pack_writer.h"

namespace sandglass::git {

namespace {

constexpr uint64_t kMostBlob = 100'000'000;     // a larger one stays a link
constexpr uint64_t kMostInAll = 4'000'000'000;  // of one pin
constexpr uint64_t kReserve = 256u << 20;       // left free, at most
constexpr uint64_t kBetweenLooks = 64u << 20;   // bytes from one look at the disk to the next

class Copying {
 public:
  Copying(const std::string& folder, bool linked, const std::function<bool()>& stop)
      : folder_(folder),
        linked_(linked),
        stop_(stop),
        room_(std::min(room_for(folder), kMostInAll)) {}

  // False when it ended before its end; why_ then says why, or is empty where it was told to.
  bool all(const std::vector<CopySource>& sources) {
    auto made = PackWriter::create(folder_ + "/objects/pack", "pack-copy");
    if (!made) return why_ = made.error().text, false;
    pack_ = std::move(*made);
    for (const CopySource& source : sources) {
      each_needed(*source.snapshot, source.prefix, [&](const Oid& id, ObjectType type) {
        return copy(source.snapshot->objects(), id, type);
      });
      if (stopped_) return false;
    }
    if (pack_->count() == 0) return true;
    if (Status done = pack_->finish(true); !done) return why_ = done.error().text, false;
    return true;
  }

  const std::string& why() const { return why_; }
  uint64_t large() const { return large_; }
  uint64_t lost() const { return lost_; }

 private:
  bool copy(Objects& objects, const Oid& id, ObjectType type) {
    if (stop_()) return stopped_ = true, false;
    if (pack_->has(id)) return true;
    const Result<ObjectPtr> got = objects.read(id, kMostBlob);
    if (!got) {  // a clone may do without some blobs; links would have kept those that were there
      lost_ += got.error().fault != Fault::not_found || !linked_ || type != ObjectType::blob;
      return true;
    }
    if (!(*got)->whole()) return large_++, true;
    if ((*got)->type != type) return lost_++, true;
    if (pack_->bytes() + (*got)->bytes.size() > room_) return end("the disk is nearly full");
    if (pack_->bytes() > looked_at_ + kBetweenLooks) {
      looked_at_ = pack_->bytes();
      room_ = std::min(looked_at_ + room_for(folder_), kMostInAll);
    }
    if (Status added = pack_->add(type, (*got)->bytes, id); !added) return end(added.error().text);
    return true;
  }

  bool end(std::string why) {
    if (room_ >= kMostInAll) why = "the baseline is larger than 4 GB";
    why_ = std::move(why);
    stopped_ = true;
    return false;
  }

  const std::string& folder_;
  const bool linked_;
  const std::function<bool()>& stop_;
  uint64_t room_, looked_at_ = 0, large_ = 0, lost_ = 0;
  std::unique_ptr<PackWriter> pack_;
  std::string why_;
  bool stopped_ = false;
};

// The files at ready were written without waiting for the disk.
void sync_directory_of(const std::string& folder) {
  for (const char* name : {"/pack-ready.pack", "/pack-ready.idx", ""}) {
    const Fd fd(::open((folder + name).c_str(), O_RDONLY | O_CLOEXEC));
    if (fd) ::fsync(fd.get());
  }
}

}  // namespace

uint64_t room_for(const std::string& folder) {
  struct statvfs fs;
  if (::statvfs(folder.c_str(), &fs) < 0) return 0;
  const uint64_t unit = fs.f_frsize, free = fs.f_bavail * unit;
  const uint64_t reserve = std::min(kReserve, fs.f_blocks * unit / 20);
  return free > reserve ? free - reserve : 0;
}

void copy_objects(const std::string& folder, const std::vector<CopySource>& sources,
                  const std::function<bool()>& stop) {
  const bool linked = pin_state(folder).word == PinWord::linked;
  Copying copying(folder, linked, stop);
  const bool copied = copying.all(sources);
  sync_directory_of(folder + "/objects/pack");
  if (!copied && copying.why().empty()) return;
  PinState state;
  if (!copied) {
    state = {linked ? PinWord::linked : PinWord::partial, "not copied: " + copying.why()};
  } else if (copying.lost() > 0) {
    state = {PinWord::partial,
             std::to_string(copying.lost()) + " objects of the repository are damaged or missing"};
  } else if (copying.large() > 0) {
    state = {PinWord::partial, std::to_string(copying.large()) + " files above 100 MB are " +
                                   (linked ? "linked, not copied" : "not copied")};
  } else {
    state.word = PinWord::copied;
  }
  if (!state.why.empty()) log::warn("baseline: " + state.why);
  write_pin_state(folder, state);
  if (state.word != PinWord::copied) return;
  std::error_code code;
  std::filesystem::remove_all(folder + "/links", code);
}

}  // namespace sandglass::git
