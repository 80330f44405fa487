// errors -- a sentence for each, with what to do instead.
#include "faio/scheduler/errors.hpp"

#include <string>

namespace faio::scheduler {
namespace {

class category final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "faio"; }
  [[nodiscard]] std::string message(int value) const override {
    switch (static_cast<errc>(value)) {
      case errc::stopped:
        return "the runtime has been stopped and takes no new work; make a new runtime_context";
      case errc::no_such_worker:
        return "there is no worker with this id, or it has been detached; metrics() lists the ids";
      case errc::hosted_worker:
        return "this worker lives on a thread of the caller's (run, run_once) and cannot be detached; stop() ends "
               "run()";
      case errc::last_worker:
        return "the last worker of its kind cannot be detached, nobody would run its tasks; attach another one first, "
               "or "
               "stop()";
      case errc::too_many_workers:
        return "a runtime has room for 2048 workers of each kind";
      case errc::not_watchable:
        return "the worker's engine cannot wait for this descriptor: regular files and directories are always ready, "
               "and "
               "compute workers have no descriptors; read files with faio::fs or faio::blocking";
      case errc::on_a_worker:
        return "this call blocks its thread, which is a worker of the same runtime, or one of its threads for "
               "faio::blocking, and the runtime would wait for itself; co_await the task or its handle instead";
    }
    return "unknown error";
  }
};

}  // namespace

const std::error_category& error_category() noexcept {
  static const category one;
  return one;
}

}  // namespace faio::scheduler
