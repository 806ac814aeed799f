#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <thread>

#include "base/log.h"
#include "repo.h"

namespace sandglass::git {

using testing::TempDir;

namespace {

// What was logged at warn and above while it lives.
class Heard {
 public:
  Heard() {
    log::replace_sink([this](log::Level level, std::string_view category, std::string_view text) {
      std::lock_guard lock(mutex_);
      if (level >= log::Level::warn)
        lines_.push_back(std::string(category) + "|" + std::string(text));
    });
  }
  ~Heard() { log::replace_sink(nullptr); }
  size_t errors() const {
    size_t n = 0;
    for (const std::string& line : lines_) n += line.starts_with("errors|");
    return n;
  }
  size_t all() const { return lines_.size(); }

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

std::string diff(Content& content, const std::string& path) {
  return content.get(path, Which::diff).bytes;
}

std::map<std::string, int64_t> times_below(const std::string& directory) {
  std::map<std::string, int64_t> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    struct stat st;
    ::lstat(entry.path().c_str(), &st);
    out[entry.path()] = st.st_mtim.tv_sec * 1'000'000'000 + st.st_mtim.tv_nsec;
  }
  return out;
}

}  // namespace

TEST(Content, Diff_NonAsciiName_KeepsThePathAndApplies) {  // case B1
  const Repo repo;
  repo.write("\xc3\xa4 \xc3\xb6.txt", "a\n");
  repo.commit_all();
  const auto content = open_content(repo.path());
  repo.write("\xc3\xa4 \xc3\xb6.txt", "b\n");
  const std::string patch = diff(*content, "\xc3\xa4 \xc3\xb6.txt");
  EXPECT_EQ(patch, repo.git({"diff", "--full-index", "--no-renames"}));
  repo.git({"checkout", "-q", "."});
  repo.git({"apply", "-"}, patch);
  EXPECT_EQ(repo.read("\xc3\xa4 \xc3\xb6.txt"), "b\n");
}

TEST(Content, Diff_HostileConfiguration_ChangesNothing) {  // case B3, B7
  const Repo repo;
  repo.write("f.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
  repo.commit_all();
  repo.write("f.txt", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n");
  const std::string plain = diff(*open_content(repo.path()), "f.txt");
  EXPECT_EQ(plain, repo.git({"diff", "--full-index", "--no-renames"}));
  TempDir proof;
  for (const auto& [key, value] :
       std::map<std::string, std::string>{{"diff.noprefix", "true"},
                                          {"color.ui", "always"},
                                          {"diff.mnemonicPrefix", "true"},
                                          {"diff.external", "touch " + (proof / "ran")},
                                          {"diff.context", "0"},
                                          {"diff.x.textconv", "touch " + (proof / "ran")},
                                          {"filter.x.clean", "touch " + (proof / "ran")},
                                          {"core.fsmonitor", "touch " + (proof / "ran")},
                                          {"core.quotePath", "false"},
                                          {"include.path", "/nonexistent"}})
    repo.git({"config", key, value});
  repo.write(".gitattributes", "*.txt -diff filter=x diff=x\n");
  ::setenv("GIT_EXTERNAL_DIFF", "/bin/true", 1);
  const std::string configured = diff(*open_content(repo.path()), "f.txt");
  ::unsetenv("GIT_EXTERNAL_DIFF");
  EXPECT_EQ(configured, plain);
  EXPECT_FALSE(std::filesystem::exists(proof / "ran"));
}

TEST(Content, Get_NeverTouchesTheRepository) {  // case B5
  const Repo repo;
  repo.write("tracked", "1\n");
  repo.commit_all();
  repo.write(".git/index.lock", "");  // left by a killed agent
  repo.write("tracked", "2\n");
  repo.write("new", "2\n");
  const auto before = times_below(repo / ".git");
  const auto content = open_content(repo.path());
  for (const char* path : {"tracked", "new", "missing"})
    for (Which which : {Which::before, Which::after, Which::diff}) content->get(path, which);
  EXPECT_EQ(times_below(repo / ".git"), before);
  EXPECT_NE(diff(*content, "tracked"), "");
}

TEST(Content, Diff_WhileTheAgentCommits_NobodyFails) {  // case B5
  const Repo repo;
  repo.write("t", "0\n");
  repo.commit_all();
  const auto content = open_content(repo.path());
  std::atomic<bool> stop{false};
  std::thread observer([&] {
    while (!stop) {
      EXPECT_NE(content->get("t", Which::before).state, PieceState::fault);
      EXPECT_NE(content->get("t", Which::diff).state, PieceState::fault);
    }
  });
  for (int i = 1; i <= 20; i++) {
    repo.write("t", std::to_string(i) + "\n");
    repo.commit_all();
  }
  stop = true;
  observer.join();
  EXPECT_NE(diff(*content, "t").find("-0\n+20\n"), std::string::npos);
}

TEST(Content, Diff_AfterCommitsResetsAndBranches_ComparesWithTheStart) {  // case B6, B1
  const Repo repo;
  repo.write("f", "1\n");
  repo.commit_all();
  repo.git({"commit", "-q", "--allow-empty", "-m", "second"});
  const auto content = open_content(repo.path());
  repo.write("f", "2\n");
  EXPECT_NE(diff(*content, "f").find("-1\n+2\n"), std::string::npos);
  repo.commit_all("agent");
  EXPECT_NE(diff(*content, "f").find("-1\n+2\n"), std::string::npos);
  repo.git({"checkout", "-q", "-b", "x"});
  repo.git({"commit", "-q", "--amend", "-m", "y"});
  EXPECT_NE(diff(*content, "f").find("-1\n+2\n"), std::string::npos);
  repo.git({"reset", "-q", "--hard", "HEAD~1"});
  EXPECT_EQ(content->get("f", Which::diff).state, PieceState::same);
  EXPECT_EQ(content->get("f", Which::before).bytes, "1\n");
}

TEST(Content, Get_AfterRepack_FindsTheNewPack) {  // case B6
  const Repo repo;
  repo.write("f", "1\n");
  repo.commit_all();
  const auto content = open_content(repo.path());
  repo.git({"gc", "-q", "--prune=now"});
  EXPECT_EQ(content->get("f", Which::before).bytes, "1\n");
  repo.write("g", "2\n");
  repo.commit_all();
  repo.git({"repack", "-q", "-a", "-d"});  // the first pack is gone, its descriptor is not
  EXPECT_EQ(content->get("f", Which::before).bytes, "1\n");
}

TEST(Content, Replace_IsNotObeyed) {  // B2
  const Repo repo;
  repo.write("f", "1\n");
  repo.commit_all();
  const auto content = open_content(repo.path());
  repo.write("f", "fake\n");
  const std::string fake = repo.git({"hash-object", "-w", "f"}).substr(0, 40);
  repo.git({"replace", repo.git({"rev-parse", "HEAD:f"}).substr(0, 40), fake});
  EXPECT_EQ(content->get("f", Which::before).bytes, "1\n");
}

TEST(Content, Diff_NoCommitYet_IsAnAddPatch) {  // case B8
  for (const char* format : {"sha1", "sha256"}) {
    const Repo repo({std::string("--object-format=") + format});
    repo.write("f", "a\n");
    repo.git({"add", "f"});
    Heard heard;
    const auto content = open_content(repo.path());
    repo.write("f", "a\nb\n");
    repo.write(".gitignore", "*.log\n");
    repo.write("x.log", "l\n");
    EXPECT_NE(diff(*content, "f").find("@@ -0,0 +1,2 @@\n+a\n+b\n"), std::string::npos);
    EXPECT_EQ(content->get("f", Which::before).state, PieceState::no_baseline);
    EXPECT_EQ(content->get("x.log", Which::diff).state, PieceState::ignored);
    EXPECT_EQ(heard.all(), 0u);
  }
}

TEST(Content, Get_UnsupportedRepository_SaysSoOnce) {  // T16b
  const Repo repo({"--object-format=sha256"});
  repo.write("f", "a\n");
  repo.commit_all();
  Heard heard;
  const auto content = open_content(repo.path());
  repo.write("f", "b\n");
  EXPECT_EQ(content->get("f", Which::before).state, PieceState::unsupported);
  EXPECT_EQ(content->get("f", Which::after).bytes, "b\n");
  EXPECT_EQ(content->get("f", Which::diff).state, PieceState::unsupported);
  EXPECT_EQ(heard.all(), 1u);
  EXPECT_EQ(heard.errors(), 0u);
}

TEST(Content, Diff_UntrackedEditedAgain_IsAnAddPatchEachTime) {  // case B12
  const Repo repo;
  repo.commit_all();
  const auto content = open_content(repo.path());
  repo.write("n", "1\n");
  EXPECT_NE(diff(*content, "n").find("@@ -0,0 +1 @@\n"), std::string::npos);
  repo.write("n", "1\n2\n");
  EXPECT_NE(diff(*content, "n").find("@@ -0,0 +1,2 @@\n"), std::string::npos);
  repo.write("n", "");
  const std::string empty = diff(*content, "n");
  repo.remove("n");
  EXPECT_EQ(content->get("n", Which::diff).state, PieceState::absent);
  repo.git({"apply", "-"}, empty);
  EXPECT_TRUE(std::filesystem::is_empty(repo / "n"));
}

TEST(Content, Diff_MissingNewline_Applies) {  // case B13
  const Repo repo;
  repo.write("f", "a\nb");
  repo.commit_all();
  const auto content = open_content(repo.path());
  for (const std::string text : {"a\nc", "a\n\n", "a\nb\n", ""}) {
    repo.write("f", text);
    const std::string patch = diff(*content, "f");
    repo.git({"checkout", "-q", "."});
    repo.git({"apply", "--whitespace=nowarn", "-"}, patch);
    EXPECT_EQ(repo.read("f"), text);
    repo.git({"checkout", "-q", "."});
  }
}

TEST(Content, Diff_BinaryLatinAndHuge_AreBounded) {  // case B15
  const Repo repo;
  std::string random(1 << 20, '\0'), big;
  std::mt19937 source(7);
  for (char& c : random) c = static_cast<char>(source());
  for (int i = 0; i < 3'000'000; i++) big += std::to_string(i) + "\n";
  repo.write("b", random);
  repo.write("l", "caf\xe9\n");
  repo.write("big", big);
  repo.commit_all();
  ContentOptions options;
  options.binary_full = true;
  const auto brief = open_content(repo.path()), full = open_content(repo.path(), options);
  random[500000] ^= 1;
  repo.write("b", random);
  repo.write("l", "th\xe9\n");
  repo.write("big", big + "more\n");
  EXPECT_TRUE(diff(*brief, "b").ends_with("Binary files a/b and b/b differ\n"));
  EXPECT_NE(diff(*brief, "l").find("-caf\xe9\n+th\xe9\n"), std::string::npos);
  EXPECT_EQ(brief->get("big", Which::diff).state, PieceState::too_large);
  EXPECT_EQ(brief->get("big", Which::before).bytes.size(), 10'000'000u);
  EXPECT_EQ(brief->get("big", Which::before).full_size, big.size());
  const std::string patch = diff(*full, "b");
  repo.git({"checkout", "-q", "b"});
  repo.git({"apply", "-"}, patch);
  EXPECT_EQ(repo.read("b"), random);
}

TEST(Content, Diff_ModeLinkAndTouch) {  // case B16
  const Repo repo;
  repo.write("s.sh", "x\n");
  repo.write("same.txt", "x\n");
  ASSERT_EQ(::symlink("s.sh", (repo / "link").c_str()), 0);
  repo.commit_all();
  const auto content = open_content(repo.path());
  ::chmod((repo / "s.sh").c_str(), 0755);
  repo.remove("link");
  ASSERT_EQ(::symlink("other", (repo / "link").c_str()), 0);
  repo.write("same.txt", "x\n");
  EXPECT_EQ(diff(*content, "s.sh"), repo.git({"diff", "--full-index", "s.sh"}));
  EXPECT_EQ(diff(*content, "link"), repo.git({"diff", "--full-index", "link"}));
  EXPECT_EQ(content->get("same.txt", Which::diff).state, PieceState::same);
  repo.remove("link");
  repo.write("link", "now a file\n");
  EXPECT_EQ(diff(*content, "link"), repo.git({"diff", "--full-index", "link"}));
}

TEST(Content, Diff_EmptiedIgnoreFile_OpensNothing) {  // B8, case B17
  const Repo repo;
  repo.write(".gitignore", ".env\n");
  repo.write("sub/.gitignore", "*.key\n");
  repo.commit_all();
  repo.write("new/.gitignore", "x\n");  // made by the agent: counts as well
  const auto content = open_content(repo.path());
  repo.write(".gitignore", "!.env\n");
  repo.remove("sub/.gitignore");
  for (const char* path : {".env", "sub/a.key", "new/x"}) {
    repo.write(path, "K=2\n");
    EXPECT_EQ(content->get(path, Which::diff).state, PieceState::ignored) << path;
    EXPECT_EQ(content->get(path, Which::after).bytes, "K=2\n");
  }
}

TEST(Content, Diff_UncommittedIgnoreFileAtReady_CountsToo) {  // B8
  const Repo repo;
  repo.commit_all();
  repo.write(".gitignore", ".env\n");
  repo.write("ws/.gitignore", "*.key\n");
  repo.write(".git/info/exclude", "private\n");
  const auto content = open_content(repo / "ws");
  repo.write(".gitignore", "");
  repo.write("ws/.gitignore", "");
  repo.write(".git/info/exclude", "");
  for (const char* path : {".env", "a.key", "private"}) {
    repo.write(std::string("ws/") + path, "K\n");
    EXPECT_EQ(content->get(path, Which::diff).state, PieceState::ignored) << path;
  }
}

TEST(Content, Diff_UsersIgnoreFile_Counts) {
  TempDir home;
  home.write(".gitconfig", "[core]\n\texcludesFile = ~/mine\n");
  home.write("mine", "*.swp\n");
  const std::string old_home = ::getenv("HOME") ? ::getenv("HOME") : "";
  ::setenv("HOME", home.path().c_str(), 1);
  const Repo repo;
  repo.commit_all();
  const auto content = open_content(repo.path());
  ::setenv("HOME", old_home.c_str(), 1);
  repo.write("a.swp", "s\n");
  EXPECT_EQ(content->get("a.swp", Which::diff).state, PieceState::ignored);
}

TEST(Content, Get_Submodule_IsSaidToBeUnsupported) {  // until T16
  const Repo library, repo;
  library.write("x", "lib\n");
  library.commit_all();
  repo.git({"submodule", "--quiet", "add", library.path(), "m"});
  repo.commit_all();
  const auto content = open_content(repo.path());
  repo.write("m/x", "b\n");
  EXPECT_EQ(content->get("m/x", Which::diff).state, PieceState::unsupported);
  EXPECT_EQ(content->get("m/x", Which::after).bytes, "b\n");
}

TEST(Content, Get_ManyThreads_SameAnswers) {
  const Repo repo;
  for (int i = 0; i < 40; i++)
    repo.write("d" + std::to_string(i % 7) + "/f" + std::to_string(i),
               "old " + std::to_string(i) + "\n");
  repo.commit_all();
  repo.git({"gc", "-q"});
  const auto content = open_content(repo.path());
  for (int i = 0; i < 40; i++)
    repo.write("d" + std::to_string(i % 7) + "/f" + std::to_string(i),
               "new " + std::to_string(i) + "\n");
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 4; t++)
    threads.emplace_back([&] {
      for (int i = 0; i < 40; i++) {
        const std::string n = std::to_string(i);
        const std::string path = "d" + std::to_string(i % 7) + "/f" + n;
        right +=
            content->get(path, Which::diff).bytes.ends_with("-old " + n + "\n+new " + n + "\n");
        right += content->get(path + "x", Which::diff).state == PieceState::absent;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 4 * 40 * 2);
}

}  // namespace sandglass::git
