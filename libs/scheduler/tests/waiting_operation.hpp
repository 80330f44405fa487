// waiting_operation -- an operation of a worker's engine that completes when the test wants it.
#pragma once

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <span>

#include "faio/scheduler/worker.hpp"
#include "scheduler_fixture.hpp"

namespace faio::scheduler::testing {

/// Waits for an event; when it has come, the item is ready.
class waiting_operation final : public ioengine::operation {
 public:
  explicit waiting_operation(test_item* ready = nullptr)
      : operation([](operation& op) noexcept {
          if (test_item* const item = static_cast<waiting_operation&>(op)._ready) current_worker()->push_quietly(*item);
        }),
        _ready(ready),
        _event(::eventfd(0, EFD_CLOEXEC)) {}
  waiting_operation(const waiting_operation&) = delete;
  waiting_operation& operator=(const waiting_operation&) = delete;
  ~waiting_operation() { ::close(_event); }
  void submit_here() {
    _is_submitted = true;
    prepare_read(_event, std::as_writable_bytes(std::span(&_count, 1)));
    current_worker()->io().submit(*this);
  }
  [[nodiscard]] bool is_submitted() const noexcept { return _is_submitted; }
  void happen() const {
    const std::uint64_t one = 1;
    ASSERT_EQ(::write(_event, &one, sizeof one), static_cast<ssize_t>(sizeof one));
  }

 private:
  test_item* _ready;
  int _event;
  std::uint64_t _count = 0;
  bool _is_submitted = false;
};

}  // namespace faio::scheduler::testing
