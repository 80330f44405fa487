// channel_stress_test -- counts messages while senders and receivers are stopped and timed out at random: each arrives exactly once.
//
//   FAIO_ROUNDS=10000000 FAIO_SEED=1 channel_stress_test
#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <random>

#include "faio/context/timeout.hpp"
#include "faio/sync/channel.hpp"
#include "scene.hpp"

namespace faio::sync {
namespace {

constexpr std::uint64_t senders = 4;
constexpr std::uint64_t receivers = 4;
using random_source = std::minstd_rand;

/// Now and then somebody is slow, so that the others wait: who does not wait cannot give up.
task<> dawdle(random_source& random) {
  if (random() % 64 != 0) co_return;
  for (auto turns = random() % 64; turns != 0; --turns) co_await yield();
}

/// One message in ten is sent, and one receive in ten made, under a threat.
enum class threat : std::uint8_t { none, timeout, stop };
threat next_threat(random_source& random) {
  const auto drawn = random() % 20;
  return drawn == 0 ? threat::timeout : drawn == 1 ? threat::stop : threat::none;
}

task<result<void>> send_one(channel<std::uint64_t>& to, std::uint64_t value) { co_return co_await to.send(value); }
task<result<std::uint64_t>> receive_one(channel<std::uint64_t>& from) { co_return co_await from.recv(); }

/// Spawned, and asked to stop some turns later, by when it may or may not have what it waited for.
template <class T>
task<T> stopped_soon(task<T> what, random_source& random) {
  auto handle = spawn(std::move(what));
  for (auto turns = random() % 4; turns != 0; --turns) co_await yield();
  handle.request_stop();
  co_return co_await std::move(handle);
}

struct tally {
  explicit tally(std::uint64_t messages) : seen(std::make_unique<std::atomic<std::uint8_t>[]>(messages)) {}
  std::unique_ptr<std::atomic<std::uint8_t>[]> seen;
  std::atomic<std::uint64_t> received{0};
  std::atomic<std::uint64_t> sends_given_up{0};
  std::atomic<std::uint64_t> receives_given_up{0};
  std::atomic<std::uint64_t> out_of_order{0};
};

task<> send_all(channel<std::uint64_t>& to, std::uint64_t from, std::uint64_t until, tally& count,
                random_source random) {
  for (std::uint64_t i = from; i < until;) {
    result<void> sent;
    co_await dawdle(random);
    switch (next_threat(random)) {
      case threat::none:
        sent = co_await to.send(i);
        break;
      case threat::timeout:
        sent = co_await timeout(std::chrono::microseconds(random() % 3), to.send(i));
        break;
      case threat::stop:
        sent = co_await stopped_soon(send_one(to, i), random);
        break;
    }
    if (sent) {
      ++i;
    } else {
      count.sends_given_up.fetch_add(1, std::memory_order_relaxed);  // and once more
    }
  }
}

task<> receive_all(channel<std::uint64_t>& from, std::uint64_t messages, tally& count, random_source random) {
  std::array<std::uint64_t, senders> next{};
  for (;;) {
    result<std::uint64_t> got;
    co_await dawdle(random);
    switch (next_threat(random)) {
      case threat::none:
        got = co_await from.recv();
        break;
      case threat::timeout:
        got = co_await timeout(std::chrono::microseconds(random() % 3), from.recv());
        break;
      case threat::stop:
        got = co_await stopped_soon(receive_one(from), random);
        break;
    }
    if (got) {
      count.seen[*got].fetch_add(1, std::memory_order_relaxed);
      count.received.fetch_add(1, std::memory_order_relaxed);
      std::uint64_t& least = next[*got * senders / messages];
      if (*got < least) count.out_of_order.fetch_add(1, std::memory_order_relaxed);
      least = *got + 1;
    } else if (got.error() == errc::closed) {
      co_return;
    } else {
      count.receives_given_up.fetch_add(1, std::memory_order_relaxed);
    }
  }
}

class ChannelStressTest : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Capacity, ChannelStressTest, testing::Values(0, 1, 32));

TEST_P(ChannelStressTest, EveryMessageArrivesOnceThoughSendersAndReceiversGiveUp) {
  const std::uint64_t seed = seed_of_this_run();
  // The same from each sender, and over all capacities no fewer than were asked for.
  constexpr std::uint64_t capacities = 3;
  const std::uint64_t each =
      (std::max<std::uint64_t>(rounds_of_this_run(1'000'000), 1) - 1) / (capacities * senders) + 1;
  const std::uint64_t messages = each * senders;
  runtime_context ctx{{.workers = 3}};
  channel<std::uint64_t> numbers(GetParam());
  tally count(messages);
  ctx.block_on([&]() -> task<> {
    task_group sending;
    task_group receiving;
    const auto random = [&](std::uint64_t which) {
      return random_source(static_cast<random_source::result_type>(seed * 31 + which * 7919 + 1));
    };
    for (std::uint64_t i = 0; i < receivers; ++i) {
      receiving.spawn(receive_all(numbers, messages, count, random(senders + i)));
    }
    for (std::uint64_t i = 0; i < senders; ++i) {
      sending.spawn(send_all(numbers, messages / senders * i, messages / senders * (i + 1), count, random(i)));
    }
    co_await sending.join();
    numbers.close();
    co_await receiving.join();
  });
  EXPECT_EQ(count.received.load(), messages);
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < messages; ++i) wrong += count.seen[i].load(std::memory_order_relaxed) == 1 ? 0 : 1;
  EXPECT_EQ(wrong, 0U) << "lost, or came twice";
  EXPECT_EQ(count.out_of_order.load(), 0U);
  std::printf("%llu messages, %llu sends and %llu receives given up\n", static_cast<unsigned long long>(messages),
              static_cast<unsigned long long>(count.sends_given_up.load()),
              static_cast<unsigned long long>(count.receives_given_up.load()));
}

}  // namespace
}  // namespace faio::sync
