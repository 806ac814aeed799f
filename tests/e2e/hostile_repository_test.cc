// Rules B7 and B9: a repository that does all it can to make its observer run programs, or read
// what lies outside. A canary program would leave a file; what lies outside holds a word that must
// not come back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "e2e/product.h"

namespace sandglass::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kOutside = "OUTSIDE-WORD";

class HostileRepository : public ::testing::Test {
 protected:
  void SetUp() override {
    canary_ = product_.dir() / "canary";
    product_.dir().write("canary", "#!/bin/sh\ntouch '" + (product_.dir() / "ran") + "'\ncat\n");
    ::chmod(canary_.c_str(), 0755);
    product_.dir().write("outside/secret", std::string(kOutside) + "\n");
    product_.repository(
        "printf '1\\n2\\n3\\n' > a.txt; printf '1\\r\\n' > crlf.txt; printf 'x\\n' > id.txt; mkdir "
        "sub; echo 1 > sub/f");
    product_.commit_all();
  }

  // Appended as text, so that no git of ours obeys it.
  void configure(const std::string& text) {
    const std::string config = "repo/.git/config";
    product_.dir().write(config, product_.dir().read(config) + text);
  }

  void run_and_look(const std::string& script) {
    const Ran ran = product_.run(script, {"--diff"});
    EXPECT_EQ(ran.output.code, 0) << ran.output.err;
    const std::string all = ran.output.out + ran.output.err + product_.diff() +
                            product_.sandglass({"events", "--json"}).run().out +
                            product_.sandglass({"status"}).run().out;
    EXPECT_FALSE(std::filesystem::exists(product_.dir() / "ran"));
    EXPECT_THAT(all, Not(HasSubstr(kOutside)));
  }

  Product product_;
  std::string canary_;
};

TEST_F(HostileRepository, ProgramsOfTheConfiguration_NeverRun) {  // B7
  configure("[core]\n\tfsmonitor = " + canary_ + "\n\tsshCommand = " + canary_ + "\n\tpager = " +
            canary_ + "\n\teditor = " + canary_ + "\n\thooksPath = " + (product_.dir() / "hooks") +
            "\n\tgitProxy = " + canary_ + "\n\taskPass = " + canary_ +
            "\n[diff]\n\texternal = " + canary_ + "\n[diff \"x\"]\n\ttextconv = " + canary_ +
            "\n\tcommand = " + canary_ + "\n[filter \"x\"]\n\tclean = " + canary_ +
            "\n\tsmudge = " + canary_ + "\n\tprocess = " + canary_ + "\n\trequired = true" +
            "\n[filter \"lfs\"]\n\tprocess = " + canary_ + "\n[alias]\n\tdiff = !" + canary_ +
            "\n\tstatus = !" + canary_ + "\n[credential]\n\thelper = !" + canary_ +
            "\n[merge \"x\"]\n\tdriver = " + canary_ + "\n[include]\n\tpath = " +
            (product_.dir() / "outside/secret") + "\n[remote \"o\"]\n\turl = ext::" + canary_ +
            "\n\tpromisor = true\n[extensions]\n\tpartialClone = o\n");
  for (const char* hook : {"post-index-change", "pre-commit", "post-checkout", "fsmonitor-watchman",
                           "reference-transaction", "query-watchman"}) {
    product_.dir().write(std::string("hooks/") + hook, product_.dir().read("canary"));
    product_.dir().write(std::string("repo/.git/hooks/") + hook, product_.dir().read("canary"));
    ::chmod((product_.dir() / (std::string("hooks/") + hook)).c_str(), 0755);
    ::chmod((product_.workspace() + "/.git/hooks/" + hook).c_str(), 0755);
  }
  product_.dir().write("repo/.gitattributes",
                       "* filter=x diff=x merge=x ident text=auto working-tree-encoding=UTF-16\n");
  product_.dir().write("repo/.git/info/attributes", "* filter=x diff=x\n");
  run_and_look("echo 4 >> a.txt; echo 5 > new.txt; printf '2\\r\\n' > crlf.txt; rm sub/f");
  EXPECT_THAT(product_.diff(), HasSubstr("+4\n"));
  EXPECT_THAT(product_.diff(), HasSubstr("-1\n"));
}

