// operations -- each operation of the policy as a step of the execution.
//
// The pattern of all: give others their chance (point), find the object alive, choose what happens, do it to the
// memory, write the step down if somebody will read it.
#include "explorer/operations.hpp"

#include <algorithm>
#include <cstdio>

#include "engine.hpp"
#include "explorer/atomics.hpp"

namespace faio::explorer {
namespace {

const char* short_name(std::memory_order order) noexcept {
  switch (order) {
    case std::memory_order_relaxed:
      return "relaxed";
    case std::memory_order_consume:
      return "consume";
    case std::memory_order_acquire:
      return "acquire";
    case std::memory_order_release:
      return "release";
    case std::memory_order_acq_rel:
      return "acq_rel";
    case std::memory_order_seq_cst:
      return "seq_cst";
  }
  return "?";
}

std::string in_brackets(std::memory_order order) { return std::string(" (") + short_name(order) + ")"; }

// "3", or "2, stale: the newest is 3".
std::string seen(engine& e, const object& what, unsigned index) {
  const unsigned newest = e.memory.newest(what.location);
  std::string out = what.print(e.memory.value(what.location, index));
  if (index != newest) out += ", stale: the newest is " + what.print(e.memory.value(what.location, newest));
  return out;
}

// Nothing, or ", put before 3" for a message that goes after `index`.
std::string put(engine& e, const object& what, unsigned index) {
  if (index == e.memory.newest(what.location)) return "";
  return ", put before " + what.print(e.memory.value(what.location, index + 1));
}

operations::word perform_load(engine& e, const object& what, unsigned index, std::memory_order order) {
  e.note_read(what.location, index);
  return e.memory.read(e.scheduler.running(), what.location, index, order);
}

void perform_modify(engine& e, const object& what, unsigned index, operations::word value, std::memory_order order) {
  e.note_read(what.location, index);
  if (e.memory.value(what.location, e.memory.newest(what.location)) != value) e.scheduler.wrote();
  e.memory.modify(e.scheduler.running(), what.location, index, value, order);
}

// The end of a history can always take one more message; this keeps it so.
void require_room(engine& e, const object& what) {
  if (!e.memory.open(what.location, e.memory.newest(what.location))) [[unlikely]]
    e.fail(failure_kind::model, "too many stores to " + what.name() + " in one execution");
}

// The messages of a location that an operation can choose from, the newest first.
template <class Accept>
class selection {
 public:
  selection(const engine& e, const object& what, unsigned floor, Accept accept)
      : _newest(e.memory.newest(what.location)), _floor(floor), _accept(accept) {
    for (unsigned i = _newest + 1; i > _floor; --i)
      if (_accept(i - 1)) ++_count;
  }
  [[nodiscard]] unsigned count() const noexcept { return _count; }
  [[nodiscard]] unsigned at(unsigned position) const {
    unsigned i = _newest;
    while (!_accept(i) || position-- != 0) --i;
    return i;
  }

