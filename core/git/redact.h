// Which paths' content is withheld (rule B8, rows T8a and T8b).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "git/ignore.h"

namespace sandglass::git {

// Immutable, any thread. Paths are bytes below the workspace root.
class Redaction {
 public:
  // Patterns as in a .gitignore at the workspace root; later ones win, `!` takes back.
  explicit Redaction(const std::vector<std::string>& patterns);

  // Withheld from everyone.
  bool withholds(std::string_view path) const;
  // Withheld from what leaves this host: also what usually holds secrets (.env, *.pem, id_rsa*,
  // ...).
  bool withholds_export(std::string_view path) const;

 private:
  std::shared_ptr<const IgnoreFile> configured_, usual_;
};

}  // namespace sandglass::git
