// objects -- the table of every atomic, plain field, mutex and heap block that lives, or lived, in an execution.
#include "objects.hpp"

#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

namespace faio::explorer {
namespace {

const char* kind_name(operations::kind kind) noexcept {
  switch (kind) {
    case operations::kind::atomic:
      return "atomic";
    case operations::kind::plain:
      return "plain";
    case operations::kind::mutex:
      return "mutex";
    case operations::kind::block:
      return "block";
  }
  return "object";
}

std::string demangled(const char* type_name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(type_name, nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 ? text.get() : type_name;
}

}  // namespace

std::string object::name() const {
  std::string out = label != nullptr ? label : kind_name(kind) + ("#" + std::to_string(number));
  if (kind == operations::kind::block) out += " (" + demangled(type_name) + ")";
  return out;
}

void objects::reset() noexcept {
  _count = 0;
  _alive = 0;
  _numbers = {};
  if (++_round == 0) {  // after four thousand million executions the old marks would count again
    for (slot& each : _table) each.round = 0;
    _round = 1;
  }
}

object& objects::add(const void* address, operations::kind kind) {
  slot& place = probe(address, kind);
  if (place.round == _round && _records[place.record].alive) {
    // Two live objects cannot share an address: the old one's storage was reused without running its destructor.
    bury(_records[place.record]);
  }
  if (_count == max_records) {
    std::fprintf(stderr, "explorer: more than %zu objects in one execution\n", max_records);
    std::abort();
  }
  place = {address, _round, _count, kind};
  object& made = _records[_count++];
  made = {};
  made.address = address;
  made.kind = kind;
  made.alive = true;
  made.number = ++_numbers[static_cast<std::size_t>(kind)];
  ++_alive;
  return made;
}

const object* objects::block_around(const void* address) const noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (std::uint32_t i = 0; i < _count; ++i) {
    const object& each = _records[i];
    const auto begin = reinterpret_cast<std::uintptr_t>(each.address);
    if (each.kind == operations::kind::block && begin <= at && at < begin + each.size) return &each;
  }
  return nullptr;
}

const object* objects::any_alive() const noexcept {
  const object* found = nullptr;
  for (std::uint32_t i = 0; i < _count; ++i) {
    const object& each = _records[i];
    if (each.alive && each.kind == operations::kind::block) return &each;
    if (each.alive && found == nullptr) found = &each;
  }
  return found;
}

}  // namespace faio::explorer
