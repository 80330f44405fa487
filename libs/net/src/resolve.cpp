// resolve -- getaddrinfo on a thread that may block; the task waits for an eventfd, and can leave while the question goes on.
#include "faio/net/resolve.hpp"

#include <netdb.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <memory>
#include <utility>

#include "faio/context/io.hpp"
#include "faio/context/timeout.hpp"
#include "faio/net/descriptor.hpp"
#include "faio/scheduler/job.hpp"

namespace faio::net {
namespace {

/// Kept by the task and by the thread that asks: whichever is longer.
struct question {
  question(std::string h, std::string s, int event) : host(std::move(h)), service(std::move(s)), answered(event) {}
  const std::string host;
  const std::string service;
  descriptor answered;
  int status = 0;
  std::vector<endpoint> addresses;
  std::atomic<bool> complete{false};  // the eventfd wakes; this hands over what was found

  void ask() {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    status = ::getaddrinfo(host.empty() ? nullptr : host.c_str(), service.empty() ? nullptr : service.c_str(), &hints,
                           &found);
    for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
      addresses.emplace_back(each->ai_addr, each->ai_addrlen);
    }
    if (found != nullptr) ::freeaddrinfo(found);
    complete.store(true, std::memory_order_release);  // pairs with resolve()
    const std::uint64_t one = 1;
    (void)!::write(answered.fd(), &one, sizeof one);  // an eventfd takes it
  }
};

/// On behalf of nobody: whoever waits for the task that asks does not wait for a name service that hangs.
void ask_on_a_thread(const std::shared_ptr<question>& asked) {
  auto& runtime = context::runtime_core::current().shared();
  auto* const mine = std::exchange(scheduler::this_thread().scope, nullptr);
  auto* const item = scheduler::detail::make_job(runtime, std::source_location::current(), [asked] { asked->ask(); });
  scheduler::this_thread().scope = mine;
  scheduler::detail::schedule_or_throw(
      item, [&](scheduler::work_item& job) { return runtime.post_blocking(job); }, scheduler::errc::stopped);
}

task<result<int>> wait_for_answer(question& asked) {
  std::array<std::byte, 8> count{};
  co_return co_await perform<int>(asked.answered,
                                  [&count](ioengine::operation& op, int fd) noexcept { op.prepare_read(fd, count); });
}

}  // namespace

task<result<std::vector<endpoint>>> resolve(std::string host, std::string service, std::chrono::nanoseconds limit) {
  const int event = ::eventfd(0, EFD_CLOEXEC);
  if (event < 0) co_return last_error();
  auto asked = std::make_shared<question>(std::move(host), std::move(service), event);
  ask_on_a_thread(asked);
  const auto answered = co_await timeout(limit, wait_for_answer(*asked));
  if (!answered) co_return std::unexpected(answered.error());
  if (!asked->complete.load(
          std::memory_order_acquire)) {  // pairs with ask(); it was set before the eventfd was written
    co_return std::unexpected(make_error_code(errc::resolver_failed));
  }
  if (asked->status == EAI_NONAME || asked->status == EAI_SERVICE || asked->status == EAI_NODATA) {
    co_return std::unexpected(make_error_code(errc::name_not_found));
  }
  if (asked->status != 0) co_return std::unexpected(make_error_code(errc::resolver_failed));
  co_return std::move(asked->addresses);
}

}  // namespace faio::net
