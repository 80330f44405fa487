// uring_abi -- the parts of the kernel's interface that liburing 2.3 (Debian 12) has no name for yet.
// Own names, not the kernel's: newer headers have some of them as macros and some as enumerators.
#pragma once

#include <cstdint>

namespace faio::ioengine::uring_abi {

inline constexpr unsigned enter_no_iowait = 1U << 7;        // IORING_ENTER_NO_IOWAIT, 6.15
inline constexpr unsigned feature_no_iowait = 1U << 17;     // IORING_FEAT_NO_IOWAIT, 6.15
inline constexpr unsigned register_send_msg_ring = 31;      // IORING_REGISTER_SEND_MSG_RING, 6.13
inline constexpr std::uint16_t accept_multishot = 1U << 0;  // IORING_ACCEPT_MULTISHOT, 5.19
inline constexpr std::uint16_t recv_multishot = 1U << 1;    // IORING_RECV_MULTISHOT, 6.0
inline constexpr std::uint32_t notification = 1U << 3;      // IORING_CQE_F_NOTIF, 6.0

}  // namespace faio::ioengine::uring_abi