 private:
  unsigned _newest;
  unsigned _floor;
  Accept _accept;
  unsigned _count = 0;
};

// Where a store or a read-modify-write of this order goes: the message that it comes after.
unsigned choose_place(engine& e, const object& what, std::memory_order order) {
  require_room(e, what);
  const unsigned newest = e.memory.newest(what.location);
  const unsigned floor = e.floor(what.location, order);
  if (floor == newest) return newest;  // the thread knows of everything there: the usual case
  const selection candidates(e, what, floor, [&](unsigned i) { return e.memory.open(what.location, i); });
  return candidates.at(e.choose_value(candidates.count()));
}

}  // namespace

namespace operations {

void create_atomic(const void* address, word initial, printer print, where at) {
  engine& e = engine::executing();
  object& made = e.create(address, kind::atomic, at);
  made.print = print;
  made.location = e.memory.create(initial);
  if (made.location == max_locations)
    e.fail(failure_kind::model, "more than " + std::to_string(max_locations) + " atomics in one execution");
}

void destroy_atomic(const void* address) { engine::executing().destroy(address, kind::atomic); }

word load(const void* address, std::memory_order order, where at) {
  engine& e = engine::executing();
  e.scheduler.point();
  const object& what = e.use(address, kind::atomic, at);
  const unsigned newest = e.memory.newest(what.location);
  const unsigned index = newest - e.choose_value(newest - e.floor(what.location, order) + 1);
  if (e.recording()) e.record("load  " + what.name() + " -> " + seen(e, what, index) + in_brackets(order), at);
  return perform_load(e, what, index, order);
}

void store(const void* address, word value, std::memory_order order, where at) {
  engine& e = engine::executing();
  e.scheduler.point();
  const object& what = e.use(address, kind::atomic, at);
  const unsigned index = choose_place(e, what, order);
  if (e.recording())
    e.record("store " + what.name() + " = " + what.print(value) + put(e, what, index) + in_brackets(order), at);
  if (e.memory.value(what.location, e.memory.newest(what.location)) != value) e.scheduler.wrote();
  e.memory.write(e.scheduler.running(), what.location, index, value, order);
}

word modify(const void* address, const char* name, change apply, word operand, std::memory_order order, where at) {
  engine& e = engine::executing();
  e.scheduler.point();
  const object& what = e.use(address, kind::atomic, at);
  const unsigned index = choose_place(e, what, order);
  const word old = e.memory.value(what.location, index);
  const word now = apply(old, operand);
  if (e.recording())
    e.record(std::string(name) + " " + what.name() + ": " + what.print(old) + " -> " + what.print(now) +
                 put(e, what, index) + in_brackets(order),
             at);
  perform_modify(e, what, index, now, order);
  return old;
}

// It succeeds on a message that holds the expected value and has no successor bound to it; it fails on one that holds
// another value, and is then a load like any other. What the newest message decides is choice 0.
bool compare_exchange(const void* address, word& expected, word desired, bool weak, std::memory_order success,
                      std::memory_order failure, where at) {
  engine& e = engine::executing();
  e.scheduler.point();
  const object& what = e.use(address, kind::atomic, at);
  require_room(e, what);
  const unsigned if_equal = e.floor(what.location, success);
  const unsigned if_not = e.floor(what.location, failure);
  const selection candidates(e, what, std::min(if_equal, if_not), [&](unsigned i) {
    if (e.memory.value(what.location, i) != expected) return i >= if_not;
    return i >= if_equal && e.memory.open(what.location, i);
  });
  const unsigned index = candidates.at(e.choose_value(candidates.count()));
  const std::string name = e.recording() ? (weak ? "cas_weak " : "cas   ") + what.name() + ": " : std::string();
  if (e.memory.value(what.location, index) != expected) {
    if (e.recording())
      e.record(name + "not " + what.print(expected) + " but " + seen(e, what, index) + in_brackets(failure), at);
    expected = perform_load(e, what, index, failure);
    return false;
  }
  if (weak && e.choose_spurious(e.weak_failures)) {
    if (e.recording()) e.record(name + "fails spuriously" + in_brackets(failure), at);
    perform_load(e, what, index, failure);
    return false;
  }
  if (e.recording())
    e.record(name + what.print(expected) + " -> " + what.print(desired) + put(e, what, index) + in_brackets(success),
             at);
  perform_modify(e, what, index, desired, success);
  return true;
}

// Returns once a load has seen another value than `old`. It sleeps only while the newest value is `old`: like the
// kernel's futex, the last look before sleeping is never stale.
void wait(const void* address, word old, std::memory_order order, where at) {
  engine& e = engine::executing();
  for (;;) {
    e.scheduler.point();  // each look is a step of its own, also the one after a wake
    const object& what = e.use(address, kind::atomic, at);
    const bool may_sleep = e.memory.value(what.location, e.memory.newest(what.location)) == old;
    const selection changed(e, what, e.floor(what.location, order),
                            [&](unsigned i) { return e.memory.value(what.location, i) != old; });
    const unsigned picked = e.choose_value(changed.count() + (may_sleep ? 1 : 0));
    if (!may_sleep || picked != 0) {
      const unsigned index = changed.at(may_sleep ? picked - 1 : picked);
      if (e.recording()) e.record("wait  " + what.name() + " -> " + seen(e, what, index) + in_brackets(order), at);
      perform_load(e, what, index, order);
      return;
    }
    if (e.recording()) e.record("wait  " + what.name() + " is " + what.print(old) + ": sleeps", at);
    e.scheduler.block_on(address, kind::atomic);
  }
}

void notify(const void* address, bool all, where at) {
  engine& e = engine::executing();
  e.scheduler.point();
  const object& what = e.use(address, kind::atomic, at);
  const unsigned woken = e.scheduler.wake(address, all);
  if (woken != 0) e.scheduler.wrote();
  if (e.recording())
    e.record((all ? "notify_all " : "notify_one ") + what.name() + ": wakes " + std::to_string(woken), at);
}

void create_plain(const void* address, where at) { engine::executing().create(address, kind::plain, at); }
void destroy_plain(const void* address) { engine::executing().destroy(address, kind::plain); }

void read_plain(const void* address, where at) {
  engine& e = engine::executing();
  e.scheduler.count_plain_access();
  const object& what = e.use(address, kind::plain, at);
  if (e.recording()) e.record("read  " + what.name(), at);
}

void write_plain(const void* address, where at) {
  engine& e = engine::executing();
  e.scheduler.count_plain_access();
  const object& what = e.use_to_write(address, kind::plain, at);
  if (e.recording()) e.record("write " + what.name(), at);
}

void create_mutex(const void* address, where at) { engine::executing().create(address, kind::mutex, at); }
void destroy_mutex(const void* address) { engine::executing().destroy(address, kind::mutex); }

namespace {

void take(engine& e, object& what) {
  what.held = true;
  what.holder = e.scheduler.running();
  e.memory.acquire(e.scheduler.running(), what.released);
  e.scheduler.unblock(what.address, false);
  e.scheduler.wrote();
}

}  // namespace

void lock(const void* address) {
  engine& e = engine::executing();
  for (;;) {
    e.scheduler.point();  // each try is a step of its own, also the one after the holder has left
    object& what = e.use(address, kind::mutex, {});
    if (!what.held) {
      take(e, what);
      if (e.recording()) e.record("lock  " + what.name());
      return;
    }
    if (what.holder == e.scheduler.running())
      e.fail(failure_kind::misuse,
             std::string(e.scheduler.name(what.holder)) + " locks " + what.name() + ", which it already holds");
    if (e.recording()) e.record("lock  " + what.name() + ": held by " + e.scheduler.name(what.holder) + ", sleeps");
    e.scheduler.block_on(address, kind::mutex);
  }
}

bool try_lock(const void* address) {
  engine& e = engine::executing();
  e.scheduler.point();
  object& what = e.use(address, kind::mutex, {});
  const bool free = !what.held;
  if (e.recording()) e.record("try_lock " + what.name() + (free ? ": taken" : ": held"));
  if (free) take(e, what);
  return free;
}

void unlock(const void* address) {
  engine& e = engine::executing();
  e.scheduler.point();
  object& what = e.use(address, kind::mutex, {});
  if (!what.held || what.holder != e.scheduler.running())
    e.fail(failure_kind::misuse,
           std::string(e.scheduler.name(e.scheduler.running())) + " unlocks " + what.name() + ", which " +
               (what.held ? std::string(e.scheduler.name(what.holder)) : std::string("nobody")) + " holds");
  what.released = e.memory.release(e.scheduler.running());
  what.held = false;
  e.scheduler.unblock(address, true);
  e.scheduler.wrote();
  if (e.recording()) e.record("unlock " + what.name());
}

void fence(std::memory_order order, where at) {
  engine& e = engine::executing();
  // Only a seq_cst fence touches what others see; the weaker ones change this thread's own views.
  if (order == std::memory_order_seq_cst) e.scheduler.point();
  e.memory.fence(e.scheduler.running(), order);
  if (e.recording()) e.record("fence" + in_brackets(order), at);
}

void heavy_barrier(where at) {
  engine& e = engine::executing();
  e.scheduler.point();
  e.memory.fence_everywhere(e.scheduler.running(), e.scheduler.count());
  if (e.recording()) e.record("heavy barrier: a seq_cst fence in every thread", at);
}

void futex_wait(const void* address, std::uint32_t expected, where at) {
  engine& e = engine::executing();
  e.scheduler.point();
  const object& what = e.use(address, kind::atomic, at);
  // The kernel reads the word on this thread's processor, and hands a wake over under a lock: for this one word the
  // loads that follow are no older.
  e.memory.refresh(e.scheduler.running(), what.location);
  const word newest = e.memory.value(what.location, e.memory.newest(what.location));
  if (newest != expected) {
    if (e.recording()) e.record("futex_wait " + what.name() + ": is " + what.print(newest) + ", returns at once", at);
    return;
  }
  if (e.choose_spurious(e.spurious_wakes)) {
    if (e.recording()) e.record("futex_wait " + what.name() + ": returns spuriously", at);
    return;
  }
  if (e.recording()) e.record("futex_wait " + what.name() + ": is " + what.print(newest) + ", sleeps", at);
  const unsigned location = what.location;  // the object may be gone when we are woken
  e.scheduler.block_on(address, kind::atomic);
  e.memory.refresh(e.scheduler.running(), location);
}

void futex_wake(const void* address, bool all, where at) {
  engine& e = engine::executing();
  e.scheduler.point();
  const unsigned woken = e.scheduler.wake(address, all);
  if (woken != 0) e.scheduler.wrote();
  if (e.recording()) {
    const object* what = e.objects.find(address, kind::atomic);
    e.record((all ? "futex_wake_all " : "futex_wake_one ") +
                 (what != nullptr ? what->name() : std::string("an address")) + ": wakes " + std::to_string(woken),
             at);
  }
}

void pause(where at) {
  engine& e = engine::executing();
  if (e.recording()) e.record("pause", at);
  e.scheduler.pause();
  e.refresh_reads();
}

void* allocate(std::size_t size, std::size_t alignment, const char* type_name) {
  engine& e = engine::executing();
  void* memory = e.heap.allocate(size, alignment);
  object& made = e.create(memory, kind::block, {});
  made.size = size;
  made.type_name = type_name;
  if (e.recording()) e.record("make  " + made.name());
  return memory;
}

void require_live_block(const void* block) {
  engine& e = engine::executing();
  const object* found = e.objects.find(block, kind::block);
  if (found != nullptr && found->alive) return;
  const std::string who = e.scheduler.name(e.scheduler.running());
  if (found == nullptr) e.fail(failure_kind::double_free, who + " destroys something that make did not make");
  e.fail(failure_kind::double_free, who + " destroys " + found->name() + ", which " +
                                        e.scheduler.name(found->write.thread) + " has destroyed already");
}

void release(void* block) {
  engine& e = engine::executing();
  const object& found = *e.objects.find(block, kind::block);
  const std::size_t size = found.size;
  e.destroy(block, kind::block);
  heap::retire(block, size);
}

const void* this_thread() noexcept { return engine::executing().scheduler.token(); }

void label(const void* address, kind what, const char* name) {
  engine::executing().use(address, what, {}).label = name;
}

}  // namespace operations

namespace detail {

std::string print_number(operations::word value) {
  if (value < (operations::word{1} << 32U)) return std::to_string(value);
  // Packed words (two 32-bit halves) read best apart.
  char text[32];
  std::snprintf(text, sizeof text, "0x%08x'%08x", static_cast<unsigned>(value >> 32U), static_cast<unsigned>(value));
  return text;
}

std::string print_pointer(operations::word value) {
  if (value == 0) return "null";
  const auto* address = reinterpret_cast<const void*>(static_cast<std::uintptr_t>(value));
  const object* block = engine::executing().objects.block_around(address);
  if (block != nullptr && block->address == address) return block->name();
  return print_number(value);
}

}  // namespace detail
}  // namespace faio::explorer
