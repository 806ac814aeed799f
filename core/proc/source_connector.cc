#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/clock.h"
#include "base/fd.h"
#include "proc/process_source.h"

namespace sandglass::proc {
namespace {

constexpr int kReceiveBytes = 8 << 20;
constexpr int kAnswerMs = 1'000;

class ConnectorSource final : public ProcessSource {
 public:
  ~ConnectorSource() override {
    if (socket_) (void)order(PROC_CN_MCAST_IGNORE);
  }

  Status open() {
    socket_ =
        Fd(::socket(PF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_CONNECTOR));
    if (!socket_) return fail_errno(errno, "no netlink connector");
    sockaddr_nl address{};
    address.nl_family = AF_NETLINK;
    address.nl_groups = CN_IDX_PROC;
    if (::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) < 0)
      return fail_errno(errno, "no process connector");
    if (::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUFFORCE, &kReceiveBytes,
                     sizeof kReceiveBytes) < 0)
      return fail_errno(errno, "no room for the process connector's events");
    if (Status asked = order(PROC_CN_MCAST_LISTEN); !asked) return asked;
    return acknowledged();
  }

  int fd() const override { return socket_.get(); }

  void drain(const std::function<void(const ProcessEvent&)>& take) override {
    alignas(nlmsghdr) std::array<char, 4096> buffer;
    for (;;) {
      const ssize_t n = receive(buffer);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == ENOBUFS) {
        take(ProcessEvent{});
        continue;
      }
      if (n <= 0) return;
      if (const auto event = event_in(buffer.data(), n)) tell(*event, take);
    }
  }

 private:
  Status order(proc_cn_mcast_op op) {
    struct {
      nlmsghdr head;
      char body[NLMSG_ALIGN(sizeof(cn_msg) + sizeof(op))];
    } message{};
    message.head.nlmsg_len = NLMSG_LENGTH(sizeof(cn_msg) + sizeof op);
    message.head.nlmsg_type = NLMSG_DONE;
    cn_msg to{};
    to.id = {CN_IDX_PROC, CN_VAL_PROC};
    to.len = sizeof op;
    std::memcpy(message.body, &to, sizeof to);
    std::memcpy(message.body + sizeof to, &op, sizeof op);
    if (::send(socket_.get(), &message, message.head.nlmsg_len, 0) < 0)
      return fail_errno(errno, "the process connector cannot be asked");
    return {};
  }

  // Where it may not be listened to the kernel may say nothing at all.
  Status acknowledged() {
    alignas(nlmsghdr) std::array<char, 4096> buffer;
    const int64_t end = mono_ns() + kAnswerMs * 1'000'000LL;
    while (mono_ns() < end) {
      if (!wait_fd(socket_.get(), POLLIN, 50)) continue;
      const ssize_t n = receive(buffer);
      const auto event = n > 0 ? event_in(buffer.data(), n) : std::nullopt;
      if (!event) continue;
      if (event->what != proc_event::PROC_EVENT_NONE) return {};
      if (event->event_data.ack.err == 0) return {};
      return fail_errno(static_cast<int>(event->event_data.ack.err),
                        "the process connector may not be listened to");
    }
    return fail(Fault::denied, "the process connector does not answer");
  }

  // Only what the kernel itself sent.
  ssize_t receive(std::array<char, 4096>& buffer) {
    sockaddr_nl from{};
    socklen_t size = sizeof from;
    const ssize_t n = ::recvfrom(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT,
                                 reinterpret_cast<sockaddr*>(&from), &size);
    if (n > 0 && from.nl_pid != 0) {
      errno = EINTR;
      return -1;
    }
    return n;
  }

  // A copy, for it stands at a multiple of four only.
  static std::optional<proc_event> event_in(const char* bytes, ssize_t n) {
    const auto* head = reinterpret_cast<const nlmsghdr*>(bytes);
    const auto size = static_cast<size_t>(n);
    if (size < NLMSG_LENGTH(sizeof(cn_msg)) || head->nlmsg_len > size) return std::nullopt;
    const auto* message = reinterpret_cast<const cn_msg*>(NLMSG_DATA(head));
    if (message->id.idx != CN_IDX_PROC || message->id.val != CN_VAL_PROC) return std::nullopt;
    proc_event event{};
    const size_t there = size - NLMSG_LENGTH(sizeof(cn_msg));
    std::memcpy(&event, message->data, std::min({sizeof event, there, size_t{message->len}}));
    return event;
  }

  static void tell(const proc_event& event, const std::function<void(const ProcessEvent&)>& take) {
    ProcessEvent out;
    out.at_ns = static_cast<int64_t>(event.timestamp_ns);
    const auto& data = event.event_data;
    switch (event.what) {
      case proc_event::PROC_EVENT_FORK:
        if (data.fork.child_pid != data.fork.child_tgid) return;
        out.kind = ProcessEvent::Kind::fork;
        out.pid = data.fork.child_tgid;
        out.ppid = data.fork.parent_tgid;
        return take(out);
      case proc_event::PROC_EVENT_EXEC:
        out.kind = ProcessEvent::Kind::exec;
        out.pid = data.exec.process_tgid;
        return take(out);
      case proc_event::PROC_EVENT_EXIT:
        if (data.exit.process_pid != data.exit.process_tgid) return;
        out.kind = ProcessEvent::Kind::exit;
        out.pid = data.exit.process_tgid;
        return take(out);
      default:
        return;
    }
  }

  Fd socket_;
};

}  // namespace

Result<std::unique_ptr<ProcessSource>> open_connector_source() {
  auto source = std::make_unique<ConnectorSource>();
  if (Status opened = source->open(); !opened) return tl::unexpected(opened.error());
  return source;
}

}  // namespace sandglass::proc
