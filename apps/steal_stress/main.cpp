// steal_stress -- everything that the runtime does, at once, at random, and each task counted exactly once.
//
//   callers   plain threads; each grows one random tree after the other by block_on and expects its book to balance afterwards
//   host      a plain thread that is a worker too, by run()
//   chaos     attaches and detaches workers meanwhile
//   watchdog  ends the program when a caller, or the end of the runtime, stands still for longer than the bound
//
// Start at tree.hpp for what the tasks do.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

#include "chaos.hpp"
#include "dice.hpp"
#include "ledger.hpp"
#include "options.hpp"
#include "report.hpp"
#include "tree.hpp"
#include "watchdog.hpp"

namespace steal_stress {
namespace {

class stress {
 public:
  explicit stress(const options& wanted)
      : _wanted(wanted),
        _dog(std::chrono::duration_cast<clock::duration>(wanted.stall_bound),
             [this](const std::string& what) { fail(what + " has not moved for too long"); }) {
    for (std::size_t i = 0; i < wanted.callers; ++i) _books.push_back(&_kept.emplace_back(_faults));
  }

  void run() {
    std::thread host;
    if (_wanted.host) host = std::thread([this] { _runtime.run(); });
    if (_wanted.chaos) {
      grow_trees_in_chaos();
    } else {
      grow_trees();
    }
    _stopping = true;
    const auto stopped = _runtime.stop();
    if (host.joinable()) host.join();
    _stopping = false;
    _bar.clear();
    if (!stopped || !stopped.still_running.empty()) _faults.report("something was still running at the end");
    if (_unhandled != _garden.orphaned) {
      _faults.report(std::to_string(_garden.orphaned) + " exceptions had nobody to take them, on_unhandled saw " +
                     std::to_string(_unhandled));
    }
    const auto wait = longest_wait(_books);
    if (wait.longest > _wanted.stall_bound)
      _faults.report(std::string("a ready task waited too long after ") + name(wait.where));
    if (_faults.any()) fail(_faults.first());
    print_summary();
  }

 private:
  void grow_trees_in_chaos() {
    chaos workers(_garden, _faults, dice(_wanted.seed).roll(), _wanted.workers);
    const std::string what = "attaching and detaching of workers";
    _dog.add(what, [&] { return workers.progress(); });
    grow_trees();
    workers.end();
    _dog.remove(what);
    _attached = workers.attached();
    _detached = workers.detached();
  }

