// One fanotify group: a mark on a whole file system, read for all sandboxes of this process that
// lie on it. The first run() there makes it, the last one ends it, and its thread with it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "dirs.h"
#include "handle.h"
#include "run.h"

struct fanotify_event_metadata;

namespace fanotify_watcher {

class Group {
 public:
  // The one of the file system that `root` lies on. Null with `why` set.
  static std::shared_ptr<Group> of(const std::string& root, std::string& why);
  explicit Group(Fd fan);
  ~Group();  // ends the reader
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  // Finds every directory below the run's root. From then on its events are told.
  // What went wrong, or empty.
  std::string join(Run& run);
  void leave(Run& run);
  // What the kernel has queued by now for this run will be handed over, then the answer is given.
  void ask(Run& run, Run::Answer answer);

 private:
  struct Request {
    Run* run;
    Run::Answer answer;
  };
  struct Event;  // one, taken apart

  // group.cc: the reader
  void read_loop();
  int timeout_ms();
  bool drain();
  void settle(uint64_t now_ns);
  void hand_over(std::unique_lock<std::mutex>& lock, bool emptied);
  void give_up(const std::string& why);
  size_t queued() const;

  // events.cc: what an event means
  void on_event(const fanotify_event_metadata& meta, const char* bytes);
  void on_entry(const Event& event);
  void on_directory(Node* dir, const Event& event);
  void on_rename(const Event& event);
  void rename_directory(Run& run, Node* from, Node* to, const Event& event);
  void tell(Node* dir, std::string_view name, uint32_t kind, uint32_t flags, int32_t pid);
  template <class F>
  bool each(uint64_t fsid, const file_handle* handle, F&& one);
  Node* resolve(const Key& key, uint64_t fsid, const file_handle& handle);
  bool lead_to(Run& run, std::string_view path);

  // root.cc: the disk
  enum class Came { nothing, same, newly };
  struct Found {
    std::string name;
    Key key;
    bool blind = false;
  };
  Came adopt(Node* dir, std::string_view name);
  bool look(int dir, const std::string& name, Found& found);
  bool key_for(int dir, const char* name, Key& key);
  Fd open_dir(const Node* node);
  std::vector<std::string> names_in(const Run& run, Fd dir, bool& whole);
  void scan(Node* top, std::unique_lock<std::mutex>* lock);
  void enter(Node* dir, const std::vector<Found>& found, std::vector<Node*>* below);
  bool still_there(Node* node);
  bool open_root(Run& run, std::unique_lock<std::mutex>* lock);
  void close_root(Run& run);
  void watch_above(Run& run);
  void check_root(Run& run, uint64_t now_ns);
  void renew(Run& run);

  const Fd fan_;
  const Fd wake_;
  std::vector<char> buffer_;
  std::thread thread_;

  std::mutex mutex_;
  Dirs dirs_;
  std::vector<Run*> runs_;
  std::unordered_map<int, uint64_t> mounts_;  // mount id -> fsid, 0 where it cannot be marked
  std::vector<uint64_t> marked_;              // fsids
  std::vector<Request> asked_;
  bool stop_ = false;
  bool dead_ = false;

  std::vector<Request> owing_;  // taken up by the reader
  size_t owed_ = 0;             // events to read until those are met
  bool handing_ = false;        // hints are on their way to the host, without the lock
  std::condition_variable handed_;
};

}  // namespace fanotify_watcher
