#include "sandbox/store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/filesystem.hpp>
#include <cerrno>
#include <climits>
#include <cstdlib>

#include "base/below.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/text.h"
#include "sandbox/record.h"

namespace fs = boost::filesystem;

namespace sandglass::sandbox {
namespace {

constexpr char kSchema[] = "1";
constexpr int kHoldTries = 50;
constexpr unsigned kHoldPauseUs = 20'000;
constexpr uint64_t kRecordCap = 16 << 20;

std::string default_directory() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state && state[0] == '/') return std::string(state) + "/sandglass";
  const char* home = std::getenv("HOME");
  return std::string(home && *home ? home : "/tmp") + "/.local/state/sandglass";
}

Status make_private(const std::string& path) {
  boost::system::error_code code;
  fs::create_directories(fs::path(path).parent_path(), code);
  if (::mkdir(path.c_str(), 0700) < 0 && errno != EEXIST)
    return fail_errno(errno, "cannot make the state directory " + shown(path) +
                                 " (choose another with --state-dir)");
  struct stat st;
  if (::stat(path.c_str(), &st) < 0) return fail_errno(errno, "cannot stat " + shown(path));
  if (!S_ISDIR(st.st_mode)) return fail(Fault::invalid, shown(path) + " is not a directory");
  if (st.st_uid != ::geteuid())
    return fail(Fault::denied, "the state directory " + shown(path) +
                                   " belongs to another user; choose another with --state-dir");
  if ((st.st_mode & 077) && ::chmod(path.c_str(), 0700) < 0)
    return fail_errno(errno, "cannot make " + shown(path) + " private");
  return {};
}

// A file's bytes below a directory, written whole: a reader sees the old or the new, never a part.
Status write_file(const std::string& path, std::string_view bytes) {
  const std::string temporary = path + "." + random_hex(6);
  Fd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd) return fail_errno(errno, "cannot write " + shown(temporary));
  Status written = write_all(fd.get(), bytes);
  if (written && ::fsync(fd.get()) < 0) written = fail_errno(errno, "cannot sync " + shown(path));
  if (written && ::rename(temporary.c_str(), path.c_str()) < 0)
    written = fail_errno(errno, "cannot rename to " + shown(path));
  if (!written) ::unlink(temporary.c_str());
  return written;
}

Status check_schema(const std::string& directory) {
  const std::string file = directory + "/schema";
  auto root = Root::open(directory);
  if (!root) return tl::unexpected(root.error());
  auto have = root->read("schema", 64);
  if (!have && have.error().fault == Fault::not_found) return write_file(file, kSchema);
  if (!have) return tl::unexpected(have.error());
  std::string text = have->bytes;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  if (text == kSchema) return {};
  return fail(Fault::invalid, "the state directory " + shown(directory) + " has schema " +
                                  shown(text) + ", this sandglass knows " + kSchema +
                                  ": use the newer sandglass, or another --state-dir");
}

// The same for every process of this installation, so that a provider's list() tells our boxes from
// those of others on this machine.
Result<std::string> owner_of(const std::string& directory) {
  auto root = Root::open(directory);
  if (!root) return tl::unexpected(root.error());
  auto have = root->read("owner", 64);
  if (have) return have->bytes;
  if (have.error().fault != Fault::not_found) return tl::unexpected(have.error());
  const std::string fresh = random_hex(8);
  if (Status written = write_file(directory + "/owner", fresh); !written)
    return tl::unexpected(written.error());
  return fresh;
}

}  // namespace

Result<Store> Store::open(std::string directory) {
  if (directory.empty()) directory = default_directory();
  boost::system::error_code code;
  directory = fs::absolute(directory, code).string();
  for (const char* sub : {"", "/open", "/instances"}) {
    if (auto made = make_private(directory + sub); !made) return tl::unexpected(made.error());
    if (*sub == '\0')
      if (auto known = check_schema(directory); !known) return tl::unexpected(known.error());
  }
  auto owner = owner_of(directory);
  if (!owner) return tl::unexpected(owner.error());
  return Store(std::move(directory), std::move(*owner));
}

