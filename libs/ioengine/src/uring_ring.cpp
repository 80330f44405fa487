// uring_ring -- setup, flag by flag.
#include "uring_ring.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <span>

#include "sanitizers.hpp"
#include "setup_errors.hpp"
#include "uring_abi.hpp"

namespace faio::ioengine::detail {

namespace {

// From the best to the oldest; a kernel that does not know a flag answers EINVAL.
// SUBMIT_ALL: one bad entry does not stop the batch. TASKRUN_FLAG: the ring tells when an enter is needed, so that a drive with
// nothing to do is no system call.
constexpr std::array<unsigned, 5> flag_ladder{
    IORING_SETUP_SUBMIT_ALL | IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG | IORING_SETUP_SINGLE_ISSUER |
        IORING_SETUP_DEFER_TASKRUN,  // 6.1
    IORING_SETUP_SUBMIT_ALL | IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG |
        IORING_SETUP_SINGLE_ISSUER,                                                   // 6.0
    IORING_SETUP_SUBMIT_ALL | IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG,  // 5.19
    IORING_SETUP_SUBMIT_ALL,                                                          // 5.18
    0,
};

// NODROP: an overflowing completion queue loses nothing. EXT_ARG: submit and wait with a timeout in one call (5.11). The others
// are older than these two.
constexpr unsigned needed_features = IORING_FEAT_NODROP | IORING_FEAT_EXT_ARG | IORING_FEAT_FAST_POLL |
                                     IORING_FEAT_RW_CUR_POS | IORING_FEAT_SUBMIT_STABLE;

}  // namespace

std::expected<void, setup_error> uring_ring::open(unsigned entries, std::size_t skip) {
  int error = 0;
  for (const unsigned flags : std::span(flag_ladder).subspan(skip)) {
    io_uring_params parameters{};
    parameters.flags = flags | IORING_SETUP_CLAMP;
    error = -::io_uring_queue_init_params(entries, &_ring, &parameters);
    _setup_flags = flags;
    if (error != EINVAL) break;
  }
  if (error != 0) return std::unexpected(explain_uring_refusal("io_uring_setup", error, entries));
  ring_is_mapped();
  if ((_ring.features & needed_features) != needed_features) {
    close();
    return std::unexpected(explain_uring_refusal("io_uring_setup", ENOSYS, entries));
  }
  // Entry i of the ring is always entry i of the array, so that publishing is one store. (Null with IORING_SETUP_NO_SQARRAY.)
  if (_ring.sq.array != nullptr)
    for (unsigned i = 0; i < _ring.sq.ring_entries; ++i) _ring.sq.array[i] = i;
  (void)move_window();
  _enter_fd = _ring.ring_fd;
  if (::io_uring_register_ring_fd(&_ring) == 1) {  // 5.18; saves the look-up of the descriptor on each enter
    _enter_fd = _ring.enter_ring_fd;
    _enter_flags = IORING_ENTER_REGISTERED_RING;
  }
  if ((_ring.features & uring_abi::feature_no_iowait) != 0) _wait_flags = uring_abi::enter_no_iowait;
  // A policy may forbid the use of the ring and not its making: better known now than at the first operation.
  if (error = -enter(std::chrono::nanoseconds::zero()); error == EPERM || error == EACCES || error == ENOSYS) {
    close();
    return std::unexpected(explain_uring_refusal("io_uring_enter", error, entries));
  }
  return {};
}

void uring_ring::close() noexcept {
  ring_will_be_unmapped();
  ::io_uring_queue_exit(&_ring);
}

std::string uring_ring::describe() const {
  std::string text = "io_uring with " + std::to_string(_ring.sq.ring_entries) + " entries";
  const auto add = [&](unsigned flag, const char* name) {
    if ((_setup_flags & flag) != 0) text += name;
  };
  add(IORING_SETUP_SINGLE_ISSUER, ", single issuer");
  add(IORING_SETUP_DEFER_TASKRUN, ", deferred task running");
  add(IORING_SETUP_COOP_TASKRUN, ", cooperative task running");
  if (_wait_flags != 0) text += ", no iowait";
  return text;
}

bool uring_ring::supports(std::uint8_t kernel_opcode) noexcept {
  io_uring_probe* const probe = ::io_uring_get_probe_ring(&_ring);
  if (probe == nullptr) return false;
  const bool supported = ::io_uring_opcode_supported(probe, kernel_opcode) != 0;
  ::io_uring_free_probe(probe);
  return supported;
}

}  // namespace faio::ioengine::detail
