// A journal file of any bytes is read or refused; each event that comes out of it is one line of
// valid JSON.
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "event/journal.h"
#include "lines.h"
#include "support/temp_dir.h"

using namespace sandglass;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const testing::TempDir dir;
  static const std::string file = dir / "journal.db";
  for (const char* end : {"-wal", "-shm", "-journal"}) ::unlink((file + end).c_str());
  {
    const Fd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!fd || !write_all(fd.get(), {reinterpret_cast<const char*>(data), size})) return 0;
  }
  const auto events = read_journal(file, 0, 1000);
  if (events) {
    fuzz::require(events->size() <= 1000, "no more than asked for");
    uint64_t last = 0;
    for (const Event& event : *events) {
      fuzz::require(event.seq > last, "in order");
      last = event.seq;
      fuzz::require_lines(event, event.json);
    }
  } else {
    fuzz::require(!events.error().text.empty(), "a refusal says why");
  }
  (void)summarize_journal(file);
  return 0;
}
