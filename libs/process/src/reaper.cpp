// reaper -- one thread, as long as there is something to reap.
#include "reaper.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace faio::process::detail {
namespace {

class reaper {
 public:
  /// Never destroyed: its thread may run until the very end.
  static reaper& get() {
    static auto* const one = new reaper;  // NOLINT(cppcoreguidelines-owning-memory)
    return *one;
  }

  /// False: there is no thread, and none could be started.
  bool add(int pidfd) {
    const std::lock_guard lock(_mutex);
    if (_event < 0 && !start()) return false;
    _added.push_back(pidfd);
    const std::uint64_t one = 1;
    (void)!::write(_event, &one, sizeof one);  // an eventfd takes it
    return true;
  }

 private:
  /// Under the mutex.
  bool start() {
    _event = ::eventfd(0, EFD_CLOEXEC);
    if (_event < 0) return false;
    // The program's signal handlers run on the program's threads, not on ours.
    sigset_t all{};
    sigset_t before{};
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      std::thread([this] { work(); }).detach();
    } catch (const std::system_error&) {
      (void)::close(std::exchange(_event, -1));
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return _event >= 0;
  }

  void work() {
    std::vector<pollfd> watched{{_event, POLLIN, 0}};  // the first is for those that are added
    for (;;) {
      {
        const std::lock_guard lock(_mutex);
        for (const int pidfd : _added) watched.push_back({pidfd, POLLIN, 0});
        _added.clear();
        if (watched.size() == 1) {
          (void)::close(std::exchange(_event, -1));
          return;
        }
      }
      if (::poll(watched.data(), watched.size(), -1) < 0) continue;  // EINTR
      if (watched.front().revents != 0) {
        std::uint64_t count = 0;
        (void)!::read(watched.front().fd, &count, sizeof count);
      }
      std::erase_if(watched, [event = watched.front().fd](const pollfd& each) {
        if (each.fd == event || each.revents == 0) return false;
        siginfo_t how{};
        (void)::waitid(P_PIDFD, static_cast<id_t>(each.fd), &how, WEXITED);  // reaped by somebody else: as well
        (void)::close(each.fd);
        return true;
      });
    }
  }

  std::mutex _mutex;
  int _event = -1;
  std::vector<int> _added;
};

}  // namespace

void reap_later(int pidfd) noexcept {
  siginfo_t how{};
  if (::waitid(P_PIDFD, static_cast<id_t>(pidfd), &how, WEXITED | WNOHANG) != 0 || how.si_pid != 0) {
    (void)::close(pidfd);  // it has ended already, or is not ours to reap
    return;
  }
  if (reaper::get().add(pidfd)) return;
  while (::waitid(P_PIDFD, static_cast<id_t>(pidfd), &how, WEXITED) != 0 && errno == EINTR) {
  }
  (void)::close(pidfd);
}

}  // namespace faio::process::detail
