// What an agent can do to the files we read: every answer is right, or a fault that is said.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/log.h"
#include "repo.h"

namespace sandglass::git {

using testing::TempDir;

namespace {

std::string object_path(const Repo& repo, const std::string& what) {
  return ".git/objects/" + repo.git({"rev-parse", what}).substr(0, 40).insert(2, "/");
}

std::string only_pack(const Repo& repo) {
  for (const auto& entry : std::filesystem::directory_iterator(repo / ".git/objects/pack"))
    if (entry.path().extension() == ".pack") return entry.path();
  return "";
}

class Hostile : public ::testing::Test {
 protected:
  void SetUp() override {
    log::replace_sink([this](log::Level level, std::string_view category, std::string_view) {
      if (level == log::Level::error && category == "errors") errors_++;
    });
  }
  void TearDown() override { log::replace_sink(nullptr); }
  int errors_ = 0;
};

}  // namespace

TEST_F(Hostile, Path_ThatLeadsOut_IsAFault) {  // B9
  const Repo repo;
  repo.commit_all();
  const auto content = open_content(repo.path());
  for (const std::string& path :
       std::vector<std::string>{"../x", "/etc/passwd", "a/../../x", "", "a//b", "./a", "a/"})
    for (Which which : {Which::before, Which::after, Which::diff})
      EXPECT_EQ(content->get(path, which).state, PieceState::fault) << path;
  EXPECT_EQ(content->get(std::string("a\0b", 3), Which::after).state, PieceState::fault);
}

TEST_F(Hostile, After_ThroughASymbolicLink_IsAbsent) {  // B9, T12
  TempDir outside;
  outside.write("secret", "s\n");
  const Repo repo;
  repo.write("dir/secret", "mine\n");
  repo.commit_all();
  const auto content = open_content(repo.path());
  repo.remove("dir");
  ASSERT_EQ(::symlink(outside.path().c_str(), (repo / "dir").c_str()), 0);
  EXPECT_EQ(content->get("dir/secret", Which::after).state, PieceState::absent);
  const Piece diff = content->get("dir/secret", Which::diff);
  EXPECT_NE(diff.bytes.find("deleted file mode"), std::string::npos);
  EXPECT_EQ(errors_, 0);
}

TEST_F(Hostile, After_FifoOrUnreadable_IsSaid) {  // B9, B5
  const Repo repo;
  repo.commit_all();
  const auto content = open_content(repo.path());
  ASSERT_EQ(::mkfifo((repo / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(content->get("fifo", Which::after).state, PieceState::absent);
  EXPECT_EQ(errors_, 0);
  if (::geteuid() == 0) return;  // root reads everything
  repo.write("closed", "x\n");
  ::chmod((repo / "closed").c_str(), 0);
  EXPECT_EQ(content->get("closed", Which::after).state, PieceState::fault);
  EXPECT_EQ(content->get("closed", Which::after).state, PieceState::fault);
  EXPECT_EQ(errors_, 1);
}

// Opening one could hang, start a device, or talk to whoever listens.
TEST_F(Hostile, SpecialFileInPlaceOfAFile_IsNeverOpened) {  // B9, W4
  const Repo repo;
  for (const char* name : {"fifo", "socket", "null", "disk"}) repo.write(name, "1\n");
  repo.commit_all();
  const auto content = open_content(repo.path());
  for (const char* name : {"fifo", "socket", "null", "disk"}) repo.remove(name);
  std::vector<std::string> made = {"fifo", "socket"};
  ASSERT_EQ(::mkfifo((repo / "fifo").c_str(), 0600), 0);
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = repo / "socket";
  ASSERT_LT(path.size(), sizeof address.sun_path);
  std::copy(path.begin(), path.end(), address.sun_path);
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  if (::mknod((repo / "null").c_str(), S_IFCHR | 0600, makedev(1, 3)) == 0 &&
      ::mknod((repo / "disk").c_str(), S_IFBLK | 0600, makedev(250, 250)) == 0)
    made.insert(made.end(), {"null", "disk"});
  for (const std::string& name : made) {
    EXPECT_EQ(content->get(name, Which::before).bytes, "1\n") << name;
    EXPECT_EQ(content->get(name, Which::after).state, PieceState::absent) << name;
    EXPECT_NE(content->get(name, Which::diff).bytes.find("\n-1\n"), std::string::npos) << name;
  }
  ::close(socket);
  EXPECT_EQ(errors_, 0);
}

TEST_F(Hostile, LooseObject_ReplacedByAFifo_DoesNotHang) {  // B9
  const Repo repo;
  repo.write("f", "1\n");
  repo.commit_all();
  const auto content = open_content(repo.path());
  const std::string blob = object_path(repo, "HEAD:f");
  repo.remove(blob);
  ASSERT_EQ(::mkfifo((repo / blob).c_str(), 0600), 0);
  EXPECT_EQ(content->get("f", Which::before).state, PieceState::fault);
  EXPECT_EQ(content->get("f", Which::before).state, PieceState::fault);
  EXPECT_EQ(errors_, 1);  // said once
}

TEST_F(Hostile, LooseObject_WithOtherContent_IsNotBelieved) {  // B2
  const Repo repo;
  repo.write("f", "1\n");
  repo.write("g", "forged\n");
  repo.commit_all();
  const auto content = open_content(repo.path());
  const std::string f = object_path(repo, "HEAD:f"), g = object_path(repo, "HEAD:g");
  repo.remove(f);
  std::filesystem::copy_file(repo / g, repo / f);
  EXPECT_EQ(content->get("f", Which::before).state, PieceState::fault);
  EXPECT_EQ(content->get("f", Which::diff).bytes, "");
}

TEST_F(Hostile, Pack_CutUnderUs_IsAFaultNotACrash) {
  const Repo repo;
  for (int i = 0; i < 9; i++)
    repo.write("f" + std::to_string(i), std::string(5000, static_cast<char>('a' + i)));
  repo.commit_all();
  repo.git({"gc", "-q"});
  const auto content = open_content(repo.path());
  EXPECT_EQ(content->get("f0", Which::before).state, PieceState::here);
  const std::string pack = only_pack(repo);
  ::chmod(pack.c_str(), 0600);
  ASSERT_EQ(::truncate(pack.c_str(), 40), 0);
  EXPECT_EQ(content->get("f8", Which::before).state, PieceState::fault);
  EXPECT_EQ(content->get("f8", Which::diff).state, PieceState::same);  // id and disk suffice
}

TEST_F(Hostile, Pack_AnyByteChanged_IsRightOrAFault) {
  const Repo repo;
  std::string text;
  for (int i = 0; i < 200; i++) text += "line " + std::to_string(i) + "\n";
  for (int i = 0; i < 5; i++) {
    repo.write("f", text + std::to_string(i));
    repo.commit_all();
  }
  repo.git({"gc", "-q"});
  const std::string pack = only_pack(repo), index = pack.substr(0, pack.size() - 5) + ".idx";
  const Baseline baseline = pin_baseline(repo.path());
  for (const std::string& file : {pack, index}) {
    ::chmod(file.c_str(), 0600);
    const std::string name = file.substr(repo.path().size() + 1), good = repo.read(name);
    for (size_t at = 0; at < good.size(); at += 7) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ (1 << at % 8));
      repo.write(name, bad);
      const auto content = Content::open(baseline, repo.path()).value();
      const Piece piece = content->get("f", Which::before);
      if (piece.state == PieceState::here)
        EXPECT_EQ(piece.bytes, text + "4") << name << " byte " << at;
      else
        EXPECT_EQ(piece.state, PieceState::fault);
    }
    repo.write(name, good);
  }
}

TEST_F(Hostile, Repository_Removed_IsSaidAndNothingLeaks) {  // B2, B5
  const Repo repo;
  repo.write(".gitignore", ".env\n");
  repo.write("f", "1\n");
  repo.commit_all();
  const auto content = open_content(repo.path());
  repo.remove(".git");
  repo.write(".gitignore", "");
  repo.write(".env", "K\n");
  EXPECT_EQ(content->get("f", Which::before).state, PieceState::fault);
  EXPECT_EQ(content->get(".env", Which::diff).bytes, "");
  EXPECT_EQ(content->get("f", Which::after).bytes, "1\n");
  EXPECT_EQ(errors_, 2);
}

TEST_F(Hostile, IgnoreFile_OfTheBaselineLost_HidesRatherThanShows) {  // B8
  const Repo repo;
  repo.write("sub/.gitignore", ".env\n");
  repo.write("sub/f", "1\n");
  repo.commit_all();
  const auto content = open_content(repo.path());
  EXPECT_EQ(content->get("sub/f", Which::before).state, PieceState::here);  // trees are held now
  repo.remove(object_path(repo, "HEAD:sub/.gitignore"));
  repo.write("sub/.gitignore", "");
  repo.write("sub/.env", "K\n");
  const Piece diff = content->get("sub/.env", Which::diff);
  EXPECT_EQ(diff.state, PieceState::fault);
  EXPECT_EQ(diff.bytes, "");
}

TEST_F(Hostile, GitsOwnFiles_HaveNoDiff) {
  const Repo repo;
  repo.commit_all();
  const auto content = open_content(repo.path());
  EXPECT_EQ(content->get(".git/config", Which::diff).state, PieceState::ignored);
  EXPECT_EQ(content->get(".git/config", Which::after).state, PieceState::here);
}

TEST_F(Hostile, Blob_MissingInAPartialClone_IsOneFault) {  // case B19
  const Repo origin;
  origin.write("f", "1\n");
  origin.commit_all();
  origin.git({"config", "uploadpack.allowFilter", "true"});
  TempDir dir;
  origin.git(
      {"clone", "-q", "--no-checkout", "--filter=blob:none", "file://" + origin.path(), dir / "r"});
  const auto content = open_content(dir / "r");
  EXPECT_EQ(content->get("f", Which::before).state, PieceState::fault);
  EXPECT_EQ(content->get("f", Which::before).bytes, "");
  EXPECT_EQ(errors_, 1);
}

}  // namespace sandglass::git