TEST_F(HostileRepository, LinksOutOfTheWorkspace_LeadNowhere) {  // B9, T12
  const std::string outside = product_.dir() / "outside";
  run_and_look("ln -s " + outside + " out; ln -s " + outside + "/secret s; rm a.txt; ln -s " +
               outside + "/secret a.txt; rm -r sub; ln -s " + outside +
               " sub; mkfifo pipe; ln -s /proc/self/root r; ln -s " + outside +
               "/secret .gitignore");
  EXPECT_THAT(product_.diff(), HasSubstr("new file mode 120000\n"));
}

TEST_F(HostileRepository, ObjectsFromOutside_AreNotBorrowed) {  // B9
  Product other;
  other.repository(std::string("echo ") + kOutside + " > a.txt");
  other.commit_all();
  const std::string objects = other.workspace() + "/.git/objects";
  // Alternates, replace refs and grafts made by the agent while it is watched.
  run_and_look("mkdir -p .git/objects/info; echo " + objects +
               " > .git/objects/info/alternates; echo " + objects +
               " > .git/objects/info/http-alternates; mkdir -p .git/refs/replace; cat .git/HEAD > "
               ".git/refs/replace/x; echo garbage > .git/info/grafts; echo '[core' >> .git/config; "
               "echo 4 >> a.txt");
  EXPECT_THAT(product_.diff(), HasSubstr(" 3\n+4\n"));
}

TEST_F(HostileRepository, SymlinkedObjects_AreRefused) {  // B9
  Product other;
  other.repository(std::string("echo ") + kOutside + " > a.txt");
  other.commit_all();
  product_.sh("mv .git/objects ../objects; ln -s " + other.workspace() +
              "/.git/objects .git/objects");
  run_and_look("echo 4 >> a.txt");
}

TEST_F(HostileRepository, SubmodulesWithEvilUrls_RunNothing) {  // B7, B9
  product_.dir().write("repo/.gitmodules",
                       "[submodule \"../../x\"]\n\tpath = ../outside\n\turl = ext::" + canary_ +
                           "\n\tupdate = !" + canary_ +
                           "\n[submodule \"m\"]\n\tpath = sub\n\turl = -u" + canary_ + "\n");
  configure("[submodule \"m\"]\n\turl = ext::" + canary_ + "\n\tupdate = !" + canary_ + "\n");
  product_.sh("mkdir -p .git/modules/m; echo 'gitdir: ../../outside' > sub/.git");
  run_and_look("echo 2 > sub/f; echo 4 >> a.txt");
  EXPECT_THAT(product_.diff(), HasSubstr("+4\n"));
}

TEST_F(HostileRepository, HugeAndBrokenFiles_AreBounded) {  // B7, B15
  const Output tree = product_.git("rev-parse HEAD:sub/f");
  product_.sh(
      "head -c 50000000 /dev/zero > .git/index; mkdir -p .git/info; yes '*a*b*c text eol=crlf' | "
      "head -n 100000 > "
      ".gitattributes; yes '*a*b*c text' | head -n 30000 > .git/info/attributes; yes '*x*y*z' | "
      "head -n "
      "100000 > .gitignore; head -c 30000000 /dev/zero > .git/packed-refs; "
      "python3 - <<'E' 2>/dev/null || true\n"
      "import zlib,os\n"
      "p='.git/objects/" +
      tree.out.substr(0, 2) + "/" + tree.out.substr(2, 38) +
      "'\n"
      "os.chmod(p,0o600)\n"
      "c=zlib.compressobj(9)\n"
      "open(p,'wb').write(c.compress(b'blob 2\\0'+b'A'*300000000)+c.flush())\nE\n"
      "printf 'PACK\\0\\0\\0\\2\\377\\377\\377\\377' > .git/objects/pack/pack-0.pack; printf "
      "'\\377tOc\\0\\0\\0\\2' > .git/objects/pack/pack-0.idx");
  run_and_look("echo 2 > sub/f; echo 4 >> a.txt; echo n > new");
  EXPECT_THAT(product_.diff(), HasSubstr("+4\n"));
}

}  // namespace
}  // namespace sandglass::testing
