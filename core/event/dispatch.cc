#include "event/dispatch.h"

#include <algorithm>
#include <map>

#include "base/clock.h"
#include "event/lane.h"
#include "event/watchdog.h"

namespace sandglass {
namespace {

constexpr size_t kPage = 1024;
constexpr uint64_t kCounted = 200'000;  // events looked at for a count; beyond, each counts
constexpr int kLastStopMs = 10'000;     // of a dispatcher that nobody stopped

int64_t end_of(int timeout_ms) {
  return mono_ns() + int64_t{std::max(timeout_ms, 0)} * 1'000'000;
}

// A handler that had not got everything at the deadline.
struct Late {
  Lane* lane;
  uint64_t done;
  uint64_t told;  // what it missed up to here was reported before
  DrainReport::Part* part = nullptr;
  uint64_t missed = 0;
};

class LaneDispatcher : public Dispatcher {
 public:
  LaneDispatcher(Journal& journal, std::vector<Handler> handlers, const ContentSource& content)
      : journal_(journal), watchdog_([this](int64_t now) { return look(now); }) {
    for (Handler& handler : handlers) add(std::move(handler), content);
    for (const auto& lane : lanes_) lane->start([this](int64_t at) { watchdog_.expect(at); });
  }
  ~LaneDispatcher() override { stop(kLastStopMs); }

  DrainReport drain(int timeout_ms) override {
    const int64_t end = end_of(timeout_ms);
    const uint64_t wanted = journal_.last_seq();
    DrainReport report;
    std::vector<Late> late;
    for (const auto& lane : lanes_)
      if (!lane->wait_done(wanted, end))
        late.push_back({lane.get(), lane->done(), told_[lane.get()]});
    std::erase_if(late, [wanted](const Late& one) { return one.done >= wanted; });
    for (Late& one : late) one.part = &part_of(*one.lane, report);
    for (DrainReport::Part* part : {&report.late, &report.kept, &report.given_up})
      count(late, wanted, *part);
    for (const Late& one : late) told_[one.lane] = wanted;
    return report;
  }

  bool owes() const override {
    const uint64_t last = journal_.last_seq();
    return std::any_of(lanes_.begin(), lanes_.end(),
                       [last](const auto& lane) { return lane->durable() && lane->done() < last; });
  }

  void stop(int timeout_ms) override {
    if (std::exchange(stopped_, true)) return;
    const int64_t end = end_of(timeout_ms);
    for (const auto& lane : lanes_) lane->ask_to_stop(end);
    for (const auto& lane : lanes_) lane->end(end);
  }

 private:
  void add(Handler handler, const ContentSource& content) {
    uint64_t after = journal_.last_seq();
    if (handler.durable) {
      const Places places = journal_.places();
      const auto known = places.find(handler.name);
      if (known != places.end())
        after = std::min(after, known->second.seq);
      else
        journal_.keep_place(handler.name, {after, SG_EV_ALL, 0, 0});
    }
    lanes_.push_back(std::make_shared<Lane>(std::move(handler), journal_, after, content));
  }

  int64_t look(int64_t now) {
    int64_t again = Watchdog::kNever;
    for (const auto& lane : lanes_) again = std::min(again, lane->look(now));
    return again;
  }

  static DrainReport::Part& part_of(Lane& lane, DrainReport& report) {
    if (lane.durable()) return report.kept;
    return lane.given_up() ? report.given_up : report.late;
  }

  void count(std::vector<Late>& all, uint64_t last, DrainReport::Part& part) {
    std::vector<Late> mine;
    for (const Late& one : all)
      if (one.part == &part) mine.push_back(one);
    if (mine.empty()) return;
    part.events = missed_by(mine, last);
    for (const Late& one : mine)
      if (one.missed) part.hooks.push_back(one.lane->name());
  }

  // Events up to `last` that one of them wants and has not got.
  uint64_t missed_by(std::vector<Late>& late, uint64_t last) {
    uint64_t from = last;
    for (const Late& one : late) from = std::min(from, std::max(one.done, one.told));
    const auto cursor = journal_.subscribe(from);
    uint64_t missed = 0;
    while (cursor->position() < last) {
      const auto events =
          cursor->position() - from < kCounted ? cursor->next(kPage, 0) : std::vector<EventPtr>{};
      if (events.empty()) {
        for (Late& one : late) one.missed++;
        return missed + (last - cursor->position());
      }
      for (const EventPtr& event : events) missed += count_one(late, *event, last);
    }
    return missed;
  }

  static uint64_t count_one(std::vector<Late>& late, const Event& event, uint64_t last) {
    if (event.seq > last) return 0;
    bool missed = false;
    for (Late& one : late) {
      if (event.seq <= std::max(one.done, one.told) || !one.lane->wants(event)) continue;
      one.missed++;
      missed = true;
    }
    return missed;
  }

  Journal& journal_;
  std::vector<std::shared_ptr<Lane>> lanes_;  // complete before the first is started
  std::map<const Lane*, uint64_t> told_;      // drain()'s: up to where a lane's lag was reported
  bool stopped_ = false;
  Watchdog watchdog_;
};

}  // namespace

std::unique_ptr<Dispatcher> Dispatcher::start(Journal& journal, std::vector<Handler> handlers,
                                              ContentSource content) {
  return std::make_unique<LaneDispatcher>(journal, std::move(handlers), content);
}

}  // namespace sandglass