  void grow_trees() {
    _dog.add("stop()", [&] { return _stopping ? 0 : watchdog::at_rest; });
    const auto began = clock::now();
    std::vector<std::thread> callers;
    for (std::size_t i = 0; i < _wanted.callers; ++i) {
      callers.emplace_back([this, i] { call(i); });
      _dog.add("caller " + std::to_string(i),
               [this, i] { return _books[i]->closed() ? watchdog::at_rest : _books[i]->progress(); });
    }
    while (!_faults.any()) {
      const std::chrono::duration<double> passed = clock::now() - began;
      if (passed > _wanted.length) break;
      _bar.show(_wanted, passed.count(), tasks(), _runtime.metrics().total());
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    _over = true;
    for (auto& each : callers) each.join();
  }

  /// A caller: one tree after the other.
  void call(std::size_t index) {
    book& into = *_books[index];
    dice random(dice(_wanted.seed ^ (index + 1)).roll());
    while (!_over && !_faults.any()) {
      const auto seed = random.roll();
      const auto levels = static_cast<unsigned>(1 + random.below(5));
      switch (random.below(4)) {
        case 0: {
          const auto other = random.roll();
          _runtime.wait_all(grow(_garden, into, ticket(into, place::root), seed, levels),
                            grow(_garden, into, ticket(into, place::root), other, levels));
          into.expect_balance("wait_all");
          break;
        }
        case 1:
          _runtime.block_on([&, entry = ticket(into, place::root)]() mutable -> faio::task<void> {
            const auto got = co_await grow(_garden, into, std::move(entry), seed, levels);
            if (got != fingerprint(seed)) into.fault("block_on of a callable gave another result");
          });
          into.expect_balance("block_on of a callable");
          break;
        default:
          if (_runtime.block_on(grow(_garden, into, ticket(into, place::root), seed, levels)) != fingerprint(seed)) {
            into.fault("block_on gave another result");
          }
          into.expect_balance("block_on");
      }
      ++_trees;
    }
    into.close();
  }

  [[nodiscard]] std::uint64_t tasks() const {
    std::uint64_t sum = 0;
    for (const book* each : _books) sum += each->tasks();
    return sum;
  }

  void print_summary() const {
    const auto total = _runtime.metrics().total();
    const auto wait = longest_wait(_books);
    const auto wide = [](std::uint64_t number) { return static_cast<unsigned long long>(number); };
    std::printf("ok: %llu tasks in %llu trees, each made, begun and ended once; %s\n", wide(tasks()), wide(_trees),
                _runtime.metrics().engine_reason.c_str());
    std::printf("  steals %llu of %llu, tasks stolen %llu, slots taken %llu, parks %llu, wakes %llu, overflow %llu\n",
                wide(total.steals_won), wide(total.steals_tried), wide(total.tasks_stolen), wide(total.slots_taken),
                wide(total.parks), wide(total.wakes), wide(total.overflows));
    std::printf("  workers attached %llu, detached %llu; exceptions without a taker %llu\n", wide(_attached),
                wide(_detached), wide(_unhandled));
    print_waits(stdout, _books);
    std::printf("  longest stall %.1f ms (%s)\n", std::chrono::duration<double, std::milli>(wait.longest).count(),
                name(wait.where));
  }

  [[noreturn]] void fail(const std::string& what) {
    _bar.clear();
    std::fflush(stdout);
    std::fprintf(stderr, "steal_stress: %s\n  again with: steal_stress %s\n", what.c_str(), describe(_wanted).c_str());
    print_waits(stderr, _books);
    print_whereabouts(stderr, _books, _runtime.metrics());
    std::fflush(stderr);
    std::_Exit(1);  // threads may be stuck: no destructor would come to an end
  }

  const options _wanted;
  faults _faults;
  std::deque<book> _kept;
  std::vector<book*> _books;
  std::atomic<std::uint64_t> _unhandled{0}, _trees{0};
  std::atomic<bool> _over{false}, _stopping{false};
  std::uint64_t _attached = 0, _detached = 0;
  progress_bar _bar;
  faio::runtime_context _runtime{{.workers = _wanted.workers,
                                  .compute_workers = 2,
                                  .discipline = _wanted.discipline,
                                  .engine = _wanted.engine,
                                  .on_unhandled = [this](const std::exception_ptr&) { ++_unhandled; },
                                  .stop_grace = std::chrono::hours(1),
                                  .seed = _wanted.seed}};
  garden _garden{.runtime = _runtime, .others_are_free = !_wanted.chaos && _wanted.workers > 1};
  watchdog _dog;
};

}  // namespace
}  // namespace steal_stress

int main(int count, char** words) {
  using namespace steal_stress;
  const auto wanted = parse(count, words);
  if (!wanted) {
    std::fprintf(stderr, "steal_stress: %s\n", wanted.error().c_str());
    return 2;
  }
  if (wanted->help) {
    std::fputs(usage().c_str(), stdout);
    return 0;
  }
  std::printf("steal_stress %s\n", describe(*wanted).c_str());
  std::fflush(stdout);
  std::unique_ptr<stress> all;
  try {
    all = std::make_unique<stress>(*wanted);
  } catch (const std::system_error& error) {
    std::fprintf(stderr, "steal_stress: skipped: %s\n", error.what());
    return 77;
  }
  all->run();
  return 0;
}
