// config -- which values make no sense, said by field.
#include "faio/scheduler/config.hpp"

#include <stdexcept>
#include <string>

namespace faio::scheduler {
namespace {

template <class T>
void within(const char* field, T value, T least, T most) {
  if (value >= least && value <= most) return;
  throw std::invalid_argument("faio: config." + std::string(field) + " must be " + std::to_string(least) + " to " +
                              std::to_string(most) + ", but is " + std::to_string(value));
}

}  // namespace

void validate(const config& wanted) {
  constexpr std::size_t most_workers = 1024;
  constexpr std::uint32_t most_ticks = 1U << 30;
  within<std::size_t>("workers", wanted.workers, 0, most_workers);
  within<std::size_t>("compute_workers", wanted.compute_workers, 0, most_workers);
  within<unsigned>("ring_entries", wanted.ring_entries, 1, 32768);
  within<std::uint32_t>("io_interval", wanted.io_interval, 1, most_ticks);
  within<std::uint32_t>("global_queue_interval", wanted.global_queue_interval, 1, most_ticks);
  within<std::size_t>("local_queue_capacity", wanted.local_queue_capacity, 2, 256);
  within<std::size_t>("thread_name's length", wanted.thread_name.size(), 1, 11);
  if (wanted.discipline != discipline::fifo && wanted.discipline != discipline::lifo) {
    throw std::invalid_argument("faio: config.discipline must be discipline::fifo or discipline::lifo");
  }
  if (wanted.engine == engine_kind::thread || wanted.engine > engine_kind::thread) {
    throw std::invalid_argument(
        "faio: config.engine must be engine_kind::automatic, uring or epoll; compute workers have the thread engine by "
        "themselves");
  }
  if (wanted.stop_grace < std::chrono::nanoseconds::zero()) {
    throw std::invalid_argument("faio: config.stop_grace must not be negative");
  }
}

}  // namespace faio::scheduler
