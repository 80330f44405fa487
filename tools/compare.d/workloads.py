# workloads -- the one table of what is compared: each row's command, its contenders, its unit, which way is better, and its bars.
import dataclasses

from statistics_of import Bar


@dataclasses.dataclass(frozen=True)
class Contender:
    name: str
    program: str            # an executable of programs.py
    options: tuple[str, ...] = ()
    slow: bool = False      # left out by --quick


@dataclasses.dataclass(frozen=True)
class Figure:
    """One number that a run gives, and the bars it is held to."""
    key: str                # in the program's answer
    title: str
    unit: str
    bars: tuple[Bar, ...] = ()
    scale: float = 1
    smaller_is_better: bool = True
    chart: bool = True


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    what: str
    kind: str               # "run": a process a round; "serve": wrk against a responder; "one_computes": the load client
    contenders: tuple[Contender, ...]
    figures: tuple[Figure, ...]
    command: str = ""
    options: tuple[str, ...] = ()
    quick: tuple[str, ...] = ()   # instead of options
    rounds: int = 0               # at most so many, with --quick one; 0: as many as asked for
    slices: int = 1               # runs of each contender in a round, each time in another order; with --quick one
    group: str = ""


FAIO = Contender("faio", "faio")
TOKIO = Contender("tokio", "tokio")
GO = Contender("Go", "go")
TBB = Contender("TBB", "tbb")

MIB = 1 / 1024  # of KiB


#: The same program differs by a third from one second to the next: what is quick is run several times in each round.
SLICES = 3


def fork_join(name: str, what: str, size: str, quick: str, limit: float) -> Row:
    lifo, fifo = ("discipline=lifo",), ("discipline=fifo",)
    return Row(
        name, what, "run", slices=SLICES, group="fork-join", command=name, options=(size,), quick=(quick,),
        contenders=(Contender("faio", "faio", lifo), Contender("faio g++", "faio_gcc", lifo), Contender("faio fifo", "faio", fifo), TBB),
        figures=(
            Figure("seconds", "time", "ms", scale=1e3,
                   bars=(Bar(limit, against=("TBB",)), Bar(1.3, against=("faio",), of="faio g++"))),
            Figure("cpu_seconds", "CPU time of both workers", "ms", scale=1e3, chart=False),
            Figure("peak_kib", "peak memory", "MiB", scale=MIB, chart=False,
                   bars=(Bar(8), Bar(8, of="faio g++"), Bar(10, against=("faio",), of="faio fifo"))),
        ))


def micro(name: str, what: str, command: str, options: tuple[str, ...], quick: tuple[str, ...], contenders=(FAIO, TOKIO, GO),
          bars=(Bar(0.5, against=("tokio", "Go")),)) -> Row:
    return Row(name, what, "run", slices=SLICES, group="tasks and messages", command=command, options=options, quick=quick, contenders=contenders,
               figures=(Figure("ns_per_op", "time an operation", "ns", bars=bars),
                        Figure("cpu_ns_per_op", "CPU time an operation", "ns", chart=False)))


RESPONDERS = (
    FAIO,
    Contender("faio, not ahead", "faio", ("ahead=0",)),
    Contender("liburing", "liburing"),
    Contender("liburing multishot", "liburing", ("multishot=1",)),
    TOKIO,
    Contender("Asio epoll", "asio_epoll"),
    Contender("Asio io_uring", "asio_uring"),
    Contender("libuv", "libuv"),
    GO,
)


def responder(connections: int, tokio: float) -> Row:
    return Row(
        f"responder-{connections}", f"TCP, {connections} connections by wrk, a 52-byte reply to each request", "serve",
        slices=SLICES,
        group="servers", command="responder", options=(f"connections={connections}",), contenders=RESPONDERS,
        figures=(
            Figure("per_cpu_second", "requests per server-CPU-second", "thousand", smaller_is_better=False, scale=1e-3,
                   bars=(Bar(0.95, at_most=False, against=("liburing", "liburing multishot")),
                         Bar(tokio, at_most=False, against=("tokio",)),
                         Bar(1.3, at_most=False, against=("Asio epoll", "Asio io_uring")))),
            Figure("p99_ms", "p99", "ms", bars=(Bar(1, against=("tokio",)),)),
        ))