std::string Store::folder_of(const std::string& id) const {
  return directory_ + "/instances/" + id;
}
std::string Store::journal_file(const std::string& id) const {
  return folder_of(id) + "/journal.db";
}

std::string Store::pin_folder(const std::string& id, uint64_t first_seq) const {
  return folder_of(id) + "/pins/" + std::to_string(first_seq);
}

void Store::drop_pins(const std::string& id, const std::set<std::string>& but) const {
  boost::system::error_code code;
  std::vector<fs::path> old;
  for (fs::directory_iterator it(folder_of(id) + "/pins", code), end; !code && it != end;
       it.increment(code))
    if (!but.count(it->path().string())) old.push_back(it->path());
  for (const fs::path& path : old) {
    fs::remove_all(path, code);
    if (code) log::error("cannot remove " + shown(path.string()) + ": " + code.message());
  }
}

std::string Store::lock_of(const std::string& id) const {
  return directory_ + "/open/" + id;
}

// The lock, or an empty Fd where another process has it. One that was taken away between open and
// flock is opened anew.
static Result<Fd> try_lock(const std::string& path, int flags) {
  for (int attempt = 0; attempt < 16; attempt++) {
    Fd fd(::open(path.c_str(), flags | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd) return fail_errno(errno, "cannot open the lock " + shown(path));
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) < 0) return Fd();
    struct stat held, there;
    if (::fstat(fd.get(), &held) == 0 && ::stat(path.c_str(), &there) == 0 &&
        held.st_ino == there.st_ino && held.st_dev == there.st_dev)
      return fd;
  }
  return fail(Fault::busy, "the lock " + shown(path) + " is taken away again and again");
}

Result<HeldInstance> Store::hold(const std::string& id) const {
  HeldInstance held{id, folder_of(id), {}};
  auto lock = try_lock(lock_of(id), O_CREAT);
  // Who only looks whether it is held, or takes it away, has it for a moment.
  for (int i = 0; i < kHoldTries && lock && !*lock; i++) {
    ::usleep(kHoldPauseUs);
    lock = try_lock(lock_of(id), O_CREAT);
  }
  if (!lock) return tl::unexpected(lock.error());
  if (!*lock)
    return fail(Fault::busy,
                "sandbox " + shown(id) +
                    " is in use by another sandglass process: wait for its run to end, "
                    "or give this run a box of its own with --thread NAME (see "
                    "`sandglass status`)");
  held.lock = std::move(*lock);
  if (::mkdir(held.folder.c_str(), 0700) < 0 && errno != EEXIST)
    return fail_errno(errno, "cannot make " + shown(held.folder));
  return held;
}

Result<HeldInstance> Store::make_instance(const std::string& stem) const {
  for (int attempt = 0; attempt < 64; attempt++) {
    const std::string id = stem + "-" + random_hex(attempt < 32 ? 2 : 4);
    if (::access(folder_of(id).c_str(), F_OK) == 0) continue;
    auto lock = try_lock(lock_of(id), O_CREAT | O_EXCL);
    if (!lock && lock.error().fault == Fault::exists) continue;
    if (!lock) return tl::unexpected(lock.error());
    if (!*lock) continue;
    HeldInstance held{id, folder_of(id), std::move(*lock)};
    if (::mkdir(held.folder.c_str(), 0700) == 0) return held;
    if (errno != EEXIST) return fail_errno(errno, "cannot make " + shown(held.folder));
  }
  return fail(Fault::exists, "no free sandbox id below " + shown(directory_));
}

std::vector<std::string> Store::open_ids() const {
  std::vector<std::string> out;
  boost::system::error_code code;
  for (fs::directory_iterator it(directory_ + "/open", code), end; !code && it != end;
       it.increment(code))
    out.push_back(it->path().filename().string());
  std::sort(out.begin(), out.end());
  return out;
}

