// The product as its user meets it: the built executable, a real git repository, a state directory.
#pragma once

#include <gtest/gtest.h>

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/command.h"
#include "support/temp_dir.h"

namespace sandglass::testing {

struct Seen {
  std::string type, path;  // path below the workspace, exact bytes
  nlohmann::json value;
  bool operator==(const Seen& o) const { return type == o.type && path == o.path; }
};
std::ostream& operator<<(std::ostream& out, const Seen& seen);

struct Ran {
  Output output;
  std::vector<nlohmann::json> lines;  // of --json
  std::vector<Seen> files;

  std::vector<std::string> types_of(const std::string& path) const;
  size_t count(const std::string& type, const std::string& path) const;
};

std::string unbase64(const std::string& text);

class Product {
 public:
  Product();

  std::string workspace() const { return dir_ / "repo"; }
  std::string state() const { return dir_ / "state"; }
  const TempDir& dir() const { return dir_; }

  // git with nobody's configuration.
  Output git(const std::string& arguments) const;
  void repository(const std::string& script = "") const;
  void commit_all() const;
  void sh(const std::string& script) const;

  Command sandglass(std::vector<std::string> arguments) const;
  // The script as the agent's command, its stream taken apart.
  Ran run(const std::string& script, std::vector<std::string> options = {}) const;
  std::string diff() const { return sandglass({"diff"}).run().out; }
  // The whole patch, reversed onto the workspace, must be accepted by git and give the baseline
  // back.
  void expect_diff_applies() const;

  static Ran taken_apart(Output output);

 private:
  TempDir dir_;
};

}  // namespace sandglass::testing
