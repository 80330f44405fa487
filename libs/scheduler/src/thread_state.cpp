// thread_state -- the one thread-local variable, behind calls that cannot be inlined.
#include "faio/scheduler/thread_state.hpp"

namespace faio::scheduler {
namespace {
// initial-exec: reached without a call of the loader's, also from a shared library. It is small enough for that.
[[gnu::tls_model("initial-exec")]] constinit thread_local thread_state state;
}  // namespace

thread_state& this_thread() noexcept { return state; }
worker* current_worker() noexcept { return state.current; }

}  // namespace faio::scheduler
