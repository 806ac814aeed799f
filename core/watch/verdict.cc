#include "watch/verdict.h"

#include <sandglass/plugin.h>

namespace sandglass::watch {

template <class T>
static bool differ(T a, T b) {
  return a && b && a != b;  // 0 is "could not tell"
}

Verdict verdict_of(const Node& before, const Seen& now, uint32_t flags, int64_t seen_ns) {
  if (differ(before.inode, now.inode) || before.size != now.size) return Verdict::change;
  // Away for a moment, and back as it was: whoever read it just then, being told of it, found
  // nothing.
  if ((flags & SG_HINTF_GONE) && before.told) return Verdict::change;
  const bool mtime = differ(before.mtime_ns, now.mtime_ns);
  const bool ctime = differ(before.ctime_ns, now.ctime_ns);
  const bool exec = now.type == Type::file && ((before.mode ^ now.mode) & 0100);

  if (flags & SG_HINTF_DATA) {
    if (mtime || ctime || exec) return Verdict::change;
    // The kernel tells of a write after it is done. One that was read before the last look is in
    // that look; a later one may be hidden by a coarse clock, or had set its times already when
    // the look came in the middle of it.
    const bool covered = seen_ns && seen_ns <= before.looked_ns;
    return covered ? Verdict::same : Verdict::change;
  }

  // A file with another name may have been written to through that, by a name that is gone by now.
  const bool alone = now.links <= 1 && !before.shared;
  const bool only_meta =
      alone && (flags & SG_HINTF_META) && !(flags & (SG_HINTF_BORN | SG_HINTF_GONE));
  if (exec) return only_meta || !mtime ? Verdict::meta : Verdict::change;
  if (mtime) {
    if (!only_meta) return Verdict::change;
    // touch sets both to now and alters nothing; any other time was set on purpose.
    return now.mtime_ns == now.ctime_ns ? Verdict::same : Verdict::meta;
  }
  // Explained by no chmod: written, then given its old time again. Where every hint came, a hard
  // link was made and removed.
  const bool unexplained = ctime && (flags & kUnhinted) && before.mode == now.mode;
  return unexplained ? Verdict::change : Verdict::same;
}

}  // namespace sandglass::watch
