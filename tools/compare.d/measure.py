# measure -- runs the rows' contenders in rounds, in random order within each round, and collects what they answer.
import json
import pathlib
import random
import re
import subprocess
import time

from programs import Programs
from workloads import Contender, Row

Results = dict[tuple[str, str, str], list[float]]  # (row, contender, figure) -> a value a round
TIME_LIMIT = 120


class Failed(Exception):
    """A run went wrong: the sentence says which."""


def answer_of(command: list[str]) -> dict[str, float]:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT)
    except subprocess.TimeoutExpired:
        raise Failed(f"{' '.join(command)} did not end within {TIME_LIMIT} s") from None
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()}")
    return json.loads(done.stdout.splitlines()[-1])


def options_of(row: Row, contender: Contender, quick: bool, data: str) -> list[str]:
    of_row = row.quick if quick and row.quick else row.options
    return [each.replace("{data}", data) for each in (*of_row, *contender.options)]


def derive(answer: dict[str, float]) -> dict[str, float]:
    """Figures that follow from others."""
    if "seconds" in answer and "operations" in answer and answer["seconds"] > 0:
        answer["per_second"] = answer["operations"] / answer["seconds"]
        answer["cpu_ns_per_op"] = answer["cpu_seconds"] * 1e9 / answer["operations"]
    return answer


class Server:
    """A responder: started once, alive for the whole run."""

    def __init__(self, program: pathlib.Path, options: tuple[str, ...]):
        self.process = subprocess.Popen([str(program), "responder", *options], stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        said = self.process.stdout.readline()
        if not said:
            raise Failed(f"{program.name} responder did not start")
        self.port = int(json.loads(said)["port"])

    def cpu_seconds(self) -> float:
        """User and system time of all its threads, as /proc/<pid>/stat has it, but to the nanosecond: clock_getcpuclockid(3)."""
        return time.clock_gettime((~self.process.pid << 3) | 2)

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


def milliseconds(text: str) -> float:
    """What wrk prints: 950.00us, 1.25ms, 1.02s."""
    match = re.fullmatch(r"([0-9.]+)(us|ms|s|m)", text)
    if match is None:
        raise Failed(f"wrk said {text}")
    return float(match[1]) * {"us": 1e-3, "ms": 1, "s": 1e3, "m": 6e4}[match[2]]


def wrk_answer(said: str) -> tuple[float, float]:
    """Requests, and p99 in ms."""
    requests = re.search(r"([0-9]+) requests in", said)
    p99 = re.search(r"^\s+99%\s+(\S+)", said, re.MULTILINE)
    if requests is None or p99 is None or "Non-2xx" in said:
        raise Failed(f"wrk said: {said}")
    return float(requests[1]), milliseconds(p99[1])


class Runner:
    def __init__(self, made: Programs, data: str, quick: bool, say=print):
        self.made, self.data, self.quick, self.say = made, data, quick, say
        self.servers: dict[tuple, Server] = {}
        self.results: Results = {}
        self.skipped: dict[tuple[str, str], str] = {}  # (row, contender) -> why

    def plan(self, rows: list[Row]) -> list[tuple[Row, Contender]]:
        """What can be run; the rest is skipped by name."""
        jobs = []
        for row in rows:
            tool = {"serve": "wrk", "one_computes": "load"}.get(row.kind)
            for contender in row.contenders:
                needs = [contender.program] + ([tool] if tool else [])
                why = next((self.made.missing[need] for need in needs if need in self.made.missing), None)
                if why is None and self.quick and contender.slow:
                    why = "left out by --quick"
                if why is None:
                    jobs.append((row, contender))
                else:
                    self.skipped[row.name, contender.name] = why
        return jobs

    def run(self, rows: list[Row], rounds: int, seed: int) -> None:
        jobs = self.plan(rows)
        dice = random.Random(seed)
        try:
            for number in range(rounds):
                self.say(f"compare: round {number + 1} of {rounds}")
                now = [job for job in jobs if number < self.rounds_of(job[0], rounds)]
                # Row by row, so that the contenders of one row see the same weather; in random order within it.
                for row in dict.fromkeys(row for row, _ in now):
                    contenders = [contender for its, contender in now if its is row]
                    for _ in range(1 if self.quick else row.slices):
                        dice.shuffle(contenders)
                        for contender in contenders:
                            self.one(row, contender)
        finally:
            for server in self.servers.values():
                server.end()

    def rounds_of(self, row: Row, asked: int) -> int:
        most = 1 if self.quick and row.rounds else row.rounds
        return min(asked, most) if most else asked

    def one(self, row: Row, contender: Contender) -> None:
        if (row.name, contender.name) in self.skipped:
            return
        try:
            answer = {"run": self.process, "serve": self.serve, "one_computes": self.one_computes}[row.kind](row, contender)
        except Failed as failed:
            self.skipped[row.name, contender.name] = str(failed)
            for figure in row.figures:  # rounds that went well do not make up for one that did not
                self.results.pop((row.name, contender.name, figure.key), None)
            self.say(f"compare: {row.name}, {contender.name}: {failed}")
            return
        for figure in row.figures:
            if figure.key in answer:
                self.results.setdefault((row.name, contender.name, figure.key), []).append(answer[figure.key] * figure.scale)

    def process(self, row: Row, contender: Contender) -> dict[str, float]:
        program = self.made.paths[contender.program]
        return derive(answer_of([str(program), row.command, *options_of(row, contender, self.quick, self.data)]))

    def server(self, contender: Contender) -> Server:
        key = (contender.program, contender.options)
        if key not in self.servers:
            self.servers[key] = Server(self.made.paths[contender.program], contender.options)
        return self.servers[key]

    def serve(self, row: Row, contender: Contender) -> dict[str, float]:
        connections = next(each.partition("=")[2] for each in row.options if each.startswith("connections="))
        server = self.server(contender)
        before = server.cpu_seconds()
        command = [str(self.made.paths["wrk"]), "-t1", f"-c{connections}", "-d1s", "--latency", f"http://127.0.0.1:{server.port}/"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT)
        used = server.cpu_seconds() - before
        requests, p99 = wrk_answer(done.stdout)
        if used <= 0:
            raise Failed("the server used no CPU time")
        return {"per_cpu_second": requests / used, "p99_ms": p99}

    def one_computes(self, row: Row, contender: Contender) -> dict[str, float]:
        port = self.server(contender).port
        load = str(self.made.paths["load"])
        length = "300" if self.quick else "1000"
        with_it, without = (answer_of([load, "one_computes", f"port={port}", f"compute={compute}", f"ms={length}"])["p99_us"]
                            for compute in (1, 0))
        return {"p99_us": with_it, "p99_without_us": without, "times": with_it / without}
