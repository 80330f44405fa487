// line_waiter -- a thread of the model in a primitive's line, on its own stack: it is gone as soon as it has been woken.
#pragma once

#include <faio/context/completion_signal.hpp>
#include <memory>

#include "model.hpp"

namespace faio::explorer::models {

template <class Waiter>
class line_waiter final : public Waiter {
 public:
  void wake() noexcept override { _signal.mark_ready(); }
  /// It may be woken again afterwards.
  void wait() {
    _signal.wait();
    std::destroy_at(&_signal);
    std::construct_at(&_signal);
  }

 private:
  context::basic_completion_signal<atomics> _signal;
};

}  // namespace faio::explorer::models
