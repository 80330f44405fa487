// workloads -- what compare_faio can run, a function for each; the other runtimes' programs have the same names.
#pragma once

#include <faio/faio.hpp>

#include "common/program.hpp"

namespace compare {

/// The default configuration but for what the row is about: the number of workers and the discipline.
inline faio::config configured(options& wanted, const char* discipline = "fifo") {
  const std::string how = wanted.text("discipline", discipline);
  if (how != "fifo" && how != "lifo") fail("discipline=" + how + " is neither fifo nor lifo");
  return {.workers = wanted.number("workers", 2),
          .discipline = how == "lifo" ? faio::discipline::lifo : faio::discipline::fifo};
}

// fork_join.cpp
void fib(options& wanted);
void skynet(options& wanted);
void nqueens(options& wanted);
// tasks.cpp
void spawn_await(options& wanted);
void yield(options& wanted);
void chain(options& wanted);
void inject(options& wanted);
void wake(options& wanted);
void idle(options& wanted);
// messages.cpp
void ping_pong(options& wanted);
void ask(options& wanted);
void channel(options& wanted);
void mutex(options& wanted);
// time.cpp
void sleeps(options& wanted);
void sleepers(options& wanted);
// files.cpp
void file_reads(options& wanted);
// responder.cpp
void responder(options& wanted);

}  // namespace compare
