// thread_engine -- a futex and timers, for workers that only compute: no descriptor, no ring, no I/O.
#include <cerrno>

#include "engine_factory.hpp"
#include "engine_loop.hpp"
#include "futex_bed.hpp"

namespace faio::ioengine::detail {

namespace {

class thread_engine final : public engine_loop<thread_engine> {
 public:
  explicit thread_engine(const engine_options& options) : engine_loop(engine_kind::thread, options) {
    _reason = "a futex and timers, no I/O";
  }
  ~thread_engine() override {
    if (in_own_process()) drain();
  }

 private:
  friend engine_loop<thread_engine>;
  void start(operation& op) noexcept { complete_later(op, op.code() == opcode::nop ? 0 : -EOPNOTSUPP); }
  void start_special(operation& op) noexcept { start(op); }
  void ask_to_cancel(operation&) noexcept override {}  // all operations are in the ready list or the wheel
  void cancel_all() noexcept override {}
  std::size_t reap() noexcept override { return 0; }
  int make_handle() noexcept override { return -1; }
  void arm_handle(std::chrono::nanoseconds) noexcept override {}
  result<void*> add_pool(buffer_pool&) noexcept override {
    return std::unexpected(std::make_error_code(std::errc::operation_not_supported));
  }
  void remove_pool(buffer_pool&) noexcept override {}

  void enter(std::chrono::nanoseconds timeout) noexcept override {
    if (timeout != no_time) _bed.sleep(timeout);
  }
  void end_sleep() noexcept override { _bed.end(); }

  futex_bed _bed;
};

}  // namespace

made_engine make_thread_engine(const engine_options& options) { return std::make_unique<thread_engine>(options); }

}  // namespace faio::ioengine::detail
