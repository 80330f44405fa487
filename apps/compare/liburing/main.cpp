// compare_liburing -- the limit: the I/O workloads written straight against liburing, no runtime.
#include "workloads.hpp"

int main(int argc, char** argv) {
  using namespace compare;
  options wanted(argc, argv);
  if (wanted.workload == "responder") {
    responder(wanted);
  } else if (wanted.workload == "file_reads") {
    file_reads(wanted);
  } else {
    fail("no workload " + wanted.workload);
  }
}
