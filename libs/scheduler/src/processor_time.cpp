// processor_time -- two numbers of a line of text.
#include "faio/scheduler/processor_time.hpp"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdint>

namespace faio::scheduler {

std::chrono::nanoseconds process_time() noexcept {
  timespec used{};
  (void)::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);  // cannot fail: the clock is there
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

processor_time::processor_time() noexcept : _fd(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}
processor_time::~processor_time() {
  if (_fd >= 0) ::close(_fd);
}

std::optional<processor_time::spent> processor_time::read() const noexcept {
  std::array<char, 64> text;  // "ran waited times\n"
  const auto length = _fd >= 0 ? ::pread(_fd, text.data(), text.size(), 0) : -1;
  if (length <= 0) return std::nullopt;
  const char* const end = text.data() + length;
  std::int64_t ran = 0;
  std::int64_t waited = 0;
  const auto first = std::from_chars(text.data(), end, ran);
  if (first.ec != std::errc{} || first.ptr == end) return std::nullopt;
  if (std::from_chars(first.ptr + 1, end, waited).ec != std::errc{}) return std::nullopt;
  return spent{.ran = std::chrono::nanoseconds(ran), .waited = std::chrono::nanoseconds(waited)};
}

}  // namespace faio::scheduler
