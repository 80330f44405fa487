// engine_create -- which kind of engine: the wish, the machine's answer, and the reason that kind_reason() gives.
#include <utility>

#include "engine_factory.hpp"
#include "setup_errors.hpp"

namespace faio::ioengine {

std::string_view to_string(engine_kind kind) noexcept {
  switch (kind) {
    case engine_kind::automatic:
      return "automatic";
    case engine_kind::uring:
      return "uring";
    case engine_kind::epoll:
      return "epoll";
    case engine_kind::thread:
      return "thread";
  }
  return "unknown";
}

std::expected<std::unique_ptr<engine>, setup_error> engine::create(const engine_options& options) {
  if (options.ring_entries == 0 || options.ring_entries > 32768)
    return std::unexpected(detail::explain_bad_option("ring_entries", "must be 1 to 32768"));
  if (options.blocking_threads == 0 || options.blocking_threads > 1024)
    return std::unexpected(detail::explain_bad_option("blocking_threads", "must be 1 to 1024"));
  switch (options.kind) {
    case engine_kind::uring:
      return detail::make_uring_engine(options);
    case engine_kind::epoll:
      return detail::make_epoll_engine(options, "epoll was asked for");
    case engine_kind::thread:
      return detail::make_thread_engine(options);
    case engine_kind::automatic:
      break;
    default:
      return std::unexpected(detail::explain_bad_option("kind", "is none of automatic, uring, epoll and thread"));
  }
  auto made = detail::make_uring_engine(options);
  if (made) return made;
  return detail::make_epoll_engine(options,
                                   "epoll, because " + detail::without_other_way(std::move(made.error().message)));
}

}  // namespace faio::ioengine
