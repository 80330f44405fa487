# mutants -- the seeded mistakes. Each must be found by a model; README.md lists those that no model can see, with the reason.

# ---- local_queue
set(header libs/queue/include/faio/queue/local_queue.hpp)

faio_add_mutant(local_queue_push_publishes_relaxed MODEL local_queue HEADER ${header}
  FIND [[_tail.store(forward(tail, 1), std::memory_order_release)]]
  REPLACE [[_tail.store(forward(tail, 1), std::memory_order_relaxed)]])
faio_add_mutant(local_queue_push_reuses_a_slot_too_early MODEL local_queue HEADER ${header}
  FIND [[a taker has read its slots before we write them again (I4).
    const auto head = _head.load(std::memory_order_acquire);]]
  REPLACE [[weakened.
    const auto head = _head.load(std::memory_order_relaxed);]])
faio_add_mutant(local_queue_push_if_there_is_room_too_early MODEL local_queue HEADER ${header}
  FIND [[return put(_head.load(std::memory_order_acquire), value);]]
  REPLACE [[return put(_head.load(std::memory_order_relaxed), value);]])
faio_add_mutant(local_queue_full_one_too_late MODEL local_queue HEADER ${header}
  FIND [[if (distance(steal_of(head), tail) >= Capacity) return false;]]
  REPLACE [[if (distance(steal_of(head), tail) > Capacity) return false;]])
faio_add_mutant(local_queue_sheds_under_a_thief MODEL local_queue HEADER ${header}
  FIND [[if (steal != first) return detail::hand_over<T>(overflow, {&value, 1}) ? full::handed_over : full::refused;]]
  REPLACE [[]])
faio_add_mutant(local_queue_batch_publishes_relaxed MODEL local_queue HEADER ${header}
  FIND [[_tail.store(forward(tail, count), std::memory_order_release)]]
  REPLACE [[_tail.store(forward(tail, count), std::memory_order_relaxed)]])
faio_add_mutant(local_queue_pop_relaxed MODEL local_queue HEADER ${header}
  FIND [[advanced, std::memory_order_release, std::memory_order_relaxed]]
  REPLACE [[advanced, std::memory_order_relaxed, std::memory_order_relaxed]])
faio_add_mutant(local_queue_pop_forgets_the_thief MODEL local_queue HEADER ${header}
  FIND [[steal == local_head ? pack(next, next) : pack(steal, next)]]
  REPLACE [[pack(next, next)]])
faio_add_mutant(local_queue_thief_reads_an_old_head MODEL local_queue HEADER ${header}
  FIND [[makes the tail below no older than this head (I1).
  auto head = _head.load(std::memory_order_acquire);]]
  REPLACE [[weakened.
  auto head = _head.load(std::memory_order_relaxed);]])
faio_add_mutant(local_queue_thief_sees_no_slots MODEL local_queue HEADER ${header}
  FIND [[distance(local_head, _tail.load(std::memory_order_acquire))]]
  REPLACE [[distance(local_head, _tail.load(std::memory_order_relaxed))]])
faio_add_mutant(local_queue_two_thieves_at_once MODEL local_queue HEADER ${header}
  FIND [[if (steal != local_head) return std::nullopt;]]
  REPLACE [[]])
faio_add_mutant(local_queue_steal_advanced_too_early MODEL local_queue HEADER ${header}
  FIND [[pack(steal, forward(first, count))]]
  REPLACE [[pack(forward(first, count), forward(first, count))]])
faio_add_mutant(local_queue_thief_lets_go_relaxed MODEL local_queue HEADER ${header}
  FIND [[pack(local_head, local_head), std::memory_order_release,]]
  REPLACE [[pack(local_head, local_head), std::memory_order_relaxed,]])
faio_add_mutant(local_queue_thief_publishes_relaxed MODEL local_queue HEADER ${header}
  FIND [[dst._tail.store(forward(dst_tail, count - 1), std::memory_order_release)]]
  REPLACE [[dst._tail.store(forward(dst_tail, count - 1), std::memory_order_relaxed)]])
faio_add_mutant(local_queue_size_of_an_old_tail MODEL local_queue HEADER ${header}
  FIND [[so the difference is not negative.
  const auto [steal, local_head] = unpack(_head.load(std::memory_order_acquire));]]
  REPLACE [[weakened.
  const auto [steal, local_head] = unpack(_head.load(std::memory_order_relaxed));]])
faio_add_mutant(local_queue_size_of_a_tail_before_the_claim MODEL local_queue HEADER ${header}
  FIND [[pack(steal, forward(first, count)), std::memory_order_release,]]
  REPLACE [[pack(steal, forward(first, count)), std::memory_order_relaxed,]])
faio_add_mutant(local_queue_four_bit_indices MODEL local_queue HEADER ${header} RUN many_turns_behind_a_slow_thief
  FIND [[return from + static_cast<index>(count);]]
  REPLACE [[return (from + static_cast<index>(count)) & 15;]]
  FIND2 [[return static_cast<index>(to - from);]]
  REPLACE2 [[return static_cast<index>(to - from) & 15;]])
faio_add_mutant(local_queue_shed_ends_relaxed MODEL local_queue HEADER ${header}
  FIND [[_head.store(pack(next, next), std::memory_order_release)]]
  REPLACE [[_head.store(pack(next, next), std::memory_order_relaxed)]])
faio_add_mutant(local_queue_room_behind_a_thief MODEL local_queue HEADER ${header}
  FIND [[the taker has read its slots before we write them again (I4).
    const auto [steal, local_head] = unpack(_head.load(std::memory_order_acquire));]]
  REPLACE [[weakened.
    const auto [steal, local_head] = unpack(_head.load(std::memory_order_relaxed));]])

# ---- deque
set(header libs/queue/include/faio/queue/deque.hpp)

faio_add_mutant(deque_push_publishes_relaxed MODEL deque HEADER ${header}
  FIND [[_bottom.store(bottom + 1, std::memory_order_release)]]
  REPLACE [[_bottom.store(bottom + 1, std::memory_order_relaxed)]])
faio_add_mutant(deque_push_all_publishes_relaxed MODEL deque HEADER ${header}
  FIND [[_bottom.store(end, std::memory_order_release)]]
  REPLACE [[_bottom.store(end, std::memory_order_relaxed)]])
faio_add_mutant(deque_pop_stores_without_order MODEL deque HEADER ${header}
  FIND [[_bottom.exchange(bottom, std::memory_order_seq_cst)]]
  REPLACE [[_bottom.store(bottom, std::memory_order_release)]])
faio_add_mutant(deque_pop_loads_without_order MODEL deque HEADER ${header}
  FIND [[    top = _top.load(std::memory_order_seq_cst);
  }]]
  REPLACE [[    top = _top.load(std::memory_order_acquire);
  }]])
faio_add_mutant(deque_steal_loads_without_order MODEL deque HEADER ${header}
  FIND [[const index bottom = _bottom.load(std::memory_order_seq_cst);]]
  REPLACE [[const index bottom = _bottom.load(std::memory_order_acquire);]])
