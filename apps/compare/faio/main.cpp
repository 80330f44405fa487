// compare_faio -- faio's side of the comparison: runs one workload and prints one line of JSON.
#include <exception>
#include <map>

#include "workloads.hpp"

int main(int argc, char** argv) {
  using namespace compare;
  const std::map<std::string, void (*)(options&)> workloads = {{"fib", fib},
                                                               {"skynet", skynet},
                                                               {"nqueens", nqueens},
                                                               {"spawn_await", spawn_await},
                                                               {"yield", yield},
                                                               {"chain", chain},
                                                               {"inject", inject},
                                                               {"wake", wake},
                                                               {"idle", idle},
                                                               {"ping_pong", ping_pong},
                                                               {"ask", ask},
                                                               {"channel", channel},
                                                               {"mutex", mutex},
                                                               {"sleeps", sleeps},
                                                               {"sleepers", sleepers},
                                                               {"file_reads", file_reads},
                                                               {"responder", responder}};
  options wanted(argc, argv);
  const auto found = workloads.find(wanted.workload);
  if (found == workloads.end()) fail("no workload " + wanted.workload);
  try {
    found->second(wanted);
  } catch (const std::exception& error) {
    fail(error.what());
  }
}
