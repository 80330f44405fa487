// promise -- running from a queue, the end of a fork's child, and the destruction of what will never run.
#include "faio/context/promise.hpp"

#include <stdexcept>
#include <string>

#include "faio/context/live_task.hpp"
#include "faio/context/task.hpp"
#include "faio/context/task_list.hpp"

namespace faio::context {

void promise_base::run_it(work_item& item) noexcept {
  auto& self = static_cast<promise_base&>(item);
  scheduler::thread_state& here =
      scheduler::this_thread();  // this function stays on its thread, the coroutine need not
  here.scope = self._scope;
  here.in_a_run = true;
  self.handle().resume();
  here.in_a_run = false;
  here.scope = nullptr;  // it may be gone, and callbacks of the loop belong to nobody
  scope::settle(here);
}

/// Not by who spawns it: that may be on another worker, and the list's lock and the neighbours there would come and go between the two.
void promise_base::run_first(work_item& item) noexcept {
  auto& self = static_cast<promise_base&>(item);
  self.becomes(how);
  static_cast<live_task*>(self._next)->starts();
  run_it(item);
}

/// The list's, with all others that the end of the runtime finds.
void promise_base::drop_first(work_item& item) noexcept {
  static_cast<live_task*>(static_cast<promise_base&>(item)._next)->starts();
}

/// A child has ended. A sibling that is still the newest of this worker's deque goes on with both weights; only when there is
/// none is the counter touched.
std::coroutine_handle<> promise_base::finish_join() noexcept {
  fork_join& fork = *static_cast<fork_join*>(_next);
  const std::uint32_t weight = this->weight();
  handle().destroy();
  if (fork.counter.is_all(weight)) return transfer_back(*fork.parent);
  scheduler::worker& here = *scheduler::current_worker();
  if (!here.may_transfer()) [[unlikely]]
    return arrive(fork, weight, nullptr);
  work_item* const newest = here.pop_fork();
  if (newest == nullptr || &newest->how() != &how) return arrive(fork, weight, newest);
  auto& sibling = static_cast<promise_base&>(*newest);
  if (sibling.how_it_ends() != end::joins || sibling._next != &fork) return arrive(fork, weight, newest);
  sibling._ending += weight * one_weight;
  return sibling.handle();
}

/// `other`: what was popped and is somebody else's. A function of its own: finish_join is quicker without the registers that it needs.
[[gnu::noinline]] std::coroutine_handle<> promise_base::arrive(fork_join& fork, std::uint32_t weight,
                                                               work_item* other) noexcept {
  promise_base& parent = *fork.parent;  // the fork may be gone once we have arrived
  const bool last = fork.counter.arrive(weight);
  // Back to where it was, and told again, since it was out of sight for a moment.
  if (other != nullptr) scheduler::current_worker()->fork(*other);
  return last ? transfer_back(parent) : std::noop_coroutine();
}

/// Where no coroutine simply goes on.
std::coroutine_handle<> promise_base::finish_telling() noexcept {
  void* const next = _next;
  const end how_ended = how_it_ends();
  handle().destroy();
  if (how_ended == end::spawned) return static_cast<live_task*>(next)->ended();
  return static_cast<end_listener*>(next)->ended();
}

/// One that it waits for and that is still there.
promise_base* promise_base::next_awaited() noexcept {
  if (_awaits == 0) return nullptr;
  if ((_awaits & list_bit) != 0) return reinterpret_cast<child_list*>(_awaits & ~list_bit)->next_unended();
  return reinterpret_cast<promise_base*>(_awaits);
}

/// The coroutine that waits for it and owns its frame.
promise_base* promise_base::waiting() noexcept {
  switch (how_it_ends()) {
    case end::resumes:
      return static_cast<promise_base*>(_next);
    case end::joins:
      return static_cast<fork_join*>(_next)->parent;
    case end::tells:
      return static_cast<end_listener*>(_next)->waiting();
    case end::spawned:
      return nullptr;
  }
  return nullptr;
}

/// A walk along pointers that are there anyway: recursion, or a list of what is still to do, would grow with the tree.
void promise_base::destroy_tree(promise_base& root) noexcept {
  for (promise_base* at = &root;;) {
    if (promise_base* const below = at->next_awaited()) {
      at = below;
      continue;
    }
    const bool is_root = at == &root;
    promise_base* const up = is_root ? nullptr : at->waiting();
    end_listener* const listener =
        is_root || at->how_it_ends() != end::tells ? nullptr : static_cast<end_listener*>(at->_next);
    if (up != nullptr && up->awaits(at)) up->awaits_nobody();
    at->handle().destroy();
    if (is_root) return;
    if (listener != nullptr) listener->destroyed();
    at = up;
  }
}

void throw_bad_frame() {
  throw std::logic_error(
      "faio: this compiler (g++ before 12.3, its bug 106713) makes an unusable frame for a coroutine that has co_await "
      "in the "
      "condition of an if, a loop or a switch and has no local variable; name what was awaited: auto got = co_await "
      "...; "
      "if (got) ...");
}

void throw_no_room(const char* what) {
  throw std::logic_error(std::string("faio: ") + what + ": there are fewer places for values than tasks");
}

void throw_list_full() { throw std::length_error("faio: task_list: there is room for N tasks and no more"); }

void throw_empty_task(const char* what) {
  throw std::logic_error(
      "faio: " + std::string(what) +
      " of a task that is empty: it was moved from, awaited or spawned before; a task runs once, call its "
      "function again for another one");
}

}  // namespace faio::context
