#include "repo.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <iostream>
#include <thread>

#include "base/fd.h"

namespace sandglass::git {

static const char* const kEnvironment[] = {"PATH=/usr/local/bin:/usr/bin:/bin",
                                           "HOME=/nonexistent",
                                           "LC_ALL=C",
                                           "GIT_CONFIG_NOSYSTEM=1",
                                           "GIT_CONFIG_GLOBAL=/dev/null",
                                           "GIT_AUTHOR_NAME=t",
                                           "GIT_AUTHOR_EMAIL=t@t",
                                           "GIT_COMMITTER_NAME=t",
                                           "GIT_COMMITTER_EMAIL=t@t",
                                           "GIT_ALLOW_PROTOCOL=file",
                                           nullptr};

GitRun run_git(const std::string& directory, std::vector<std::string> arguments,
               const std::string& input) {
  arguments.insert(arguments.begin(), {"git", "-C", directory, "-c", "init.defaultBranch=main",
                                       "-c", "core.fsync=none", "-c", "protocol.file.allow=always",
                                       "-c", "safe.directory=*"});
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  Pipe in = make_pipe().value(), out = make_pipe().value();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(in.read.get(), 0);
    ::dup2(out.write.get(), 1);
    ::execvpe("git", argv.data(), const_cast<char* const*>(kEnvironment));
    ::_exit(127);
  }
  in.read.reset();
  out.write.reset();
  std::thread feeder([&] {
    (void)write_all(in.write.get(), input);
    in.write.reset();
  });
  GitRun run;
  char buffer[65536];
  for (ssize_t n; (n = ::read(out.read.get(), buffer, sizeof buffer)) > 0;)
    run.out.append(buffer, static_cast<size_t>(n));
  feeder.join();
  int status = 0;
  ::waitpid(pid, &status, 0);
  run.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return run;
}

Repo::Repo(const std::vector<std::string>& init_options) {
  std::vector<std::string> arguments{"init", "-q", "--template="};
  arguments.insert(arguments.end(), init_options.begin(), init_options.end());
  git(arguments);
}

void Repo::remove(const std::string& name) const {
  std::filesystem::remove_all(dir_ / name);
}

std::string Repo::git(std::vector<std::string> arguments, const std::string& input) const {
  const std::string shown_as = arguments.at(0);
  GitRun run = run_git(path(), std::move(arguments), input);
  EXPECT_EQ(run.code, 0) << "git " << shown_as;
  return std::move(run.out);
}

void Repo::commit_all(const std::string& message) const {
  git({"add", "-A"});
  git({"commit", "-q", "--allow-empty", "-m", message});
}

std::unique_ptr<Content> open_content(const std::string& workspace, ContentOptions options) {
  Result<std::unique_ptr<Content>> content =
      Content::open(pin_baseline(workspace), workspace, options);
  EXPECT_TRUE(content) << content.error().text;
  return std::move(*content);
}

uint32_t property_seed(const char* test) {
  const char* given = std::getenv("SANDGLASS_SEED");
  const uint32_t seed = given ? static_cast<uint32_t>(std::stoul(given)) : std::random_device()();
  std::cout << test << ": SANDGLASS_SEED=" << seed << std::endl;
  return seed;
}

}  // namespace sandglass::git
