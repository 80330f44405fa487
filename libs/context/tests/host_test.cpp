// host_test -- a thread that drives a worker by itself spawns between two of its calls.
#include <gtest/gtest.h>
#include <poll.h>

#include "runtimes.hpp"

namespace faio::tests {
namespace {

using HostEverywhere = EveryRuntime;
FAIO_EVERY_RUNTIME(HostEverywhere);

task<void> opens(gate& what) {
  what.open();
  co_return;
}

bool soon_readable(int handle) {
  pollfd about{.fd = handle, .events = POLLIN, .revents = 0};
  return ::poll(&about, 1, static_cast<int>(generous / 1ms)) == 1;
}

TEST_P(HostEverywhere, WhatItSpawnsBetweenTwoCallsIsRunByThoseWhoAreFree) {
  runtime_context ctx{with(1)};
  (void)ctx.native_handle();
  (void)ctx.run_once();
  for (const auto order : {priority::low, priority::normal}) {
    gate ran;
    auto handle = ctx.spawn(order, opens(ran));
    ran.wait();
  }
}

TEST_P(HostEverywhere, WhatNobodyElseIsFreeForMakesItsHandleReadable) {
  for (const auto order : {priority::low, priority::normal}) {
    gate busy, over, ran;
    runtime_context ctx{with(1)};
    const int handle = ctx.native_handle();
    ctx.post_to(0, [&] {
      busy.open();
      over.wait();
    });
    busy.wait();
    while (ctx.run_once() != 0) continue;
    auto spawned = ctx.spawn(order, opens(ran));
    EXPECT_TRUE(soon_readable(handle));
    while (!ran.is_open()) (void)ctx.run_once();
    over.open();
  }
}

}  // namespace
}  // namespace faio::tests