faio_add_mutant(deque_steal_reads_top_without_order MODEL deque HEADER ${header}
  FIND [[index top = _top.load(std::memory_order_seq_cst);]]
  REPLACE [[index top = _top.load(std::memory_order_acquire);]])
faio_add_mutant(deque_thief_does_not_pay MODEL deque HEADER ${header}
  FIND [[if constexpr (thieves_pay) Policy::heavy_barrier();]]
  REPLACE [[]])
faio_add_mutant(deque_thief_pays_too_early MODEL deque HEADER ${header}
  FIND [[    index top = _top.load(std::memory_order_seq_cst);
    if constexpr (thieves_pay) Policy::heavy_barrier();]]
  REPLACE [[    if constexpr (thieves_pay) Policy::heavy_barrier();
    index top = _top.load(std::memory_order_seq_cst);]])
faio_add_mutant(deque_thief_pays_too_late MODEL deque HEADER ${header}
  FIND [[    if constexpr (thieves_pay) Policy::heavy_barrier();]]
  REPLACE [[]]
  FIND2 [[    seen = bottom - top;]]
  REPLACE2 [[    if constexpr (thieves_pay) Policy::heavy_barrier();
    seen = bottom - top;]])
faio_add_mutant(deque_pop_hides_the_slots_beneath MODEL deque HEADER ${header}
  FIND [[_bottom.store(bottom, std::memory_order_release);]]
  REPLACE [[_bottom.store(bottom, std::memory_order_relaxed);]])
faio_add_mutant(deque_last_element_without_a_fight MODEL deque HEADER ${header}
  FIND [=[if (top < bottom) [[likely]] {]=]
  REPLACE [[if (top <= bottom) {]])
faio_add_mutant(deque_lone_element_without_a_fight MODEL deque HEADER ${header}
  FIND [[return _top.compare_exchange_strong(top, top + 1, std::memory_order_relaxed);]]
  REPLACE [[return _top.store(top + 1, std::memory_order_seq_cst), true;]])
faio_add_mutant(deque_frees_a_buffer_under_a_thief MODEL deque HEADER ${header}
  FIND [[if (_thieves.load(std::memory_order_seq_cst) == 0) free_retired();]]
  REPLACE [[free_retired();]])
faio_add_mutant(deque_thief_announces_itself_relaxed MODEL deque HEADER ${header}
  FIND [[_host._thieves.fetch_add(1, std::memory_order_seq_cst);]]
  REPLACE [[_host._thieves.fetch_add(1, std::memory_order_relaxed);]])
faio_add_mutant(deque_thief_leaves_relaxed MODEL deque HEADER ${header}
  FIND [[_host._thieves.fetch_sub(1, std::memory_order_release);]]
  REPLACE [[_host._thieves.fetch_sub(1, std::memory_order_relaxed);]])
faio_add_mutant(deque_buffer_replaced_without_order MODEL deque HEADER ${header}
  FIND [[_buffer.store(bigger, std::memory_order_seq_cst);]]
  REPLACE [[_buffer.store(bigger, std::memory_order_release);]])
faio_add_mutant(deque_buffer_read_without_order MODEL deque HEADER ${header}
  FIND [[_buffer.load(std::memory_order_seq_cst);]]
  REPLACE [[_buffer.load(std::memory_order_acquire);]])
faio_add_mutant(deque_looks_for_thieves_without_order MODEL deque HEADER ${header}
  FIND [[if (_thieves.load(std::memory_order_seq_cst) == 0) free_retired();]]
  REPLACE [[if (_thieves.load(std::memory_order_acquire) == 0) free_retired();]])

# ---- inbox
set(header libs/queue/include/faio/queue/inbox.hpp)

faio_add_mutant(inbox_push_relaxed MODEL inbox HEADER ${header}
  FIND [[mine, std::memory_order_release, std::memory_order_relaxed]]
  REPLACE [[mine, std::memory_order_relaxed, std::memory_order_relaxed]])
faio_add_mutant(inbox_drain_relaxed MODEL inbox HEADER ${header}
  FIND [[_newest.exchange(nullptr, std::memory_order_acquire)]]
  REPLACE [[_newest.exchange(nullptr, std::memory_order_relaxed)]])
faio_add_mutant(inbox_push_without_a_fight MODEL inbox HEADER ${header}
  FIND [[} while (!_newest.compare_exchange_weak(newest, mine, std::memory_order_release, std::memory_order_relaxed));]]
  REPLACE [[} while (false); _newest.store(mine, std::memory_order_release);]])

# ---- global_queue
set(header libs/queue/include/faio/queue/global_queue.hpp)

faio_add_mutant(global_queue_size_told_after_the_lock MODEL global_queue HEADER ${header}
  FIND [[  const std::lock_guard lock(_mutex);
  const std::size_t count = _ring.write().take(out);]]
  REPLACE [[  std::size_t count;
  { const std::lock_guard lock(_mutex); count = _ring.write().take(out); }]])
