// model_main_test -- models for the tests of model_main.cpp: what it takes for a finding, and what it prints.
#include "model.hpp"

namespace faio::explorer::models {
namespace {

void clean(run& run) {
  run.thread("alone", [] {});
  run.join();
}

void fails(run& run) {
  run.thread("alone", [] { check(false, "it always fails"); });
  run.join();
}

/// Not the same each time, which nobody can explore.
void cannot_be_repeated(run& run) {
  static int times = 0;
  const bool first = ++times % 2 == 1;
  run.thread("alone", [&] { check(!first, "only every other time"); });
  run.join();
}

const model all[] = {{"clean", clean}, {"cannot_be_repeated", cannot_be_repeated}, {"fails", fails}};

}  // namespace

std::span<const model> models() { return all; }

}  // namespace faio::explorer::models
