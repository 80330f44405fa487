// libuv -- after a while, a calculation on another thread; then a file is read.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <uv.h>

static uv_timer_t timer;
static uv_work_t work;
static uv_fs_t opening, reading, closing;
static uint64_t sum;
static char room[64];
static ssize_t count = -1;

static void on_read(uv_fs_t* request) {
  count = request->result;
  uv_fs_req_cleanup(request);
  uv_fs_close(uv_default_loop(), &closing, (uv_file)opening.result, NULL);
}

static void on_open(uv_fs_t* request) {
  uv_fs_req_cleanup(request);
  if (request->result < 0) return;
  uv_buf_t buffer = uv_buf_init(room, sizeof room);
  uv_fs_read(uv_default_loop(), &reading, (uv_file)request->result, &buffer, 1, 0, on_read);
}

static void calculate(uv_work_t* request) {  // on a thread of the pool
  (void)request;
  for (uint64_t i = 0; i < 1000000; ++i) sum += i;
}

static void on_calculated(uv_work_t* request, int status) {
  (void)request;
  if (status == 0) uv_fs_open(uv_default_loop(), &opening, "/proc/version", O_RDONLY, 0, on_open);
}

static void on_timer(uv_timer_t* handle) {
  uv_close((uv_handle_t*)handle, NULL);
  uv_queue_work(uv_default_loop(), &work, calculate, on_calculated);
}

int main(void) {
  uv_timer_init(uv_default_loop(), &timer);
  uv_timer_start(&timer, on_timer, 5, 0);
  uv_run(uv_default_loop(), UV_RUN_DEFAULT);
  printf("%llu, read: %s\n", (unsigned long long)sum, count > 0 ? "yes" : "no");
  return sum == 499999500000 && count > 0 ? 0 : 1;
}
