// reaper -- takes the status of children that nobody waits for any more, so that no zombie is left.
//
// A thread that polls their pidfds. It is started for the first and ends with the last: a process without such children has neither the
// thread nor a descriptor for it.
#pragma once

#include "faio/context/descriptor.hpp"

namespace faio::process::detail {

/// Any thread. Takes the pidfd over. It does not fail: without a thread or a descriptor for it the caller waits.
void reap_later(int pidfd) noexcept;

}  // namespace faio::process::detail
