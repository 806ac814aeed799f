// What the kernel's events mean: hints for the host, and moves in the tree of directories.
//
// The tree follows the events at once, for each tells exactly which directory came from where. But
// the kernel may merge a later event into an earlier like one, so names that came and went are
// looked at when the batch is over (settle()).
#include <sys/fanotify.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "group.h"

namespace fanotify_watcher {

struct Group::Event {
  uint64_t mask = 0, fsid = 0;
  int32_t pid = 0;
  const file_handle *dir = nullptr, *from = nullptr, *to = nullptr, *child = nullptr;
  std::string_view name, old_name, new_name;
  Key child_key;

  // `bytes` is where the event begins.
  Event(const fanotify_event_metadata& meta, const char* bytes) : mask(meta.mask), pid(meta.pid) {
    const char* at = bytes + meta.metadata_len;
    const char* end = bytes + meta.event_len;
    while (at + sizeof(fanotify_event_info_fid) + sizeof(file_handle) <= end) {
      const auto& info = *reinterpret_cast<const fanotify_event_info_fid*>(at);
      take(info, at + info.hdr.len);
      at += info.hdr.len;
    }
    if (child) child_key = key_of(fsid, *child);
  }

 private:
  void take(const fanotify_event_info_fid& info, const char* end) {
    const auto* handle = reinterpret_cast<const file_handle*>(info.handle);
    const auto* text = reinterpret_cast<const char*>(handle->f_handle) + handle->handle_bytes;
    std::memcpy(&fsid, &info.fsid, sizeof fsid);
    auto named = [&](const file_handle*& which, std::string_view& called) {
      which = handle;
      if (text < end) called = {text, ::strnlen(text, static_cast<size_t>(end - text))};
    };
    switch (info.hdr.info_type) {
      case FAN_EVENT_INFO_TYPE_DFID_NAME:
        return named(dir, name);
      case FAN_EVENT_INFO_TYPE_OLD_DFID_NAME:
        return named(from, old_name);
      case FAN_EVENT_INFO_TYPE_NEW_DFID_NAME:
        return named(to, new_name);
      case FAN_EVENT_INFO_TYPE_FID:
        child = handle;
        return;
      default:
        return;
    }
  }
};

static uint32_t flags_of(uint64_t mask) {
  uint32_t flags = 0;
  if (mask & FAN_CREATE) flags |= SG_HINTF_BORN;
  if (mask & FAN_DELETE) flags |= SG_HINTF_GONE;
  if (mask & FAN_MODIFY) flags |= SG_HINTF_DATA;
  if (mask & FAN_ATTRIB) flags |= SG_HINTF_META;
  if (mask & FAN_CLOSE_WRITE) flags |= SG_HINTF_CLOSED;
  return flags;
}

void Group::on_event(const fanotify_event_metadata& meta, const char* bytes) {
  if (meta.mask & FAN_Q_OVERFLOW) {
    for (Run* run : runs_) run->lost = true;
    return;
  }
  const Event event(meta, bytes);
  if (event.mask & FAN_RENAME)
    on_rename(event);
  else if (event.dir && !event.name.empty() && event.name != ".")
    on_entry(event);
}

// Every node of a directory. False where it is nobody's: that costs one look-up.
template <class F>
bool Group::each(uint64_t fsid, const file_handle* handle, F&& one) {
  if (!handle) return false;
  const Key key = key_of(fsid, *handle);
  Node* node = nullptr;
  if (!dirs_.find(key, node)) node = resolve(key, fsid, *handle);
  if (!node) return false;
  if (!node->same) {
    one(node);
    return true;
  }
  std::vector<Node*> chain;
  for (; node; node = node->same) chain.push_back(node);
  for (Node* link : chain)
    if (link->run) one(link);
  return true;
}

void Group::on_entry(const Event& event) {
  const bool known = each(event.fsid, event.dir, [&](Node* dir) {
    if (dir->above)
      dir->run->root_doubted |= event.name == dir->run->name;
    else if (event.mask & FAN_ONDIR)
      on_directory(dir, event);
    else
      tell(dir, event.name, SG_HINT_ENTRY, flags_of(event.mask), event.pid);
  });
  if (known || !event.child || !(event.mask & FAN_ONDIR) || !(event.mask & FAN_CREATE)) return;
  Node* node = nullptr;
  if (!dirs_.find(event.child_key, node)) dirs_.set_foreign(event.child_key);
}

void Group::on_directory(Node* dir, const Event& event) {
  Run& run = *dir->run;
  const bool born = event.mask & FAN_CREATE, gone = event.mask & FAN_DELETE;
  if (!born && !gone) return;
  if (run.ignored(event.name)) {
    Node* node = nullptr;
    if (born && event.child && !dirs_.find(event.child_key, node))
      dirs_.set_foreign(event.child_key);
    return;
  }
  if (run.starting || (born && gone) || !event.child) {
    run.doubts.push_back({dir, std::string(event.name), event.pid});
    if (gone) tell(dir, event.name, SG_HINT_ENTRY, SG_HINTF_GONE, event.pid);
    return;
  }
  Node* there = dir->child(event.name);
  if (gone) {
    if (there && there->key == event.child_key) dirs_.drop(there);
    return tell(dir, event.name, SG_HINT_ENTRY, SG_HINTF_GONE, event.pid);
  }
  Node* known = nullptr;
  dirs_.find(event.child_key, known);
  while (known && known->run != &run) known = known->same;
  if (known) {  // here, or it has moved on and was found there
    if (known != there) run.doubts.push_back({dir, std::string(event.name), event.pid});
  } else {
    if (there) dirs_.drop(there);
    enter(dir, {{std::string(event.name), event.child_key}}, nullptr);
  }
  tell(dir, event.name, SG_HINT_TREE, SG_HINTF_BORN, event.pid);
}

void Group::on_rename(const Event& event) {
  const bool is_dir = event.mask & FAN_ONDIR;
  std::vector<Node*> targets;
  each(event.fsid, event.to, [&](Node* to) {
    if (to->above)
      to->run->root_doubted |= is_dir && event.new_name == to->run->name;
    else if (is_dir)
      targets.push_back(to);
    else
      tell(to, event.new_name, SG_HINT_ENTRY, SG_HINTF_BORN | SG_HINTF_CLOSED, event.pid);
  });
  each(event.fsid, event.from, [&](Node* from) {
    if (from->above) {
      from->run->root_doubted |= is_dir && event.old_name == from->run->name;
    } else if (is_dir) {
      const auto to = std::find_if(targets.begin(), targets.end(),
                                   [&](const Node* one) { return one->run == from->run; });
      rename_directory(*from->run, from, to == targets.end() ? nullptr : *to, event);
      if (to != targets.end()) targets.erase(to);
    } else {
      tell(from, event.old_name, SG_HINT_ENTRY, SG_HINTF_GONE, event.pid);
    }
  });
  for (Node* to : targets)
    if (to->run) rename_directory(*to->run, nullptr, to, event);
}

static bool is_below(const Node* node, const Node* top) {
  while (node && node != top) node = node->parent;
  return node == top;
}

void Group::rename_directory(Run& run, Node* from, Node* to, const Event& event) {
  const bool out = from && !run.ignored(event.old_name), in = to && !run.ignored(event.new_name);
  if (out) run.doubts.push_back({from, std::string(event.old_name), event.pid});
  if (in) run.doubts.push_back({to, std::string(event.new_name), event.pid});
  if (out) tell(from, event.old_name, SG_HINT_ENTRY, SG_HINTF_GONE, event.pid);
  if (in) tell(to, event.new_name, SG_HINT_TREE, SG_HINTF_BORN | SG_HINTF_CLOSED, event.pid);
  if (run.starting || !event.child) return;

  std::unique_ptr<Node> moved;
  if (Node* node = out ? from->child(event.old_name) : nullptr;
      node && node->key == event.child_key && !is_below(to, node))
    moved = dirs_.detach(node);
  const auto set_aside = std::find_if(run.displaced.begin(), run.displaced.end(),
                                      [&](const auto& one) { return one->key == event.child_key; });
  if (!moved && set_aside != run.displaced.end()) {
    moved = std::move(*set_aside);
    run.displaced.erase(set_aside);
  }
  if (!in) {
    if (moved) dirs_.drop(std::move(moved));
    return;
  }
  if (!moved) return;  // settle() finds it
  if (Node* there = to->child(event.new_name)) run.displaced.push_back(dirs_.detach(there));
  dirs_.attach(to, event.new_name, std::move(moved));
}

void Group::tell(Node* dir, std::string_view name, uint32_t kind, uint32_t flags, int32_t pid) {
  std::string_view path;
  if (!dir->run->starting && dirs_.path_of(dir, path))
    dir->run->hints.add(kind, flags, path, name, pid);
}

// A handle that was never heard of: nobody's, as a rule; else a directory that was missed.
Node* Group::resolve(const Key& key, uint64_t fsid, const file_handle& handle) {
  Handle copy;
  if (handle.handle_bytes > MAX_HANDLE_SZ) return nullptr;
  std::memcpy(copy.space, &handle, sizeof handle + handle.handle_bytes);
  char path[4096];
  ssize_t size = -1;
  for (const Run* run : runs_) {
    uint64_t own = 0;
    if (!run->root_fd || !fsid_of(run->root_fd.get(), own) || own != fsid) continue;
    const Fd fd(::open_by_handle_at(run->root_fd.get(), &copy.abi(), O_PATH | O_CLOEXEC));
    if (!fd) break;
    const std::string link = "/proc/self/fd/" + std::to_string(fd.get());
    size = ::readlink(link.c_str(), path, sizeof path);
    break;
  }
  bool may_be_ours = false;
  if (size > 0 && size < static_cast<ssize_t>(sizeof path))
    for (Run* run : std::vector<Run*>(runs_))
      may_be_ours |= lead_to(*run, {path, static_cast<size_t>(size)});
  Node* node = nullptr;
  if (may_be_ours && dirs_.find(key, node)) return node;
  if (!may_be_ours) dirs_.set_foreign(key);
  return nullptr;
}

// Sees to it that the directories on the way to a path are known. False where it is not below the
// run's root, or ignored there.
bool Group::lead_to(Run& run, std::string_view path) {
  const std::string top = run.root_path == "/" ? "/" : run.root_path + "/";
  if (!run.root || !path.starts_with(top)) return false;
  path.remove_prefix(top.size());
  Node* dir = run.root;
  for (size_t at = 0; at < path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    const std::string_view name = path.substr(at, end - at);
    if (run.ignored(name)) return false;
    if (run.starting) {
      at = end + 1;
      continue;
    }
    Node* next = dir->child(name);
    if (!next) {
      if (adopt(dir, name) == Came::newly) tell(dir, name, SG_HINT_TREE, SG_HINTF_BORN, 0);
      return true;
    }
    dir = next;
    at = end + 1;
  }
  return true;
}

}  // namespace fanotify_watcher