faio_add_mutant(global_queue_push_does_not_tell MODEL global_queue HEADER ${header}
  FIND [[  _ring.write().append(values);
  _size.store(_ring.read().size(), std::memory_order_relaxed);  // relaxed: as in size()]]
  REPLACE [[  _ring.write().append(values);]])
faio_add_mutant(global_queue_closed_looked_at_without_the_lock MODEL global_queue HEADER ${header}
  FIND [[  const std::lock_guard lock(_mutex);
  if (_closed.read()) return false;]]
  REPLACE [[  if (_closed.read()) return false;
  const std::lock_guard lock(_mutex);]])

# ---- state_machine
set(header libs/statemachine/include/faio/statemachine/state_machine.hpp)

faio_add_mutant(state_machine_publisher_without_its_barrier MODEL state_machine HEADER ${header}
  FIND [[Policy::light_barrier();]]
  REPLACE [[]])
faio_add_mutant(state_machine_sleeper_without_its_barrier MODEL state_machine HEADER ${header}
  FIND [[if (verdict.look_again) Policy::heavy_barrier();]]
  REPLACE [[]])
faio_add_mutant(state_machine_last_searcher_does_not_look_again MODEL state_machine HEADER ${header}
  FIND [[.look_again = others == 0]]
  REPLACE [[.look_again = false]])
faio_add_mutant(state_machine_refused_searcher_does_not_look_again MODEL state_machine HEADER ${header}
  FIND [[.look_again = others == 0]]
  REPLACE [[.look_again = was_searching && others == 0]])
faio_add_mutant(state_machine_outside_publisher_without_its_barrier MODEL state_machine HEADER ${header}
  RUN a_second_job_from_outside_while_one_computes
  FIND [[    Policy::full_barrier();  // against the one in cancel_searching()]]
  REPLACE [[]])
faio_add_mutant(state_machine_lone_searcher_without_its_barrier MODEL state_machine HEADER ${header}
  RUN a_second_job_from_outside_while_one_computes
  FIND [[  if (verdict.alone) Policy::full_barrier();]]
  REPLACE [[]])
faio_add_mutant(state_machine_last_searcher_takes_itself_for_alone MODEL state_machine HEADER ${header}
  RUN a_job_from_outside_and_one_from_a_worker
  FIND [[.alone = then.working == 1]]
  REPLACE [[.alone = true]])
faio_add_mutant(state_machine_limit_checked_in_two_steps MODEL state_machine HEADER ${header} RUN the_limit_of_searchers
  FIND [[} while (!_word.compare_exchange_weak(word, word + one_searching, std::memory_order_relaxed));]]
  REPLACE [[} while (false); _word.fetch_add(one_searching, std::memory_order_relaxed);]])
faio_add_mutant(state_machine_self_waker_not_counted MODEL state_machine HEADER ${header}
  FIND [[  _word.fetch_add(one_working, std::memory_order_relaxed);]]
  REPLACE [[]])
faio_add_mutant(state_machine_notified_not_counted_as_searching MODEL state_machine HEADER ${header}
  FIND [[word + one_working + one_searching]]
  REPLACE [[word + one_working]])
faio_add_mutant(state_machine_listed_outside_the_lock MODEL state_machine HEADER ${header}
  FIND [[    _sleepers.write().push_back(id);  // room was reserved when the worker joined]]
  REPLACE [[]]
  FIND2 [[  const std::size_t others =]]
  REPLACE2 [[  _sleepers.write().push_back(id);
  const std::size_t others =]])

faio_add_mutant(state_machine_sleeper_hides_what_it_published MODEL state_machine HEADER ${header}
  RUN the_lone_one_looks_after_a_sleeper
  FIND [[(was_searching ? one_searching : 0), std::memory_order_release)]]
  REPLACE [[(was_searching ? one_searching : 0), std::memory_order_relaxed)]])
faio_add_mutant(state_machine_leaver_hides_what_it_published MODEL state_machine HEADER ${header}
  RUN the_lone_one_looks_after_a_leaver
  FIND [[_word.fetch_sub(one_worker + one_working, std::memory_order_release)]]
  REPLACE [[_word.fetch_sub(one_worker + one_working, std::memory_order_relaxed)]])
faio_add_mutant(state_machine_brief_sleeper_counts_as_searching MODEL state_machine HEADER ${header}
  RUN a_job_for_one_who_naps
  FIND [[{ (void)fall_asleep(id, was_searching); }]]
  REPLACE [[{ (void)fall_asleep(id, false); }]])
# The worker's part of the rules.
faio_add_mutant(state_machine_brief_sleeper_never_looks MODEL state_machine HEADER tests/explorer/models/hall.hpp
  RUN a_job_for_one_who_naps
  FIND [[      return take_a_job(id, !_machine.cancel_sleeping(id));]]
  REPLACE [[      _beds[id].sleep();
      return take_a_job(id, !_machine.cancel_sleeping(id));]])

# ---- completion_signal
set(header libs/context/include/faio/context/completion_signal.hpp)

faio_add_mutant(completion_signal_notifies_the_object MODEL completion_signal HEADER ${header}
  FIND [[Policy::futex_wake_all(address);]]
  REPLACE [[_state.notify_all();]])
faio_add_mutant(completion_signal_ready_relaxed MODEL completion_signal HEADER ${header}
  FIND [[_state.exchange(ready, std::memory_order_release)]]
  REPLACE [[_state.exchange(ready, std::memory_order_relaxed)]])
faio_add_mutant(completion_signal_looks_relaxed MODEL completion_signal HEADER ${header}
  FIND [[_state.load(std::memory_order_acquire) == ready]]
  REPLACE [[_state.load(std::memory_order_relaxed) == ready]])
faio_add_mutant(completion_signal_believes_every_wake MODEL completion_signal HEADER ${header}
  FIND [[while (!is_ready()) Policy::futex_wait(_state, awaited);]]
  REPLACE [[if (!is_ready()) Policy::futex_wait(_state, awaited);]])
faio_add_mutant(completion_signal_does_not_ask_for_a_wake MODEL completion_signal HEADER ${header}
  FIND [[_state.compare_exchange_strong(seen, awaited, std::memory_order_relaxed);]]
  REPLACE [[_state.store(awaited, std::memory_order_relaxed);]])

# ---- waker
set(header libs/ioengine/include/faio/ioengine/waker.hpp)

faio_add_mutant(waker_notify_publishes_nothing MODEL waker HEADER ${header}
  FIND [[_state.exchange(notified, std::memory_order_acq_rel)]]
  REPLACE [[_state.exchange(notified, std::memory_order_acquire)]])
faio_add_mutant(waker_notifier_does_not_see_the_bed MODEL waker HEADER ${header}
  FIND [[_state.exchange(notified, std::memory_order_acq_rel)]]
  REPLACE [[_state.exchange(notified, std::memory_order_release)]])
faio_add_mutant(waker_owner_hides_its_bed MODEL waker HEADER ${header}
  FIND [[compare_exchange_strong(expected, sleeping, std::memory_order_release, std::memory_order_relaxed)]]
  REPLACE [[compare_exchange_strong(expected, sleeping, std::memory_order_relaxed, std::memory_order_relaxed)]])
faio_add_mutant(waker_notify_believes_an_old_state MODEL waker HEADER ${header}
  FIND [[    return _state.exchange(notified, std::memory_order_acq_rel) == sleeping;]]
  REPLACE [[    if (_state.load(std::memory_order_relaxed) == notified) return false;
    return _state.exchange(notified, std::memory_order_acq_rel) == sleeping;]])
faio_add_mutant(waker_sleeps_over_a_wake MODEL waker HEADER ${header}
  FIND [[if (_state.compare_exchange_strong(expected, sleeping, std::memory_order_release, std::memory_order_relaxed))
      return true;]]
  REPLACE [[_state.exchange(sleeping, std::memory_order_acq_rel); return true;]])
faio_add_mutant(waker_takes_a_wake_without_looking MODEL waker HEADER ${header}
  FIND [[(void)_state.exchange(awake, std::memory_order_acquire);]]
  REPLACE [[_state.store(awake, std::memory_order_relaxed);]])
faio_add_mutant(waker_gets_up_without_looking MODEL waker HEADER ${header}
  FIND [[return _state.exchange(awake, std::memory_order_acquire) == notified;]]
  REPLACE [[_state.store(awake, std::memory_order_relaxed); return true;]])
faio_add_mutant(waker_gets_up_relaxed MODEL waker HEADER ${header}
  FIND [[return _state.exchange(awake, std::memory_order_acquire) == notified;]]
  REPLACE [[return _state.exchange(awake, std::memory_order_relaxed) == notified;]])

set(header libs/ioengine/include/faio/ioengine/bed_choice.hpp)

faio_add_mutant(bed_choice_stays_after_a_prevented_sleep MODEL waker HEADER ${header} RUN a_rest_after_a_sleep_that_was_prevented
  FIND [[    // relaxed: the next prepare_sleep publishes it, whoever makes it (I2).
    _aside.store(false, std::memory_order_relaxed);]]
  REPLACE [[]])
faio_add_mutant(bed_choice_stays_for_a_drain MODEL waker HEADER ${header} RUN a_drain_after_a_sleep_that_was_prevented
  FIND [[    // relaxed: the next prepare_sleep publishes it, whoever makes it (I2).
    _aside.store(false, std::memory_order_relaxed);]]
  REPLACE [[]])
faio_add_mutant(bed_choice_made_too_late MODEL waker HEADER ${header} RUN an_owner_with_two_beds
  FIND [[    _aside.store(aside, std::memory_order_relaxed);
    if (handshake.prepare_sleep()) return true;]]
  REPLACE [[    if (handshake.prepare_sleep()) {
      _aside.store(aside, std::memory_order_relaxed);
      return true;
    }]])

# ---- group_counter, join_counter
set(header libs/context/include/faio/context/group_counter.hpp)

faio_add_mutant(group_counter_leaves_without_release MODEL group HEADER ${header}
  FIND [[_inside.fetch_sub(count, std::memory_order_acq_rel)]]
  REPLACE [[_inside.fetch_sub(count, std::memory_order_acquire)]])
faio_add_mutant(group_counter_last_without_acquire MODEL group HEADER ${header}
  FIND [[_inside.fetch_sub(count, std::memory_order_acq_rel)]]
  REPLACE [[_inside.fetch_sub(count, std::memory_order_release)]])
faio_add_mutant(group_counter_alone_without_acquire MODEL group HEADER ${header}
  FIND [[_inside.load(std::memory_order_acquire) == count]]
  REPLACE [[_inside.load(std::memory_order_relaxed) == count]])
faio_add_mutant(group_counter_looks_again_after_it_left MODEL group HEADER ${header}
  FIND [[return _inside.fetch_sub(count, std::memory_order_acq_rel) == count;]]
  REPLACE [[_inside.fetch_sub(count, std::memory_order_acq_rel); return _inside.load(std::memory_order_acquire) == 0;]])
faio_add_mutant(group_counter_leaves_in_two_steps MODEL group HEADER ${header}
  FIND [[return _inside.fetch_sub(count, std::memory_order_acq_rel) == count;]]
  REPLACE [[const auto n = _inside.load(std::memory_order_acquire); _inside.store(n - count, std::memory_order_release); return n == count;]])
faio_add_mutant(group_counter_does_not_count_who_enters MODEL group HEADER ${header}
  FIND [[_inside.fetch_add(count, std::memory_order_relaxed);]]
  REPLACE [[]])

set(header libs/context/include/faio/context/join_counter.hpp)

faio_add_mutant(join_counter_arrives_without_release MODEL group HEADER ${header}
  FIND [[_left.fetch_sub(weight, std::memory_order_acq_rel)]]
  REPLACE [[_left.fetch_sub(weight, std::memory_order_acquire)]])
faio_add_mutant(join_counter_last_without_acquire MODEL group HEADER ${header}
  FIND [[_left.fetch_sub(weight, std::memory_order_acq_rel)]]
  REPLACE [[_left.fetch_sub(weight, std::memory_order_release)]])
faio_add_mutant(join_counter_takes_off_children_not_weights MODEL group HEADER ${header}
  FIND [[return _left.fetch_sub(weight, std::memory_order_acq_rel) == weight;]]
  REPLACE [[return _left.fetch_sub(1, std::memory_order_acq_rel) == 1;]])
faio_add_mutant(join_counter_arrives_in_two_steps MODEL group HEADER ${header}
  FIND [[return _left.fetch_sub(weight, std::memory_order_acq_rel) == weight;]]
  REPLACE [[const auto n = _left.load(std::memory_order_acquire); _left.store(n - weight, std::memory_order_release); return n == weight;]])

# ---- wait_handshake
set(header libs/context/include/faio/context/wait_handshake.hpp)

faio_add_mutant(wait_handshake_cancel_does_not_see_the_home MODEL wait HEADER ${header}
  FIND [[_state.compare_exchange_weak(seen, asked, std::memory_order_acq_rel, std::memory_order_relaxed)]]
  REPLACE [[_state.compare_exchange_weak(seen, asked, std::memory_order_release, std::memory_order_relaxed)]])
faio_add_mutant(wait_handshake_cancel_hands_nothing_over MODEL wait HEADER ${header}
  FIND [[_state.compare_exchange_weak(seen, asked, std::memory_order_acq_rel, std::memory_order_relaxed)]]
  REPLACE [[_state.compare_exchange_weak(seen, asked, std::memory_order_acquire, std::memory_order_relaxed)]])
faio_add_mutant(wait_handshake_rearm_without_release MODEL wait HEADER ${header}
  FIND [[_state.compare_exchange_strong(from, to, std::memory_order_acq_rel, std::memory_order_acquire)]]
  REPLACE [[_state.compare_exchange_strong(from, to, std::memory_order_acquire, std::memory_order_acquire)]])
faio_add_mutant(wait_handshake_failed_rearm_without_acquire MODEL wait HEADER ${header}
  FIND [[_state.compare_exchange_strong(from, to, std::memory_order_acq_rel, std::memory_order_acquire)]]
  REPLACE [[_state.compare_exchange_strong(from, to, std::memory_order_acq_rel, std::memory_order_relaxed)]])
faio_add_mutant(wait_handshake_looks_relaxed MODEL wait HEADER ${header}
  FIND [[_state.load(std::memory_order_acquire) == asked]]
  REPLACE [[_state.load(std::memory_order_relaxed) == asked]])
faio_add_mutant(wait_handshake_changes_in_two_steps MODEL wait HEADER ${header}
  FIND [[return _state.compare_exchange_strong(from, to, std::memory_order_acq_rel, std::memory_order_acquire);]]
  REPLACE [[if (_state.load(std::memory_order_acquire) != from) return false; _state.store(to, std::memory_order_release); return true;]])
faio_add_mutant(wait_handshake_cancel_overwrites_done MODEL wait HEADER ${header}
  FIND [[if (seen == done) return false;]]
  REPLACE [[]]
  FIND2 [[return seen == armed;]]
  REPLACE2 [[return seen != moving;]])
faio_add_mutant(wait_handshake_cancel_lost_while_it_moves MODEL wait HEADER ${header}
  FIND [[if (seen == done) return false;]]
  REPLACE [[if (seen != armed) return false;]])
faio_add_mutant(wait_handshake_cancel_sends_to_one_that_moves MODEL wait HEADER ${header}
  FIND [[return seen == armed;]]
  REPLACE [[return true;]])

# ---- end_meeting
set(header libs/context/include/faio/context/end_meeting.hpp)

faio_add_mutant(end_meeting_end_publishes_nothing MODEL meeting HEADER ${header}
  FIND [[_waiter.exchange(ended, std::memory_order_acq_rel)]]
  REPLACE [[_waiter.exchange(ended, std::memory_order_acquire)]])
faio_add_mutant(end_meeting_end_does_not_see_the_waiter MODEL meeting HEADER ${header}
  FIND [[_waiter.exchange(ended, std::memory_order_acq_rel)]]
  REPLACE [[_waiter.exchange(ended, std::memory_order_release)]])
faio_add_mutant(end_meeting_ends_in_two_steps MODEL meeting HEADER ${header}
  FIND [[return _waiter.exchange(ended, std::memory_order_acq_rel);]]
  REPLACE [[const word seen = _waiter.load(std::memory_order_acquire); _waiter.store(ended, std::memory_order_release); return seen;]])
faio_add_mutant(end_meeting_waiter_does_not_see_the_end MODEL meeting HEADER ${header}
  FIND [[waiter, std::memory_order_acq_rel, std::memory_order_acquire]]
  REPLACE [[waiter, std::memory_order_acq_rel, std::memory_order_relaxed]])
faio_add_mutant(end_meeting_waiter_overwrites_the_end MODEL meeting HEADER ${header}
  FIND [[return _waiter.compare_exchange_strong(none, waiter, std::memory_order_acq_rel, std::memory_order_acquire);]]
  REPLACE [[none = _waiter.load(std::memory_order_acquire); _waiter.store(waiter, std::memory_order_release); return none == pending;]])
faio_add_mutant(end_meeting_looks_relaxed MODEL meeting HEADER ${header}
  FIND [[_waiter.load(std::memory_order_acquire) == ended]]
  REPLACE [[_waiter.load(std::memory_order_relaxed) == ended]])
faio_add_mutant(end_meeting_keeper_lets_go_without_release MODEL meeting HEADER ${header}
  FIND [[_keepers.fetch_and(~bit, std::memory_order_acq_rel)]]
  REPLACE [[_keepers.fetch_and(~bit, std::memory_order_acquire)]])
faio_add_mutant(end_meeting_last_keeper_without_acquire MODEL meeting HEADER ${header}
  FIND [[_keepers.fetch_and(~bit, std::memory_order_acq_rel)]]
  REPLACE [[_keepers.fetch_and(~bit, std::memory_order_release)]])
faio_add_mutant(end_meeting_both_keepers_free MODEL meeting HEADER ${header}
  FIND [[before = _keepers.fetch_and(~bit, std::memory_order_acq_rel);]]
  REPLACE [[{ before = _keepers.fetch_and(~bit, std::memory_order_acq_rel); if (_keepers.load(std::memory_order_acquire) == 0) before = bit; }]])
faio_add_mutant(end_meeting_scope_goes_while_it_is_pinned MODEL meeting HEADER ${header}
  FIND [[which == keeper::scope && before < one_pin]]
  REPLACE [[which == keeper::scope]])
faio_add_mutant(end_meeting_pinned_scope_stays_for_ever MODEL meeting HEADER ${header}
  FIND [[return before < 2 * one_pin && (before & static_cast<std::uint32_t>(keeper::scope)) == 0;]]
  REPLACE [[(void)before; return false;]])
faio_add_mutant(end_meeting_first_to_unpin_frees MODEL meeting HEADER ${header}
  FIND [[return before < 2 * one_pin && (before &]]
  REPLACE [[return before != 0 && (before &]])
faio_add_mutant(end_meeting_pin_without_looking MODEL meeting HEADER ${header}
  FIND [[while ((seen & static_cast<std::uint32_t>(keeper::scope)) != 0) {]]
  REPLACE [[while (true) {]])
faio_add_mutant(end_meeting_pin_does_not_see_the_end MODEL meeting HEADER ${header}
  FIND [[std::uint32_t seen = _keepers.load(std::memory_order_acquire);]]
  REPLACE [[std::uint32_t seen = _keepers.load(std::memory_order_relaxed);]])
faio_add_mutant(end_meeting_pin_that_fails_does_not_see_the_end MODEL meeting HEADER ${header}
  FIND [[seen + one_pin, std::memory_order_acquire]]
  REPLACE [[seen + one_pin, std::memory_order_relaxed]])
faio_add_mutant(end_meeting_unpin_without_release MODEL meeting HEADER ${header}
  FIND [[_keepers.fetch_sub(one_pin, std::memory_order_acq_rel)]]
  REPLACE [[_keepers.fetch_sub(one_pin, std::memory_order_acquire)]])
faio_add_mutant(end_meeting_unpin_without_acquire MODEL meeting HEADER ${header}
  FIND [[_keepers.fetch_sub(one_pin, std::memory_order_acq_rel)]]
  REPLACE [[_keepers.fetch_sub(one_pin, std::memory_order_release)]])
faio_add_mutant(end_meeting_handle_looked_for_relaxed MODEL meeting HEADER ${header}
  FIND [[(_keepers.load(std::memory_order_acquire) &]]
  REPLACE [[(_keepers.load(std::memory_order_relaxed) &]])
faio_add_mutant(end_meeting_alone_without_acquire MODEL meeting HEADER ${header}
  FIND [[std::uint32_t before = _keepers.load(std::memory_order_acquire);]]
  REPLACE [[std::uint32_t before = _keepers.load(std::memory_order_relaxed);]])
faio_add_mutant(end_meeting_end_believes_the_handle_gone MODEL meeting HEADER ${header}
  FIND [[if (!has_handle()) return]]
  REPLACE [[if (true) return]])

# ---- permits
set(header libs/sync/include/faio/sync/permits.hpp)

faio_add_mutant(permits_taken_relaxed MODEL permits HEADER ${header}
  FIND [[word - (count << 1), std::memory_order_acquire,]]
  REPLACE [[word - (count << 1), std::memory_order_relaxed,]])
faio_add_mutant(permits_given_relaxed MODEL permits HEADER ${header}
  FIND [[word + (count << 1), std::memory_order_release,]]
  REPLACE [[word + (count << 1), std::memory_order_relaxed,]])
faio_add_mutant(permits_taken_under_the_lock_relaxed MODEL permits HEADER ${header}
  FIND [[(I1). acquire, pairs with [G].
    const std::uint64_t word = _word.fetch_or(waiting, std::memory_order_acquire);]]
  REPLACE [[weakened.
    const std::uint64_t word = _word.fetch_or(waiting, std::memory_order_relaxed);]])
faio_add_mutant(permits_granted_relaxed MODEL permits HEADER ${header}
  FIND [[what it did is for those who are let in.
    const std::uint64_t word = _word.fetch_or(waiting, std::memory_order_acquire);]]
  REPLACE [[weakened.
    const std::uint64_t word = _word.fetch_or(waiting, std::memory_order_relaxed);]])
faio_add_mutant(permits_left_in_the_word_relaxed MODEL permits HEADER ${header}
  FIND [[(_line.empty() ? 0 : waiting), std::memory_order_release);]]
  REPLACE [[(_line.empty() ? 0 : waiting), std::memory_order_relaxed);]])
faio_add_mutant(permits_waiting_bit_set_after_the_look MODEL permits HEADER ${header}
  FIND [[(I1). acquire, pairs with [G].
    const std::uint64_t word = _word.fetch_or(waiting, std::memory_order_acquire);]]
  REPLACE [[too late.
    const std::uint64_t word = _word.load(std::memory_order_acquire);]]
  FIND2 [[    _line.push_back(who);]]
  REPLACE2 [[    _word.fetch_or(waiting, std::memory_order_acquire);
    _line.push_back(who);]])
faio_add_mutant(permits_taken_while_somebody_waits MODEL permits HEADER ${header}
  FIND [[while ((word & waiting) == 0 && (word >> 1) >= count) {]]
  REPLACE [[while ((word >> 1) >= count) {]])
faio_add_mutant(permits_cancel_forgets_those_behind MODEL permits HEADER ${header}
  FIND [[if (was_queued) left = grant(0, woken);]]
  REPLACE [[]])
faio_add_mutant(permits_cancel_before_the_line_is_forgotten MODEL permits HEADER ${header}
  FIND [[if (!was_queued && who.state() == wait_state::idle) who.set_state(wait_state::canceled);]]
  REPLACE [[]])
faio_add_mutant(permits_canceled_one_goes_into_the_line MODEL permits HEADER ${header}
  FIND [[if (who.state() == wait_state::canceled) return wait_state::canceled;]]
  REPLACE [[]])
faio_add_mutant(permits_left_over_given_under_the_lock MODEL permits HEADER ${header}
  FIND [[_line.empty() ? std::exchange(permits, 0) : 0;]]
  REPLACE [[0;]])

# ---- lock_core
set(header libs/sync/include/faio/sync/lock_core.hpp)

faio_add_mutant(lock_core_taken_relaxed MODEL lock_core HEADER ${header}
  FIND [[_word.fetch_or(locked, std::memory_order_acquire)]]
  REPLACE [[_word.fetch_or(locked, std::memory_order_relaxed)]])
faio_add_mutant(lock_core_given_relaxed MODEL lock_core HEADER ${header}
  FIND [[word & ~locked, std::memory_order_release,]]
  REPLACE [[word & ~locked, std::memory_order_relaxed,]])
faio_add_mutant(lock_core_called_one_takes_relaxed MODEL lock_core HEADER ${header}
  FIND [[(word, next, std::memory_order_acquire,]]
  REPLACE [[(word, next, std::memory_order_relaxed,]])
faio_add_mutant(lock_core_given_to_the_line_relaxed MODEL lock_core HEADER ${header}
  FIND [[(_line.empty() ? 0 : waiting), std::memory_order_release);]]
  REPLACE [[(_line.empty() ? 0 : waiting), std::memory_order_relaxed);]])
faio_add_mutant(lock_core_goes_into_the_line_unseen MODEL lock_core HEADER ${header}
  FIND [[if (take_or(locked | waiting, 0, waiting)) {]]
  REPLACE [[if (take_or(locked, 0, 0)) {]])
faio_add_mutant(lock_core_comes_back_unseen MODEL lock_core HEADER ${header}
  FIND [[take_or(called | waiting, called, gives_up ? 0 : waiting)]]
  REPLACE [[take_or(called | waiting, called, 0)]])
faio_add_mutant(lock_core_stays_called MODEL lock_core HEADER ${header}
  FIND [[take_or(called | waiting, called, gives_up ? 0 : waiting)]]
  REPLACE [[take_or(called | waiting, 0, gives_up ? 0 : waiting)]])
faio_add_mutant(lock_core_gives_up_and_says_it_waits MODEL lock_core HEADER ${header}
  FIND [[take_or(called | waiting, called, gives_up ? 0 : waiting)]]
  REPLACE [[take_or(called | waiting, called, waiting)]])
faio_add_mutant(lock_core_held_and_waiting_in_two_steps MODEL lock_core HEADER ${header}
  FIND [[      const std::uint32_t next = (word & ~gone)]]
  REPLACE [[      if (!is_free) {
        _word.fetch_and(~gone, std::memory_order_acquire);
        _word.fetch_or(mark, std::memory_order_acquire);
        return false;
      }
      const std::uint32_t next = (word & ~gone)]])
faio_add_mutant(lock_core_handed_over_and_free MODEL lock_core HEADER ${header}
  FIND [[      waiter* const next = static_cast<waiter*>(_line.pop_front());]]
  REPLACE [[      waiter* const next = static_cast<waiter*>(_line.pop_front());
      _word.fetch_and(~locked, std::memory_order_release);]])
faio_add_mutant(lock_core_never_handed_over MODEL lock_core HEADER ${header}
  FIND [[if (_to_hand_over.read() != 0) {]]
  REPLACE [[if (false) {]])
faio_add_mutant(lock_core_hands_over_for_ever MODEL lock_core HEADER ${header}
  FIND [[      --_to_hand_over.write();]]
  REPLACE [[]])
faio_add_mutant(lock_core_gives_way_unseen MODEL lock_core HEADER ${header}
  FIND [[    _word.fetch_or(waiting, std::memory_order_relaxed);]]
  REPLACE [[]])
faio_add_mutant(lock_core_gives_way_to_nobody MODEL lock_core HEADER ${header}
  FIND [[if (_line.empty() && (_word.load(std::memory_order_relaxed) & called) == 0) return false;]]
  REPLACE [[]])
faio_add_mutant(lock_core_gives_way_although_canceled MODEL lock_core HEADER ${header}
  FIND [[if (who.state() == wait_state::canceled) return false;]]
  REPLACE [[]])
faio_add_mutant(lock_core_end_forgets_those_behind MODEL lock_core HEADER ${header}
  FIND [[while (_line.empty() || (word & locked) != 0) {]]
  REPLACE [[for (;;) {]])
faio_add_mutant(lock_core_end_stays_called MODEL lock_core HEADER ${header}
  FIND [[(word, word & ~called, std::memory_order_relaxed)]]
  REPLACE [[(word, word, std::memory_order_relaxed)]])
faio_add_mutant(lock_core_cancel_of_a_called_one_is_forgotten MODEL lock_core HEADER ${header}
  FIND [[if (who.state() == wait_state::called) who._gives_up.write() = true;]]
  REPLACE [[]])
faio_add_mutant(lock_core_cancel_before_the_line_is_forgotten MODEL lock_core HEADER ${header}
  FIND [[if (who.state() == wait_state::idle) who.set_state(wait_state::canceled);]]
  REPLACE [[]])
faio_add_mutant(lock_core_canceled_one_goes_into_the_line MODEL lock_core HEADER ${header}
  FIND [[if (who.state() == wait_state::canceled) return wait_state::canceled;]]
  REPLACE [[]])
faio_add_mutant(lock_core_empty_line_still_waits MODEL lock_core HEADER ${header}
  FIND [[if (_line.empty()) _word.fetch_and(~waiting, std::memory_order_relaxed);]]
  REPLACE [[]])
faio_add_mutant(lock_core_given_under_the_mutex MODEL lock_core HEADER ${header}
  FIND [[        next = give_to_the_line();]]
  REPLACE [[        next = give_to_the_line();
        if (next.called == nullptr && next.granted == nullptr && try_give()) return;]])
faio_add_mutant(lock_core_wakes_a_second_one MODEL lock_core HEADER ${header}
  FIND [[if ((word & waiting) != 0 && (word & called) == 0) return false;]]
  REPLACE [[if ((word & waiting) != 0) return false;]])
faio_add_mutant(lock_core_guesses_without_holding_it MODEL lock_core HEADER ${header}
  FIND [[        return true;
      }
      if ((word & waiting)]]
  REPLACE [[        _guess.write() = word;
        return true;
      }
      if ((word & waiting)]])

faio_add_mutant(lock_core_joins_an_empty_line_unseen MODEL lock_core HEADER ${header}
  FIND [[return !_line.empty() && (_word.load(std::memory_order_relaxed) & called) == 0;]]
  REPLACE [[return (_word.load(std::memory_order_relaxed) & called) == 0;]])
faio_add_mutant(lock_core_called_one_guesses_that_others_wait MODEL lock_core HEADER ${header}
  FIND [[    _guess.write() = locked;
    waiter* const next]]
  REPLACE [[    _guess.write() = others_wait;
    waiter* const next]])

# ---- stop_list
set(header libs/context/include/faio/context/stop_list.hpp)

faio_add_mutant(stop_list_remove_does_not_wait MODEL stop HEADER ${header}
  FIND [[!was_in && one._state.load(std::memory_order_acquire) != listener::told;]]
  REPLACE [[false;]])
faio_add_mutant(stop_list_told_relaxed MODEL stop HEADER ${header}
  FIND [[one._state.store(listener::told, std::memory_order_release);]]
  REPLACE [[one._state.store(listener::told, std::memory_order_relaxed);]])
faio_add_mutant(stop_list_remove_waits_relaxed MODEL stop HEADER ${header}
  FIND [[one._state.load(std::memory_order_acquire) != listener::told]]
  REPLACE [[one._state.load(std::memory_order_relaxed) != listener::told]])
faio_add_mutant(stop_list_adds_to_one_that_is_asked MODEL stop HEADER ${header}
  FIND [[    if ((word & asked) == 0) {
      one._state]]
  REPLACE [[    if (true) {
      one._state]])
faio_add_mutant(stop_list_unlocks_relaxed MODEL stop HEADER ${header}
  FIND [[_word.store(word, std::memory_order_release);]]
  REPLACE [[_word.store(word, std::memory_order_relaxed);]])
faio_add_mutant(stop_list_locks_relaxed MODEL stop HEADER ${header}
  FIND [[_word.compare_exchange_weak(word, word | locked, std::memory_order_acquire, std::memory_order_relaxed)]]
  REPLACE [[_word.compare_exchange_weak(word, word | locked, std::memory_order_relaxed, std::memory_order_relaxed)]])
faio_add_mutant(stop_list_looks_relaxed MODEL stop HEADER ${header}
  FIND [[return _word.load(std::memory_order_acquire);]]
  REPLACE [[return _word.load(std::memory_order_relaxed);]])
faio_add_mutant(stop_list_link_comes_too_late MODEL stop HEADER ${header}
  FIND [[if (!above.add(me)) word |= asked;]]
  REPLACE [[(void)above.add(me);]])
faio_add_mutant(stop_list_linked_twice MODEL stop HEADER ${header}
  FIND [[    if ((word & linked) == 0) {
      word]]
  REPLACE [[    if (true) {
      word]])
faio_add_mutant(stop_list_both_tell MODEL stop HEADER ${header}
  FIND [[    unlock(word | asked);
    return (word & asked) == 0;]]
  REPLACE [[    unlock(word | asked);
    return true;]])
faio_add_mutant(stop_list_takes_and_leaves_it_in MODEL stop HEADER ${header}
  FIND [[      one->_state.store(listener::telling, std::memory_order_relaxed);  // relaxed: others look under the lock
]]
  REPLACE [[]])

# ---- biased_lock
set(header libs/sync/include/faio/sync/biased_lock.hpp)

faio_add_mutant(biased_lock_owner_does_not_look_again MODEL biased_lock HEADER ${header}
  FIND [=[    Policy::light_barrier();
    if (_owner.load(std::memory_order_relaxed) == owner) [[likely]] {]=]
  REPLACE [[    Policy::light_barrier();
    {]])
faio_add_mutant(biased_lock_without_the_heavy_barrier MODEL biased_lock HEADER ${header}
  FIND [[    Policy::heavy_barrier();]]
  REPLACE [[]])
faio_add_mutant(biased_lock_does_not_wait_for_the_owner MODEL biased_lock HEADER ${header}
  FIND [[    for (int turn = 0; whose.inside.load(std::memory_order_acquire); ++turn) Policy::pause(turn > long_since);]]
  REPLACE [[    (void)long_since, (void)whose;]])
faio_add_mutant(biased_lock_waits_relaxed MODEL biased_lock HEADER ${header}
  FIND [[whose.inside.load(std::memory_order_acquire)]]
  REPLACE [[whose.inside.load(std::memory_order_relaxed)]])
faio_add_mutant(biased_lock_owner_leaves_without_release MODEL biased_lock HEADER ${header}
  FIND [[inside.store(false, std::memory_order_release);]]
  REPLACE [[inside.store(false, std::memory_order_relaxed);]])
faio_add_mutant(biased_lock_ownership_is_not_ended MODEL biased_lock HEADER ${header}
  FIND [[if (_owner.load(std::memory_order_relaxed) != 0) end_ownership();]]
  REPLACE [[]])
faio_add_mutant(biased_lock_looks_before_it_says_so MODEL biased_lock HEADER ${header}
  FIND [[    _owner.store(0, std::memory_order_relaxed);
    Policy::heavy_barrier();]]
  REPLACE [[    Policy::heavy_barrier();]]
  FIND2 [[    _needed.write() = std::min(2 * _needed.read(), most_uses);]]
  REPLACE2 [[    _owner.store(0, std::memory_order_relaxed);]])
faio_add_mutant(biased_lock_one_place_for_all_owners MODEL biased_lock HEADER ${header}
  FIND [[      if (whose != nullptr && whose != me) continue;]]
  REPLACE [[      (void)whose;]])

# ---- channel_core
set(header libs/sync/include/faio/sync/channel_core.hpp)

faio_add_mutant(channel_cancel_without_the_lock MODEL channel HEADER ${header}
  FIND [[    const std::lock_guard lock(_mutex);
    if (_senders.front() != nullptr]]
  REPLACE [[    if (_senders.front() != nullptr]])
faio_add_mutant(channel_cancel_before_the_line_is_forgotten MODEL channel HEADER ${header}
  FIND [[if (who.state() == wait_state::idle) who.set_state(wait_state::canceled);]]
  REPLACE [[]])
faio_add_mutant(channel_canceled_one_goes_into_the_line MODEL channel HEADER ${header}
  FIND [[if (who.state() == wait_state::canceled) return channel_outcome::canceled;]]
  REPLACE [[]])
faio_add_mutant(channel_close_forgets_receivers MODEL channel HEADER ${header}
  FIND [[for (auto* line : {&_senders, &_receivers}) {]]
  REPLACE [[for (auto* line : {&_senders}) {]])
faio_add_mutant(channel_close_forgets_senders MODEL channel HEADER ${header}
  FIND [[for (auto* line : {&_senders, &_receivers}) {]]
  REPLACE [[for (auto* line : {&_receivers}) {]])
faio_add_mutant(channel_closed_before_it_is_drained MODEL channel HEADER ${header}
  FIND [[    if (const std::size_t size = length(); size != 0) {]]
  REPLACE [[    if (is_closed()) return channel_outcome::closed;
    if (const std::size_t size = length(); size != 0) {]])
faio_add_mutant(channel_room_is_not_told_to_senders MODEL channel HEADER ${header}
  FIND [[    sender = static_cast<waiter*>(_senders.pop_front());]]
  REPLACE [[    if (!place) sender = static_cast<waiter*>(_senders.pop_front());]])
faio_add_mutant(channel_looks_for_a_receiver_before_the_lock MODEL channel HEADER ${header}
  FIND [[      const holder lock(_mutex, me...);
      const auto came = pass_on(*who.value.write(), receiver);
      if (came == channel_outcome::would_wait) return into(_senders, who);]]
  REPLACE [[      channel_outcome came;
      { const std::lock_guard lock(_mutex); came = pass_on(*who.value.write(), receiver); }
      const std::lock_guard lock(_mutex);
      if (came == channel_outcome::would_wait) return into(_senders, who);]])

faio_add_mutant(channel_short_way_passes_a_receiver MODEL channel HEADER ${header}
  FIND [[if (!_receivers.empty() || is_closed())]]
  REPLACE [[if (is_closed())]])
faio_add_mutant(channel_short_way_sends_although_closed MODEL channel HEADER ${header}
  FIND [[if (!_receivers.empty() || is_closed())]]
  REPLACE [[if (!_receivers.empty())]])
faio_add_mutant(channel_short_way_overfills MODEL channel HEADER ${header}
  FIND [[const bool has_room = size < _capacity;]]
  REPLACE [[const bool has_room = _capacity != 0 && size <= _capacity;]])
faio_add_mutant(channel_short_way_passes_a_sender MODEL channel HEADER ${header}
  FIND [=[    if (!_senders.empty()) [[unlikely]]]=]
  REPLACE [[    if (length() == 0 && !_senders.empty())]])
faio_add_mutant(channel_short_way_waits_although_closed MODEL channel HEADER ${header}
  FIND [[!_senders.empty() || is_closed() || who.state() == wait_state::canceled)]]
  REPLACE [[!_senders.empty() || who.state() == wait_state::canceled)]])
faio_add_mutant(channel_short_way_waits_although_canceled MODEL channel HEADER ${header}
  FIND [[!_senders.empty() || is_closed() || who.state() == wait_state::canceled)]]
  REPLACE [[!_senders.empty() || is_closed())]])
faio_add_mutant(channel_short_way_waits_beside_a_value MODEL channel HEADER ${header}
  FIND [[if (length() != 0 || !_senders.empty() || is_closed()]]
  REPLACE [[if (!_senders.empty() || is_closed()]])
faio_add_mutant(channel_short_way_waits_beside_a_sender MODEL channel HEADER ${header}
  FIND [[if (length() != 0 || !_senders.empty() || is_closed()]]
  REPLACE [[if (length() != 0 || is_closed()]])

# ---- oneshot_core
set(header libs/sync/include/faio/sync/oneshot_core.hpp)

faio_add_mutant(oneshot_leaves_before_the_unlock MODEL oneshot HEADER ${header}
  FIND [[    const bool last = word < one_end;]]
  REPLACE [[    _word.store(word | locked, std::memory_order_release);
    const bool last = word < one_end;]])
faio_add_mutant(oneshot_alone_without_acquire MODEL oneshot HEADER ${header}
  FIND [[if (_word.load(std::memory_order_acquire) < 2 * one_end)]]
  REPLACE [[if (_word.load(std::memory_order_relaxed) < 2 * one_end)]])
faio_add_mutant(oneshot_alone_too_early MODEL oneshot HEADER ${header}
  FIND [[if (_word.load(std::memory_order_acquire) < 2 * one_end)]]
  REPLACE [[if (_word.load(std::memory_order_acquire) < 3 * one_end)]])
faio_add_mutant(oneshot_locked_relaxed MODEL oneshot HEADER ${header}
  FIND [[word | locked, std::memory_order_acquire,]]
  REPLACE [[word | locked, std::memory_order_relaxed,]])
faio_add_mutant(oneshot_unlocked_relaxed MODEL oneshot HEADER ${header}
  FIND [[_word.store(word, std::memory_order_release);]]
  REPLACE [[_word.store(word, std::memory_order_relaxed);]])
faio_add_mutant(oneshot_lock_is_not_looked_at MODEL oneshot HEADER ${header}
  FIND [[if ((word & locked) == 0 &&]]
  REPLACE [[if (]])
faio_add_mutant(oneshot_sent_twice MODEL oneshot HEADER ${header}
  FIND [[const bool can = (word & (sent | closed)) == 0;]]
  REPLACE [[const bool can = (word & closed) == 0;]])
faio_add_mutant(oneshot_sent_although_closed MODEL oneshot HEADER ${header}
  FIND [[const bool can = (word & (sent | closed)) == 0;]]
  REPLACE [[const bool can = (word & sent) == 0;]]
  FIND2 [[      word &= ~full;
      return oneshot_outcome::done;]]
  REPLACE2 [[      word &= ~full;
      return (word & closed) != 0 ? oneshot_outcome::closed : oneshot_outcome::done;]])
faio_add_mutant(oneshot_refused_sender_stays MODEL oneshot HEADER ${header}
  FIND [[      unlock(word);
      return {.sent = false, .last = last};]]
  REPLACE [[      unlock(word + leaving);
      return {.sent = false, .last = false};]])
faio_add_mutant(oneshot_full_although_somebody_got_it MODEL oneshot HEADER ${header}
  FIND [[      unlock(word | sent);
      first->wake();
    } else {]]
  REPLACE [[      unlock(word | sent | full);
      first->wake();
    } else {]])
faio_add_mutant(oneshot_others_are_not_told MODEL oneshot HEADER ${header}
  FIND [=[    } else if (_line.empty()) [[likely]] {]=]
  REPLACE [[    } else if (true) {]])
faio_add_mutant(oneshot_received_twice MODEL oneshot HEADER ${header}
  FIND [[      word &= ~full;]]
  REPLACE [[]])
faio_add_mutant(oneshot_waits_for_nothing MODEL oneshot HEADER ${header}
  FIND [[return (word & (sent | closed)) != 0 ? oneshot_outcome::closed]]
  REPLACE [[return (word & sent) != 0 ? oneshot_outcome::closed]])
faio_add_mutant(oneshot_close_forgets_those_in_line MODEL oneshot HEADER ${header}
  FIND [[    tell_that_nothing_comes(all);]]
  REPLACE [[]])
faio_add_mutant(oneshot_told_nothing MODEL oneshot HEADER ${header}
  FIND [[      one->closed.write() = true;]]
  REPLACE [[]])
faio_add_mutant(oneshot_cancel_before_the_line_is_forgotten MODEL oneshot HEADER ${header}
  FIND [[if (!was_queued && who.state() == wait_state::idle) who.set_state(wait_state::canceled);]]
  REPLACE [[]])
faio_add_mutant(oneshot_canceled_one_goes_into_the_line MODEL oneshot HEADER ${header}
  FIND [[if (who.state() == wait_state::canceled) {]]
  REPLACE [[if (false) {]])

# ---- wait_list
set(header libs/sync/include/faio/sync/wait_list.hpp)

faio_add_mutant(wait_list_granted_one_can_still_be_canceled MODEL channel HEADER ${header}
  FIND [[      one->set_state(now);]]
  REPLACE [[]])
faio_add_mutant(wait_list_touched_after_the_wake MODEL permits HEADER ${header}
  FIND [[      unlink(*one);
      one->wake();]]
  REPLACE [[      one->wake();
      unlink(*one);]])
