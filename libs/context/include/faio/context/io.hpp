// io -- a coroutine waits for one operation of its worker's engine. What net, fs and process are made of.
//
//   result<int> n = co_await context::io([&](ioengine::operation& op) { op.prepare_read(fd, buffer); });
//
// The operation lives in the coroutine's frame. A stop request cancels it; the coroutine goes on when it has completed, cancelled or
// not, because until then its buffers are the kernel's. When its worker leaves, the cancelled operation is submitted again
// on another one, unseen; so it must be one that is nothing but lost by that: not one with several completions.
#pragma once

#include <concepts>
#include <coroutine>
#include <utility>

#include "faio/context/export.hpp"
#include "faio/context/leaf_wait.hpp"
#include "faio/context/result.hpp"
#include "faio/ioengine/operation.hpp"

namespace faio::context {

class FAIO_CONTEXT_API io_awaiter : leaf_wait, scheduler::work_item, scheduler::fresh_wait, public ioengine::operation {
 public:
  io_awaiter() noexcept : io_awaiter(&completed) {}

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> waiting) {
    static_assert(std::derived_from<Promise, promise_base>, "I/O can be awaited in a faio::task only");
    suspend(waiting.promise());
  }
  /// What it completed with; operation_canceled when stop was requested before or meanwhile.
  faio::result<int> await_resume() noexcept {
    end();
    if (!_submitted) return std::unexpected(context::canceled());
    return ioengine::to_result(operation::result());
  }

 protected:
  ~io_awaiter() = default;
  /// With a completion function of a derived class, which may prepare and submit the operation again, or ends it by completed().
  explicit io_awaiter(completion complete) noexcept
      : leaf_wait(waits<io_awaiter>), work_item(how), fresh_wait(&settle), operation(complete) {}
  static void completed(operation& op) noexcept;
  /// In such a function. True: a stop request came; do not submit it again.
  using leaf_wait::is_asked;

  /// In await_suspend: the operation is submitted by that worker, and completes there; if it has left meanwhile, by any.
  void suspend_on(scheduler::worker& there, promise_base& waiting);

 private:
  friend class leaf_wait;
  void suspend(promise_base& waiting);
  void submit_here() noexcept;
  static void settle(fresh_wait& wait) noexcept;
  bool withdraw() noexcept;
  static void run_it(work_item& item) noexcept;
  static void drop_it(work_item&) noexcept {}  // part of a frame that the end of the runtime destroys
  static constexpr operations how{&run_it, &drop_it};

  bool _submitted = false;
};

template <class Prepare>
class [[nodiscard("co_await it")]] io_awaitable {
 public:
  explicit io_awaitable(Prepare prepare) : _prepare(std::move(prepare)) {}

  class awaiter final : public io_awaiter {
   public:
    explicit awaiter(Prepare& prepare) { prepare(static_cast<ioengine::operation&>(*this)); }
  };
  awaiter operator co_await() { return awaiter(_prepare); }

 private:
  Prepare _prepare;
};

/// Effect: performs the operation that `prepare(operation&)` describes. Call from: a task. Resumes on the worker's queue, so any worker.
/// What `prepare` points to stays in place until then. Stop requested: operation_canceled, once the operation has been reaped.
template <std::invocable<ioengine::operation&> Prepare>
io_awaitable<Prepare> io(Prepare prepare) {
  return io_awaitable<Prepare>(std::move(prepare));
}

}  // namespace faio::context
