// What processes left behind, and how long journals are kept.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "config/definition.h"
#include "plugin/registry.h"
#include "sandbox/store.h"

namespace sandglass::sandbox {

struct Tidied {
  std::string id;
  std::string what;   // "destroyed", "removed", "shortened"
  std::string why;    // "left by a process that ended"
  std::string error;  // or why it could not be done
};

// Destroys each box whose process has ended without it, or whose time is over (rule L5). Sandboxes
// in use are left alone, as are those that only wait for a durable hook. What a provider made that
// is not loaded here is left to a process that has it, or told.
enum class Foreign { leave, tell };
std::vector<Tidied> reap_leftovers(const plugin::Registry& registry, const Store& store,
                                   Foreign foreign);
// The same without doing it.
std::vector<Tidied> would_reap(const plugin::Registry& registry, const Store& store);

// Removes the journals of sandboxes that ended longer ago than retention.age_ns, then the oldest
// until all take retention.bytes; journals that are still written on are shortened. What a durable
// hook has not had stays (rule P2).
std::vector<Tidied> apply_retention(const Store& store, const config::Retention& retention,
                                    bool dry_run);

// The same at most once a day for a state directory.
void apply_retention_daily(const Store& store, const config::Retention& retention);

}  // namespace sandglass::sandbox
