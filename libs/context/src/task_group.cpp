// task_group -- its scope: the first exception, and the meeting of its end with whoever joins it.
#include "faio/context/task_group.hpp"

#include <stdexcept>
#include <string>

namespace faio {
namespace context {

void group_scope::failed(std::exception_ptr what, const std::source_location& where) noexcept {
  {
    const std::lock_guard lock(_mutex);
    if (_first == nullptr) {
      _first = std::move(what);
      _where = where;
    }
  }
  request_stop();
}

void group_scope::abandon() noexcept {
  request_stop();
  release();
}

void group_scope::wait(promise_base& waiting) noexcept {
  _waiting = &waiting;
  release();
}

void group_scope::complete() noexcept {
  leave_above();
  {
    const std::lock_guard lock(_mutex);
    _complete = true;
    if (_waiting != nullptr) {
      schedule(*_waiting);  // under the lock, which it takes too before it deletes us or goes
      return;
    }
  }
  report_and_delete();
}

std::exception_ptr group_scope::finish() noexcept {
  std::exception_ptr first;
  {
    const std::lock_guard lock(_mutex);
    first = std::exchange(_first, nullptr);
  }
  delete this;
  return first;
}

void group_scope::give_up_waiting() noexcept {
  {
    const std::lock_guard lock(_mutex);
    _waiting = nullptr;
    if (!_complete) return;  // complete() will delete it
  }
  report_and_delete();
}

void group_scope::report_and_delete() noexcept {
  if (_first != nullptr) runtime_core::report_unhandled(&runtime(), std::exchange(_first, nullptr), _where);
  delete this;
}

}  // namespace context

task_group::task_group(context::runtime_core& runtime) : _scope(nullptr) {
  context::scope* const above = runtime.admit();
  if (above == nullptr) context::throw_stopped();
  try {
    _scope = new context::group_scope(runtime, *above);
  } catch (...) {
    above->release();
    throw;
  }
}

task_group::~task_group() {
  if (_scope != nullptr && !_joining) _scope->abandon();
}

context::group_scope& task_group::open(const char* call) const {
  if (_scope == nullptr) {
    throw std::logic_error("faio: task_group::" + std::string(call) +
                           " after the join; a group is joined once, make another one");
  }
  return *_scope;
}

void task_group::join_awaiter::suspend(context::promise_base& waiting) {
  if (std::exchange(_group->_joining, true)) {
    throw std::logic_error("faio: task_group::join by two; a group is joined once, make another one");
  }
  context::group_scope& scope = *_group->_scope;
  context::scope& owner = waiting.owner();
  // The usual case, a group made by the task that joins it: a stop request reaches its tasks by itself.
  if (!scope.stops_with(owner)) {
    _owner = &owner;
    if (!owner.subscribe(_relay.emplace(scope.listeners()))) scope.request_stop();
  }
  _scope = &scope;
  scope.wait(waiting);
}

}  // namespace faio