def growth(name: str, what: str, command: str, sizes: tuple[int, ...], most: int) -> Row:
    """Time for each of few and of many: as many runs of the small ones as make up `most`. By the clock it must not grow; by CPU time it is flat. (By the
    clock few are dearer: to wake the second worker takes as long as thousands of tasks.)"""
    contenders = tuple(Contender(f"{n:,}", "faio", (f"n={n}", f"times={max(1, most // n)}"), slow=n > most) for n in sizes)
    first = contenders[0].name

    def bars(*limits: tuple[float, bool]) -> tuple[Bar, ...]:
        return tuple(Bar(limit, at_most=at_most, against=(first,), of=each.name) for each in contenders[1:] for limit, at_most in limits)

    return Row(name, what, "run", slices=SLICES, group="growth", command=command, contenders=contenders,
               figures=(Figure("ns_per_op", "time a task", "ns", bars=bars((1.2, True))),
                        Figure("cpu_ns_per_op", "CPU time a task", "ns", bars=bars((1.2, True), (0.8, False)))))


def workers(name: str, what: str, command: str, options: tuple[str, ...], quick: tuple[str, ...]) -> Row:
    counts = (1, 2, 4, 8, 16, 64)
    contenders = tuple(Contender(f"{n} workers", "faio", (f"workers={n}",)) for n in counts)

    def bars(wanted: tuple[int, ...]) -> tuple[Bar, ...]:
        return tuple(Bar(round(1 / 0.7, 3), against=("2 workers",), of=f"{n} workers") for n in wanted)

    # One worker has one of the two processors, so for it the CPU time counts.
    return Row(name, what, "run", slices=SLICES, group="growth", command=command, options=options, quick=quick, contenders=contenders,
               figures=(Figure("ns_per_op", "time an operation", "ns", bars=bars(counts[2:])),
                        Figure("cpu_ns_per_op", "CPU time an operation", "ns", bars=bars(counts[:1]))))


