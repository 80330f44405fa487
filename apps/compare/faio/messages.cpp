// messages -- tasks that wait for each other: round trips, a bounded channel, a lock.
#include <cstdint>
#include <utility>

#include "workloads.hpp"

namespace compare {
namespace {

using faio::task;
namespace s = faio::sync;

task<> pong(s::channel<std::uint64_t>& from, s::channel<std::uint64_t>& to) {
  while (auto got = co_await from.recv()) co_await to.send(*got);
}
task<> ping(s::channel<std::uint64_t>& there, s::channel<std::uint64_t>& back, std::size_t n) {
  auto other = faio::spawn(pong(there, back));
  for (std::size_t i = 0; i < n; ++i) {
    co_await there.send(i);
    auto got = co_await back.recv();
    expect(got && *got == i, "ping_pong");
  }
  there.close();
  co_await std::move(other);
}

using question = s::oneshot<std::uint64_t>::sender_type;

task<> answer_all(s::channel<question>& questions) {
  std::uint64_t next = 0;
  while (auto got = co_await questions.recv()) (void)got->send(next++);
}
task<> ask_all(s::channel<question>& questions, std::size_t n) {
  auto other = faio::spawn(answer_all(questions));
  for (std::size_t i = 0; i < n; ++i) {
    s::oneshot<std::uint64_t> answer;
    co_await questions.send(answer.sender());
    auto got = co_await answer.recv();
    expect(got && *got == i, "ask");
  }
  questions.close();
  co_await std::move(other);
}

task<> produce(s::channel<std::uint64_t>& to, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) co_await to.send(i);
}
task<> consume(s::channel<std::uint64_t>& from, std::size_t producers, std::size_t each) {
  faio::task_group group;
  for (std::size_t i = 0; i < producers; ++i) group.spawn(produce(from, each));
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < producers * each; ++i) {
    auto got = co_await from.recv();
    sum += *got;
  }
  expect(sum == producers * (each * (each - 1) / 2), "channel");
  co_await group.join();
}

task<> lock_often(s::mutex& lock, std::uint64_t& count, std::size_t n, bool across_yield) {
  for (std::size_t i = 0; i < n; ++i) {
    auto guard = co_await lock.lock();
    ++count;
    if (across_yield) co_await faio::yield();
  }
}

}  // namespace

/// Two channels of capacity 1.
void ping_pong(options& wanted) {
  const std::size_t n = wanted.number("n", 500'000);
  faio::runtime_context ctx(configured(wanted));
  wanted.all_asked();
  s::channel<std::uint64_t> there(1);
  s::channel<std::uint64_t> back(1);
  timed(n, [&] { ctx.block_on(ping(there, back, n)); }).print();
}

/// A channel of requests, and an oneshot of its own for each answer.
void ask(options& wanted) {
  const std::size_t n = wanted.number("n", 500'000);
  faio::runtime_context ctx(configured(wanted));
  wanted.all_asked();
  s::channel<question> questions(1);
  timed(n, [&] { ctx.block_on(ask_all(questions, n)); }).print();
}

void channel(options& wanted) {
  const std::size_t producers = wanted.number("producers", 4);
  const std::size_t each = wanted.number("n", 1'000'000) / producers;
  s::channel<std::uint64_t> items(wanted.number("capacity", 128));
  faio::runtime_context ctx(configured(wanted));
  wanted.all_asked();
  timed(each * producers, [&] { ctx.block_on(consume(items, producers, each)); }).print();
}

void mutex(options& wanted) {
  const std::size_t tasks = wanted.number("tasks", 8);
  const std::size_t each = wanted.number("n", 1'000'000) / tasks;
  const bool across_yield = wanted.number("across_yield", 0) != 0;
  faio::runtime_context ctx(configured(wanted));
  wanted.all_asked();
  s::mutex lock;
  std::uint64_t count = 0;
  timed(each * tasks, [&] {
    ctx.block_on([&]() -> task<> {
      faio::task_group group;
      for (std::size_t i = 0; i < tasks; ++i) group.spawn(lock_often(lock, count, each, across_yield));
      co_await group.join();
    });
  }).print();
  expect(count == each * tasks, "mutex");
}

}  // namespace compare
