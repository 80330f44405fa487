// statemachine_pool -- a pool of threads of one's own: they sleep when there is nothing to do, and no job is left lying.
#include <atomic>
#include <cstdio>
#include <faio/queue/global_queue.hpp>
#include <faio/statemachine/state_machine.hpp>
#include <functional>
#include <memory>
#include <semaphore>
#include <thread>
#include <vector>

class pool {
 public:
  using job = std::function<void()>;

  explicit pool(std::size_t count) : _machine(count), _beds(count) {
    for (std::size_t id = 0; id < count; ++id) _threads.emplace_back([this, id] { work(id); });
  }
  ~pool() {  // runs what is there, then ends
    _closing = true;
    for (bed& each : _beds) each.bell.release();
    _threads.clear();  // joins
  }
  void post(job what) {
    auto made = std::make_unique<job>(std::move(what));
    if (_jobs.push(made.get())) (void)made.release();
    wake_one();  // after it was published, never before
  }

 private:
  struct bed {
    std::counting_semaphore<> bell{0};
  };
  void wake_one() {
    if (auto id = _machine.worker_to_notify()) _beds[*id].bell.release();
  }
  void work(std::size_t id) {
    for (bool searching = false;;) {
      searching = searching || _machine.set_searching();
      auto taken = _jobs.try_pop();
      bool alone = false;
      if (!taken) {
        alone = _machine.set_sleeping(id, searching).look_again;
        if (alone) taken = _jobs.try_pop();  // once more: nobody else would look
        if (!taken && !_closing) _beds[id].bell.acquire();
        searching = !_machine.cancel_sleeping(id);
      }
      if (!taken) {
        if (_closing && _jobs.empty()) return;
        continue;
      }
      if (searching ? _machine.cancel_searching() : alone) wake_one();  // for the jobs that we did not take
      searching = false;
      const std::unique_ptr<job> mine(*taken);
      (*mine)();
    }
  }

  faio::queue::global_queue<job*> _jobs;
  faio::statemachine::state_machine _machine;
  std::vector<bed> _beds;
  std::atomic<bool> _closing{false};
  std::vector<std::jthread> _threads;
};

int main() {
  std::atomic<int> done{0};
  {
    pool threads(3);
    for (int i = 0; i < 1000; ++i) threads.post([&] { ++done; });
  }
  std::printf("%d jobs done\n", done.load());
  return done == 1000 ? 0 : 1;
}
