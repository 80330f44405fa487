// example -- the example of README.md.
#include <gtest/gtest.h>

#include <optional>

#include "explorer/explorer.hpp"

using namespace faio::explorer;

// One thread puts a value in, another takes it out. The policy is the last template parameter, as in all our types.
template <class T, class Policy>
class mailbox {
 public:
  void put(T value) {
    _value.write() = value;
    _full.store(true, std::memory_order_release);
  }
  std::optional<T> take() {
    if (!_full.load(std::memory_order_acquire)) return std::nullopt;
    return _value.read();
  }

 private:
  typename Policy::template plain<T> _value;
  typename Policy::template atomic<bool> _full{false};
};

TEST(Example, AMailboxDeliversWhatWasPutIn) {
  const report result = explore({.preemptions = 2}, [](run& run) {
    mailbox<int, atomics> box;  // made afresh for each execution
    std::optional<int> got;
    run.thread("sender", [&] { box.put(7); });
    run.thread("receiver", [&] { got = box.take(); });
    run.join();  // the threads run here
    check(!got || *got == 7, "what comes out is what was put in");
  });
  EXPECT_TRUE(result.ok()) << result;
}
