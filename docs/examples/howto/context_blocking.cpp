// context_blocking -- code that blocks and code that calculates, called from a task without holding up the others.
#include <netdb.h>

#include <cstdint>
#include <cstdio>
#include <faio/context/context.hpp>
#include <string>

// An old library: it may sleep in the kernel for seconds.
std::string service_name(int port) {
  servent found{}, *at = nullptr;
  char room[1024];
  (void)::getservbyport_r(htons(static_cast<std::uint16_t>(port)), "tcp", &found, room, sizeof room, &at);
  return at != nullptr ? at->s_name : "unknown";
}

std::uint64_t checksum(const std::string& data) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char each : data) hash = (hash ^ static_cast<unsigned char>(each)) * 1099511628211U;
  return hash;
}

faio::task<bool> program() {
  // On threads that may block. They are made as they are needed.
  const std::string name = co_await faio::blocking([] { return service_name(80); });
  std::printf("port 80: %s\n", name.c_str());

  // On workers that serve no I/O. The lambda has a line of its own: it owns something (docs/pitfalls.md, Compilers).
  auto hash = [data = std::string(1'000'000, 'x')] { return checksum(data); };
  const std::uint64_t sum = co_await faio::compute(std::move(hash));
  std::printf("%016llx\n", static_cast<unsigned long long>(sum));
  co_return !name.empty() && sum == checksum(std::string(1'000'000, 'x'));
}

int main() {
  faio::runtime_context ctx{{.workers = 1}};
  return ctx.block_on(program()) ? 0 : 1;
}