bool Store::owned(const std::string& id) const {
  Fd fd(::open(lock_of(id).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  return fd && ::flock(fd.get(), LOCK_SH | LOCK_NB) < 0;
}

void Store::let_go(HeldInstance held, bool done) const {
  if (done) ::unlink(lock_of(held.id).c_str());  // while it is locked
}

Status Store::remove(HeldInstance held) const {
  boost::system::error_code code;
  fs::remove_all(held.folder, code);
  if (code)
    return fail(Fault::failed, "cannot remove " + shown(held.folder) + ": " + code.message());
  let_go(std::move(held), true);
  return {};
}

Status Store::save(const HeldInstance& held, const InstanceRecord& record) const {
  return write_file(held.folder + "/instance.json", record_to_json(record));
}

// Free of symbolic links, or empty where there is none.
static std::string pin_of(const std::string& folder) {
  char real[PATH_MAX];
  return ::realpath(folder.c_str(), real) ? real : "";
}

Result<InstanceRecord> Store::record(const std::string& id) const {
  auto root = Root::open(directory_);
  if (!root) return tl::unexpected(root.error());
  auto file = root->read("instances/" + id + "/instance.json", kRecordCap);
  if (!file && file.error().fault != Fault::not_found) return tl::unexpected(file.error());
  if (!file)
    return fail(Fault::not_found, "there is no sandbox " + shown(id) + " in " + shown(directory_) +
                                      ": `sandglass status` lists those there are");
  auto record = record_from_json(file->bytes);
  if (!record) return record;
  record->baseline.pin = pin_of(pin_folder(id, record->first_seq));
  for (PastBox& past : record->past) past.baseline.pin = pin_of(pin_folder(id, past.first_seq));
  return record;
}

Result<InstanceRecord> Store::find(const std::string& id) const {
  auto exact = record(id);
  if (exact || exact.error().fault != Fault::not_found) return exact;
  auto all = list();
  for (auto it = all.rbegin(); it != all.rend(); ++it)
    if (it->name == id) return *it;
  return exact;
}

std::vector<InstanceRecord> Store::list() const {
  std::vector<InstanceRecord> out;
  boost::system::error_code code;
  for (fs::directory_iterator it(directory_ + "/instances", code), end; !code && it != end;
       it.increment(code)) {
    const std::string id = it->path().filename().string();
    auto one = record(id);
    if (one)
      out.push_back(std::move(*one));
    else if (one.error().fault != Fault::not_found)  // not there yet, or never
      log::error("the record of sandbox " + shown(id) +
                 " cannot be read and is left out: " + one.error().text);
  }
  std::sort(out.begin(), out.end(),
            [](const auto& a, const auto& b) { return a.created_ns < b.created_ns; });
  return out;
}

uint64_t Store::size_of(const std::string& id) const {
  uint64_t bytes = 0;
  boost::system::error_code code;
  for (fs::recursive_directory_iterator it(folder_of(id), code), end; !code && it != end;
       it.increment(code)) {
    struct stat st;
    if (::lstat(it->path().c_str(), &st) < 0 || !S_ISREG(st.st_mode)) continue;
    const bool shared = st.st_nlink > 1 && it->path().string().find("/links/") != std::string::npos;
    if (!shared) bytes += static_cast<uint64_t>(st.st_size) / st.st_nlink;
  }
  return bytes;
}

static bool holds(const std::string& workspace, const std::string& directory) {
  if (workspace.empty() || directory.compare(0, workspace.size(), workspace) != 0) return false;
  return directory.size() == workspace.size() || workspace == "/" ||
         directory[workspace.size()] == '/';
}

Result<InstanceRecord> Store::latest(const std::string& directory) const {
  auto all = list();
  for (auto it = all.rbegin(); it != all.rend(); ++it)
    if (holds(it->directory, directory) || holds(it->workspace, directory)) return *it;
  return fail(Fault::not_found, "nothing was recorded for " + shown(directory) +
                                    ": run `sandglass run -- COMMAND` there first, or name an "
                                    "instance with --sandbox (`sandglass status` lists them)");
}

}  // namespace sandglass::sandbox