ROWS = (
    fork_join("fib", "fib(36) by co_await when_all(fib(n-1), fib(n-2))", "n=36", "n=33", 0.28),
    fork_join("skynet", "skynet, 10^7 leaves by when_all(std::vector<task>)", "n=10000000", "n=1000000", 0.42),
    fork_join("nqueens", "nqueens(13), a task for each place that fits", "n=13", "n=12", 0.62),
    responder(64, 1.0),
    responder(512, 1.08),
    Row("one-computes", "8 connections, one asks for 1 ms of computing a request: the others", "one_computes",
        group="servers", command="responder",
        contenders=(FAIO, Contender("faio compute", "faio", ("compute=workers",)), TOKIO, Contender("liburing", "liburing"),
                    Contender("Asio epoll", "asio_epoll"), GO),
        figures=(Figure("p99_us", "p99 of the others", "us"), Figure("p99_without_us", "p99 without it", "us"),
                 Figure("times", "p99, times that without it", "x", bars=(Bar(2), Bar(2, of="faio compute"))))),
    micro("spawn-await", "spawn 10^6 from a task and await all", "spawn_await", ("n=1000000",), ("n=200000",)),
    micro("yield", "one task yields 10^6 times", "yield", ("n=1000000",), ("n=200000",)),
    micro("ping-pong", "a round trip over two channels of capacity 1", "ping_pong", ("n=500000",), ("n=100000",)),
    micro("ask", "a request through a channel, the answer through an oneshot", "ask", ("n=500000",), ("n=100000",)),
    micro("chain", "each task spawns the next, 10^6 of them", "chain", ("n=1000000",), ("n=200000",)),
    micro("channel-4-1", "bounded channel, capacity 128, 4 producers, 1 consumer", "channel", ("n=1000000",), ("n=200000",)),
    micro("channel-1-1", "channel of capacity 128, one to one", "channel", ("producers=1", "n=5000000"), ("producers=1", "n=1000000"),
          bars=(Bar(20),)),
    micro("mutex", "8 tasks lock, count, unlock", "mutex", ("n=1000000",), ("n=200000",)),
    micro("mutex-yield", "the same, held across a yield", "mutex", ("n=1000000", "across_yield=1"), ("n=200000", "across_yield=1")),
    micro("inject", "spawn 10^6 from a thread that is no worker, and wait for all", "inject", ("n=1000000",), ("n=200000",),
          contenders=(FAIO, TOKIO), bars=(Bar(0.5, against=("tokio",)),)),
    Row("wake", "a thread wakes a task of a runtime that sleeps", "run", group="time and memory", command="wake", options=("n=2000",),
        quick=("n=500",), contenders=(FAIO, TOKIO, GO),
        figures=(Figure("p50_us", "p50", "us", bars=(Bar(1, against=("tokio",)),)),
                 Figure("p99_us", "p99", "us", bars=(Bar(1, against=("tokio",)),)))),
    Row("sleeps", "10^5 sleeps of 1 to 100 ms", "run", group="time and memory", command="sleeps", options=("n=100000",),
        contenders=(FAIO, TOKIO, GO),
        figures=(Figure("latest_ms", "the latest is late by", "ms", bars=(Bar(5),)),
                 Figure("seconds", "wall", "ms", scale=1e3, bars=(Bar(1, against=("tokio",)),)))),
    Row("file-reads", "cached reads of 4 KiB at random, 32 under way", "run", slices=SLICES, group="files", command="file_reads",
        options=("n=200000", "path={data}"), quick=("n=100000", "path={data}"),
        contenders=(FAIO, Contender("liburing", "liburing"), TOKIO, GO),
        figures=(Figure("per_second", "reads a second", "thousand", smaller_is_better=False, scale=1e-3,
                        bars=(Bar(0.95, at_most=False, against=("liburing",)), Bar(3, at_most=False, against=("tokio",)))),)),
    Row("idle", "CPU time of 3 s without work, 2 workers", "run", group="time and memory", command="idle", options=("ms=3000", "workers=2"),
        rounds=2, contenders=(FAIO, TOKIO, GO, TBB), figures=(Figure("cpu_seconds", "CPU", "s", bars=(Bar(0.005),)),)),
    Row("idle-64", "the same with 64 workers", "run", group="time and memory", command="idle", options=("ms=3000", "workers=64"),
        rounds=2, contenders=(FAIO, TOKIO, GO), figures=(Figure("cpu_seconds", "CPU", "s", bars=(Bar(0.005),)),)),
    Row("sleepers", "10^6 sleeping tasks, all included", "run", group="time and memory", command="sleepers", options=("n=1000000",),
        rounds=2, contenders=(FAIO, TOKIO, GO), figures=(Figure("bytes_each", "bytes each", "B", bars=(Bar(400),)),)),
    growth("growth-skynet", "a tree of 10^4 to 10^7 tasks", "skynet", (10_000, 100_000, 1_000_000, 10_000_000), 10_000_000),
    growth("growth-spawn", "10^4 to 10^7 tasks spawned and awaited", "spawn_await", (10_000, 100_000, 1_000_000, 10_000_000), 1_000_000),
    workers("workers-skynet", "skynet with 1 to 64 workers on the processors there are", "skynet", ("n=1000000", "times=3"),
            ("n=1000000",)),
    workers("workers-spawn", "spawn and await with 1 to 64 workers", "spawn_await", ("n=100000", "times=5"), ("n=100000",)),
)
