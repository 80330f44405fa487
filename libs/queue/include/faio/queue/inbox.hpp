// inbox -- unbounded FIFO with one reader: any thread pushes, the owner takes everything at once.
//
//   _newest ──> node ──> node ──> node ──> nullptr      a stack of pushes; drain() takes it whole and turns it round
//
// I1  A node is written by its pusher before it is linked, and by nobody after.
// I2  Whoever exchanges _newest for nullptr owns the whole chain.
//
// Elements of one thread arrive in the order in which it pushed them; those of several in the order of their
// compare-and-swaps. (Inbox.KeepsTheOrderOfEachProducer)
//
// No node can come back under a pusher's feet (the ABA trouble of stacks): nodes leave only all together, and a pusher
// never follows the pointer that it compares.
//
// Rejected: a linked queue with a tail exchange and a later link. A pusher that is preempted between the two hides
// everything pushed after it; here each push is visible at once.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "faio/queue/atomics.hpp"
#include "faio/queue/element.hpp"
#include "faio/queue/role.hpp"

namespace faio::queue {

template <class T, class Policy = std_atomics>
class inbox {
  static_assert(element<T>, "faio::queue::inbox<T>: T must be trivially copyable and no larger than a pointer");

 public:
  using value_type = T;

  inbox() = default;
  /// Elements still inside are dropped; drain first what must not be.
  ~inbox() {
    // relaxed: whoever destroys the inbox is ordered after every push.
    for (node* each = _newest.load(std::memory_order_relaxed); each != nullptr;) free(each);
  }
  inbox(const inbox&) = delete;
  inbox& operator=(const inbox&) = delete;

  /// Any thread. True when the inbox was empty: then, and only then, the owner may need waking.
  bool push(T value);

  /// Owner only. Calls `take(value)` for each element, the oldest first; returns how many. `take` may push to this
  /// inbox: that element is for the next drain. When `take` throws, the elements after that one are dropped.
  template <class Take>
    requires std::is_invocable_v<Take&, T>
  std::size_t drain(Take&& take);

  /// Owner only. All elements, the oldest first.
  std::vector<T> drain() {
    std::vector<T> all;
    drain([&](T value) { all.push_back(value); });
    return all;
  }

  /// Any thread. False when a push that the caller knows of has not been drained.
  bool empty() const noexcept {
    // relaxed: the pointer is not followed; who knows of a push reads it or something later.
    return _newest.load(std::memory_order_relaxed) == nullptr;
  }

  /// The owner, or whoever is ordered after its last call: the next thread that plays the owner becomes it.
  void release_owner() noexcept { _role.release(); }

  // ---- end of the public interface ----

 private:
  struct node {
    explicit node(T v) : value(v) {}
    typename Policy::template plain<T> value;
    typename Policy::template plain<node*> next;
  };

  /// Moves `each` on to the next node and frees the one it was at.
  static void free(node*& each) noexcept { Policy::destroy(std::exchange(each, each->next.read())); }

  /// A chain of which the caller is the only owner; frees what is left of it.
  struct chain {
    ~chain() {
      while (first != nullptr) free(first);
    }
    node* first = nullptr;
  };

  typename Policy::template atomic<node*> _newest{nullptr};
  role<Policy> _role;
};

template <class T, class Policy>
bool inbox<T, Policy>::push(T value) {
  node* const mine = Policy::template make<node>(value);
  // relaxed, here and on failure: the pointer is only compared and linked, never followed.
  node* newest = _newest.load(std::memory_order_relaxed);
  do {
    mine->next.write() = newest;
    // [A] success release, pairs with the exchange in drain(): the node is written before it can be reached. The nodes
    // beneath it stay reachable too: a compare-and-swap continues the release of those before it.
  } while (!_newest.compare_exchange_weak(newest, mine, std::memory_order_release, std::memory_order_relaxed));
  return newest == nullptr;
}

template <class T, class Policy>
template <class Take>
  requires std::is_invocable_v<Take&, T>
std::size_t inbox<T, Policy>::drain(Take&& take) {
  _role.check("inbox::drain");
  // relaxed: spares an empty inbox the exchange, which would take the line from the pushers.
  if (_newest.load(std::memory_order_relaxed) == nullptr) return 0;
  // acquire, pairs with [A] of every node in the chain.
  node* newest = _newest.exchange(nullptr, std::memory_order_acquire);
  chain oldest_first;
  while (newest != nullptr) {
    node* const older = newest->next.read();
    newest->next.write() = oldest_first.first;
    oldest_first.first = newest;
    newest = older;
  }
  std::size_t count = 0;
  for (; oldest_first.first != nullptr; ++count) {
    const T value = oldest_first.first->value.read();
    free(oldest_first.first);
    take(value);
  }
  return count;
}

}  // namespace faio::queue
