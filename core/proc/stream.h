// The poll loop of one running call: notes from the keeper, output, input, deadline, cancellation,
// and the end of the tree. Every wait in it is bounded.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/result.h"
#include "proc/child.h"
#include "proc/keeper.h"
#include "proc/spawn.h"

struct pollfd;

namespace sandglass::proc {

// Lives on the thread that called run().
class Stream {
 public:
  // running(pid, pidfd) is told when the command has a pid, ended() before that pid is given away.
  struct Watch {
    std::function<void(int pid, int pidfd)> running;
    std::function<void()> ended;
  };
  Stream(const Spawn& what, Io& io, const Limits& limits, Child& child, Watch watch);

  // Until the command has ended and its output is delivered, or the tree is ended.
  Result<Exit> run();
  // Nothing of the call was left at the end.
  bool empty_at_end() const { return idle_; }

 private:
  struct Source {
    int number;
    Fd* fd;
    size_t owed = 0;  // bytes that were in the pipe when the command ended
    bool wanted = true;
    bool readable = false;
  };

  void wait();
  int milliseconds_to_next() const;
  void read_notes();
  void take(const Note& note, Fd pidfd);
  void open_gate();
  void command_ended(const Note& note);

  void check_limits();
  void begin_end(Fault why);
  void go_on_ending(int64_t now);
  bool all_gone() const;

  void read_output(Source& source);
  bool output_done(int64_t now) const;
  void feed();
  void fill_input();
  void end_of_input();

  bool done();
  Result<Exit> outcome();

  const Spawn& what_;
  Io& io_;
  const Limits& limits_;
  Child& child_;
  Watch watch_;

  std::vector<char> buffer_;
  Source out_, err_;

  std::vector<char> input_;  // read from the caller, not yet taken by the child
  size_t input_at_ = 0;
  bool input_ended_, input_ready_ = false, child_takes_ = false, line_is_open_ = false;
  bool cancel_ready_ = false;

  bool pid_known_ = false, ended_ = false, idle_ = false, keeper_gone_ = false;
  std::optional<Exit> exit_;
  std::optional<Error> fault_;   // ours: no fork, keeper killed
  std::optional<Fault> ending_;  // why the tree is being ended
  int64_t drain_until_ = 0;      // once the command, or the tree, has ended
  int64_t kill_at_ = 0, give_up_at_ = 0;
  int rounds_ = 0;   // of KILL
  size_t left_ = 0;  // members at the last look while ending
};

}  // namespace sandglass::proc
