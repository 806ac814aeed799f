#include "git/redact.h"

namespace sandglass::git {
namespace {

// Rule B8's list.
constexpr std::string_view kUsualSecrets =
    ".env\n.env.*\n!.env.example\n*.pem\n*.key\nid_rsa*\nid_ed25519*\nid_ecdsa*\n.netrc\n.npmrc\n";

bool matches(const std::shared_ptr<const IgnoreFile>& file, std::string_view path) {
  IgnoreSet set;
  set.of_directory = [](std::string_view) { return std::shared_ptr<const IgnoreFile>(); };
  set.everywhere = file;
  const auto match = check_ignore(set, path, false);
  return match && match->ignored;
}

}  // namespace

Redaction::Redaction(const std::vector<std::string>& patterns)
    : usual_(IgnoreFile::parse(kUsualSecrets)) {
  std::string lines;
  for (const std::string& pattern : patterns) lines += pattern + "\n";
  configured_ = IgnoreFile::parse(lines);
}

bool Redaction::withholds(std::string_view path) const {
  return matches(configured_, path);
}

bool Redaction::withholds_export(std::string_view path) const {
  return withholds(path) || matches(usual_, path);
}

}  // namespace sandglass::git
