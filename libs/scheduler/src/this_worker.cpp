// this_worker -- the calling worker, or an exception that says what was missing.
#include "faio/scheduler/this_worker.hpp"

#include <stdexcept>
#include <string>

namespace faio::scheduler {

worker& detail::this_worker_for(const char* call) {
  worker* const here = current_worker();
  if (here == nullptr) {
    throw std::logic_error("faio: this_worker::" + std::string(call) +
                           " is for what runs on a worker; from another thread use runtime.post or post_to");
  }
  return *here;
}

worker& detail::this_io_worker_for(const char* call) {
  worker& here = this_worker_for(call);
  if (here.kind() != worker_kind::io) {
    throw std::logic_error("faio: this_worker::" + std::string(call) +
                           " is not for compute workers; use runtime.post, or post_self");
  }
  return here;
}

std::optional<std::size_t> this_worker::id() noexcept {
  worker* const here = current_worker();
  return here == nullptr ? std::nullopt : std::optional(here->id());
}

}  // namespace faio::scheduler
