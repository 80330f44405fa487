// scene -- what the tests of the primitives share: tasks that are known to wait, a number from the environment, and how many descriptors are open.
#pragma once

#include <dirent.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "faio/context/context.hpp"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define FAIO_UNDER_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define FAIO_UNDER_SANITIZER 1
#endif
#endif
#ifndef FAIO_UNDER_SANITIZER
#define FAIO_UNDER_SANITIZER 0
#endif

namespace faio::sync {

/// On a runtime with one worker: spawns it, and returns when it has run until it waits (or has ended). The worker runs tasks in the order in which
/// they were spawned from outside, so what is behind it runs after it.
template <class T>
join_handle<T> spawn_until_it_waits(runtime_context& one_worker, task<T> what) {
  auto handle = one_worker.spawn(std::move(what));
  one_worker.block_on([]() -> task<> { co_await yield(); });
  return handle;
}

/// On a runtime with one worker, on which somebody waits for `held`, as the first in line: calls it until it will be called no more, but handed
/// the lock. It is held before and after.
template <class Mutex>
void let_it_come_in_vain(runtime_context& one_worker, Mutex& held) {
  one_worker.block_on([&held]() -> task<> {
    for (int i = 0; i < 3; ++i) {
      held.unlock();
      EXPECT_TRUE(held.try_lock());  // before the one that is called could run
      co_await yield();
    }
  });
}

inline std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 0) : otherwise;
}

/// FAIO_SEED, or one that is drawn; printed either way.
inline std::uint64_t seed_of_this_run() {
  const std::uint64_t seed = number_from_environment("FAIO_SEED", std::random_device{}());
  std::printf("seed: FAIO_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

/// FAIO_ROUNDS, or `usual`; a fifth of that under a sanitizer.
inline std::uint64_t rounds_of_this_run(std::uint64_t usual) {
  return number_from_environment("FAIO_ROUNDS", FAIO_UNDER_SANITIZER != 0 ? usual / 5 : usual);
}

inline std::size_t open_descriptors() {
  std::size_t count = 0;
  DIR* const folder = ::opendir("/proc/self/fd");
  while (::readdir(folder) != nullptr) ++count;
  ::closedir(folder);
  return count;
}

/// Whether it failed with this.
template <class T, class Code>
bool failed_with(const result<T>& what, Code code) {
  return !what.has_value() && what.error() == code;
}

}  // namespace faio::sync
