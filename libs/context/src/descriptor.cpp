// descriptor -- closing, in two steps.
#include "faio/context/descriptor.hpp"

#include <sys/socket.h>
#include <unistd.h>

namespace faio::context {

void descriptor::close() noexcept {
  // acq_rel: see enter().
  if ((_uses.fetch_or(closed_bit, std::memory_order_acq_rel) & closed_bit) != 0) return;
  // Ends what is in flight. Refused (not connected, no socket at all): there is nothing to end, or its task's stop token does it.
  (void)::shutdown(_fd, SHUT_RDWR);
  leave();
}

void descriptor::give_back() noexcept {
  (void)::close(_fd);  // on Linux the number is free whatever it answers
}

}  // namespace faio::context
