// scope -- the way up when something ends, and the way down of a stop request.
#include "faio/context/scope.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "faio/context/runtime_core.hpp"

namespace faio::context {
namespace {

/// What this thread puts off while it tells others of a stop request.
struct put_off {
  std::vector<std::stop_source>
      sources;  // the users' callbacks may do anything, even wait for a task that waits to be told
  std::vector<scope*> releases;
};
constinit thread_local put_off* put_off_here = nullptr;

}  // namespace

/// The std::stop_source of a scope, for the user who asked for its token.
struct scope::user_source final : stop_listener {
  user_source() : stop_listener(tells<user_source>) {}
  void stop_asked() noexcept { put_off_here->sources.push_back(source); }

  std::stop_source source;
};

scope::~scope() {
  user_source* const user =
      _user.load(std::memory_order_relaxed);  // relaxed: whoever destroys it comes after all others
  if (user == nullptr) return;
  if (user->is_added()) unsubscribe(*user);
  delete user;
}

void scope::release(std::uint32_t count) noexcept {
  for (scope* each = this; each != nullptr && each->_inside.leave(count); count = 1) {
    scope* const next = each->_above;
    each->complete();  // it may be gone
    each = next;
  }
}

scope& scope::take_prepaid(scheduler::thread_state::prepaid_counts& prepaid) noexcept {
  if (prepaid.spawner != this) {
    give_back(prepaid);
    prepaid = {.spawner = this, .above = &anchor(), .left = 0, .next = 1};
  }
  // It is there, with or without counts: this one, which runs, or one that outlives it (I1).
  scope& above = static_cast<scope&>(*prepaid.above);
  if (prepaid.left == 0) {
    constexpr std::uint32_t most = 256;
    above.retain(prepaid.next);
    prepaid.left = prepaid.next;
    prepaid.next = std::min(2 * prepaid.next, most);
  }
  --prepaid.left;
  return above;
}

void scope::give_back(scheduler::thread_state::prepaid_counts& prepaid) noexcept {
  const auto old = std::exchange(prepaid, {});
  if (old.left != 0) static_cast<scope*>(old.above)->release(old.left);
}

void scope::release_later() noexcept {
  if (put_off_here == nullptr) {
    release();
  } else {
    put_off_here->releases.push_back(this);
  }
}

/// From the top down: who is linked is told of every request that comes from now on, or finds that it has come. Without recursion: the scopes
/// above may be many.
void scope::link() {
  if (heard() == nullptr) return;
  const auto is_top = [](const scope& one) { return one.heard() == nullptr || one._listeners.is_linked(); };
  if (!is_top(*heard())) {
    std::vector<scope*> without;
    for (scope* each = heard(); !is_top(*each); each = each->heard()) without.push_back(each);
    for (; !without.empty(); without.pop_back()) {
      scope& each = *without.back();
      each._listeners.link_to(each.heard()->_listeners, each);
    }
  }
  _listeners.link_to(heard()->_listeners, *this);
}

/// Down the tree and back along the listeners themselves. Those whom it has taken and not yet told are the path from the top to where it is:
/// none of them is complete before what is beneath it.      StackTest.AStopReachesTheEndOfADeepChainOfSpawns
void scope::tell_all(stop_list& top) noexcept {
  put_off later;
  put_off* const outer = std::exchange(put_off_here, &later);
  stop_listener* at = nullptr;
  for (stop_list* list = &top;;) {
    if (auto* const next = static_cast<stop_listener*>(list->take())) {
      stop_list* const below = next->tell();
      if (below != nullptr && below->ask()) {
        stop_list::note(*next, std::exchange(at, next));
        list = below;
        continue;
      }
      stop_list::told(*next);
    } else {
      if (at == nullptr) break;
      stop_listener* const done = std::exchange(at, static_cast<stop_listener*>(stop_list::noted(*at)));
      stop_list::told(*done);
      list = at != nullptr ? at->tell() : &top;
    }
  }
  put_off_here = outer;
  for (auto& each : later.sources) each.request_stop();
  for (scope* each : later.releases) each->release();
}

bool scope::request_stop() noexcept {
  if (!_listeners.ask()) return false;
  tell_all(_listeners);
  return true;
}

bool scope::stop_requested() const noexcept {
  for (const scope* each = this; each != nullptr; each = each->heard()) {
    if (each->_listeners.is_asked()) return true;
    if (each->_listeners.is_linked()) return false;
  }
  return false;
}

std::stop_token scope::token() {
  user_source* user = _user.load(std::memory_order_acquire);  // acquire, pairs with [U]
  if (user == nullptr) {
    auto made = std::make_unique<user_source>();
    // [U] release: it is made before it can be found. acquire, for one that somebody else made meanwhile.
    if (_user.compare_exchange_strong(user, made.get(), std::memory_order_acq_rel, std::memory_order_acquire)) {
      user = made.release();
      if (!subscribe(*user)) user->source.request_stop();
    }
  }
  std::stop_token token = user->source.get_token();
  if (token.stop_requested() || !stop_requested()) return token;
  // The source is told last (tell_all), by a thread that others' callbacks may hold up; whoever was told to stop and asks now must not hear
  // that nobody wants it to.       StopTokenEverywhere.ATokenIsNotBehindTheStopThatEndedAWait
  std::stop_source asked;
  asked.request_stop();
  return asked.get_token();
}

scope& scope::anchor() noexcept {
  scope* each = this;
  while (!each->can_be_stopped_alone()) each = each->_above;
  return *each;
}

bool scope::reaches(const scope* heard) const noexcept {
  // Not only the anchor of now: the other one may hang beneath what was the anchor when it was made.
  for (const scope* each = this; each != nullptr; each = each->_above) {
    if (heard == each) return true;
    if (each->can_be_stopped_alone()) return false;
  }
  return false;
}

scope& scope::current(runtime_core& runtime) noexcept {
  const scheduler::thread_state& here = scheduler::this_thread();
  if (here.runtime == &runtime.shared() && here.scope != nullptr) return static_cast<scope&>(*here.scope);
  return runtime.root;
}

}  // namespace faio::context
