// uring_tags -- the user_data of the engine's own entries; operations are aligned, so their low bits are 0.
#pragma once

#include <cstdint>

namespace faio::ioengine::detail {

inline constexpr std::uint64_t tag_mask = 7;
inline constexpr std::uint64_t tag_ignored = 1;  // a cancel of everything: drain asks again until nothing is left
inline constexpr std::uint64_t tag_wake = 2;     // a message from end_sleep: it has done its work by arriving
inline constexpr std::uint64_t tag_event = 3;    // the poll of the eventfd
inline constexpr std::uint64_t tag_timer = 4;    // the poll of the timerfd
inline constexpr std::uint64_t tag_cancel =
    5;  // a cancel: what matters is the target's own completion, unless it was missed
inline constexpr std::uint64_t tag_again = 6;  // the pause before cancels are sent again

}  // namespace faio::ioengine::detail
