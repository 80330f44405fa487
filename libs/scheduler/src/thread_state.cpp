// thread_state -- the one thread-local variable.
#include "faio/scheduler/thread_state.hpp"

#include "faio/scheduler/frame_allocator.hpp"

namespace faio::scheduler {

// Small enough for the room that a program has for libraries which are loaded later.
#if defined(__x86_64__) && defined(__ELF__)
extern "C" {
constinit thread_local thread_room faio_scheduler_thread_room{{}, &no_frames};
}
thread_room& find_thread_room() noexcept { return this_thread_room(); }
#else
namespace {
[[gnu::tls_model("initial-exec")]] constinit thread_local thread_room room{{}, &no_frames};
}
thread_room& find_thread_room() noexcept { return room; }
#endif

}  // namespace faio::scheduler
