// work_item -- one thing that a worker can run: the element of every queue. Intrusive: whoever makes it owns its memory.
//
//   made ── schedule ──> in exactly one queue, slot or inbox ── run() ──> the maker's again (it may be gone)
//                                   └──────────────────────── drop() ──> the same, when the runtime stops before it ran
//
// I1  An item is in at most one queue; whoever took it out owns it until it runs or drops it.
// I2  Either run() or drop() is called, once for each time that it is scheduled.
//
// Rejected: a virtual base class. The table is the same, but the item sits in the promise of every coroutine, where a
// virtual destructor and its two entries would only be in the way.
#pragma once

namespace faio::scheduler {

class work_item {
 public:
  struct operations {
    /// On a worker. The item may be gone when it returns.
    void (*run)(work_item&) noexcept;
    /// On any thread, when it will never run: frees what it holds.
    void (*drop)(work_item&) noexcept;
  };

  explicit constexpr work_item(const operations& how) noexcept : _how(&how) {}
  work_item(const work_item&) = delete;
  work_item& operator=(const work_item&) = delete;

  void run() noexcept { _how->run(*this); }
  void drop() noexcept { _how->drop(*this); }
  /// What it does, to tell kinds of items apart.
  [[nodiscard]] const operations& how() const noexcept { return *_how; }

 protected:
  ~work_item() = default;
  /// While nobody else has it.
  void becomes(const operations& how) noexcept { _how = &how; }

 private:
  const operations* _how;
};

}  // namespace faio::scheduler
