// lifetime -- the engine's checks of each access: is the object alive, and does anything race with it.
#include "engine.hpp"

namespace faio::explorer {

using operations::kind;

object& engine::create(const void* address, kind what, std::source_location at) {
  object& made = objects.add(address, what);
  made.write = memory.now(scheduler.running());
  made.write_at = at;
  return made;
}

object& engine::use(const void* address, kind what, std::source_location at) {
  object* found = objects.find(address, what);
  if (found == nullptr || !found->alive) [[unlikely]]
    dead(address, what, found, at);
  check_read(*found, at);
  return *found;
}

object& engine::use_to_write(const void* address, kind what, std::source_location at) {
  object* found = objects.find(address, what);
  if (found == nullptr || !found->alive) [[unlikely]]
    dead(address, what, found, at);
  check_write(*found, "writes", at);
  return *found;
}

void engine::destroy(const void* address, kind what) {
  object* found = objects.find(address, what);
  if (found == nullptr || !found->alive) [[unlikely]]
    dead(address, what, found, {});
  if (found->held)
    fail(failure_kind::misuse, std::string(scheduler.name(scheduler.running())) + " destroys " + found->name() +
                                   " while " + scheduler.name(found->holder) + " holds it");
  if (what != kind::block && scheduler.somebody_waits_on(address))
    fail(failure_kind::misuse, std::string(scheduler.name(scheduler.running())) + " destroys " + found->name() +
                                   " while a thread waits for it: " + scheduler.waiting());
  check_write(*found, "destroys", {});
  objects.bury(*found);
  // The body tidies up at the end of every execution: nobody wants to read that.
  if (_recording && scheduler.running() != 0) record("destroys " + found->name());
}

void engine::check_read(object& what, std::source_location at) {
  const unsigned self = scheduler.running();
  if (!memory.happened(what.write, self)) [[unlikely]]
    race(what, what.kind == kind::plain ? "reads" : "uses", what.kind == kind::plain ? "wrote" : "constructed",
         what.write.thread, at, what.write_at);
  what.read_times[self] = memory.now(self).time;
  what.reads_at[self] = at;
}

void engine::check_write(object& what, const char* verb, std::source_location at) {
  const unsigned self = scheduler.running();
  if (!memory.happened(what.write, self)) [[unlikely]]
    race(what, verb, what.kind == kind::plain ? "wrote" : "constructed", what.write.thread, at, what.write_at);
  for (unsigned i = 0; i < scheduler.count(); ++i)
    if (!memory.happened({i, what.read_times[i]}, self)) [[unlikely]]
      race(what, verb, what.kind == kind::plain ? "read" : "used", i, at, what.reads_at[i]);
  what.write = memory.now(self);
  what.write_at = at;
}

void engine::race(const object& what, const char* now, const char* before, unsigned other, std::source_location at,
                  std::source_location other_at) {
  const auto placed = [this](std::source_location place) {
    const std::string text = here(place);
    return text.empty() ? text : " (" + text + ")";
  };
  const std::string text = std::string(scheduler.name(scheduler.running())) + " " + now + " " + what.name() +
                           placed(at) + ", " + scheduler.name(other) + " " + before + " it" + placed(other_at) +
                           ", and nothing orders the one before the other";
  if (_recording) record("<- data race on " + what.name(), at);
  fail(failure_kind::data_race, text);
}

void engine::dead(const void* address, kind what, const object* record_of, std::source_location at) {
  const object* block = objects.block_around(address);
  const char* const noun = what == kind::atomic  ? "atomic"
                           : what == kind::plain ? "plain field"
                           : what == kind::mutex ? "mutex"
                                                 : "block";
  std::string text = scheduler.name(scheduler.running());
  text += " uses " + (record_of != nullptr ? record_of->name() : std::string("an ") + noun);
  if (const std::string place = here(at); !place.empty()) text += " (" + place + ")";
  if (_recording) record("<- use of a dead object", at);
  if (block != nullptr && !block->alive)
    fail(failure_kind::use_after_free,
         text + " in " + block->name() + ", which " + scheduler.name(block->write.thread) + " has destroyed");
  if (record_of != nullptr)
    fail(failure_kind::use_after_destroy,
         text + ", which " + scheduler.name(record_of->write.thread) + " has destroyed");
  fail(failure_kind::use_after_destroy, text + " where none was ever constructed");
}

}  // namespace faio::explorer
