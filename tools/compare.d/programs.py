# programs -- builds what is compared into build/compare, and says of each program that cannot be built why, by name.
import dataclasses
import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build" / "compare"
SOURCES = ROOT / "apps" / "compare"
CLANG_FLAGS, GCC_FLAGS = "-O3 -DNDEBUG", "-O2 -DNDEBUG"

# The programs and what they need: (name, the package that Debian has it in).
IN_CMAKE = {
    "faio": "", "liburing": "liburing-dev", "load": "", "tbb": "libtbb-dev", "asio_epoll": "libboost1.81-dev",
    "asio_uring": "libboost1.81-dev", "libuv": "libuv1-dev",
}


@dataclasses.dataclass
class Programs:
    paths: dict[str, pathlib.Path] = dataclasses.field(default_factory=dict)
    missing: dict[str, str] = dataclasses.field(default_factory=dict)  # name -> why
    versions: dict[str, str] = dataclasses.field(default_factory=dict)


def quiet(command: list[str], **how) -> None:
    """Runs it; what it said is shown only when it fails."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **how)
    if done.returncode != 0:
        print(done.stdout)
        raise SystemExit(f"compare: {' '.join(map(str, command))} failed")


def first_line(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0].strip()
    except (OSError, subprocess.CalledProcessError, IndexError):
        return ""


def package_version(package: str) -> str:
    return first_line("dpkg-query", "-W", "-f", "${Version}\n", package)


def build_cmake(name: str, compiler: str, flags: str, target: str) -> pathlib.Path:
    folder = BUILD / name
    quiet(["cmake", "-S", str(ROOT), "-B", str(folder), "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={compiler}", "-DCMAKE_BUILD_TYPE=Release",
           f"-DCMAKE_CXX_FLAGS_RELEASE={flags}", "-DFAIO_BUILD_TESTS=OFF", "-DFAIO_BUILD_BENCH=ON"])
    quiet(["cmake", "--build", str(folder), "--target", target])
    return folder / "apps" / "compare"


def build(wanted: set[str], say=print) -> Programs:
    """`wanted`: names of programs; "faio_gcc" is faio's with g++."""
    made = Programs()

    def cmake_part(names: set[str], folder: str, compiler: str, flags: str, target: str, suffix: str = "") -> None:
        if not names:
            return
        if shutil.which(compiler) is None:
            for name in names:
                made.missing[name + suffix] = f"{compiler} is not installed"
            return
        say(f"compare: building with {compiler} {flags}")
        where = build_cmake(folder, compiler, flags, target)
        for name in names:
            program = where / f"compare_{name}"
            if program.exists():
                made.paths[name + suffix] = program
            else:
                made.missing[name + suffix] = f"{IN_CMAKE[name]} is not installed"

    cmake_part(wanted & set(IN_CMAKE), "clang", "clang++-19", CLANG_FLAGS, "compare_programs")
    cmake_part({"faio"} if "faio_gcc" in wanted else set(), "gcc", "g++", GCC_FLAGS, "compare_faio", "_gcc")

    if "tokio" in wanted:
        registry = pathlib.Path("/usr/share/cargo/registry")
        cargo = "/usr/bin/cargo"
        if not os.path.exists(cargo):
            made.missing["tokio"] = "cargo is not installed"
        elif not list(registry.glob("tokio-1*")):
            made.missing["tokio"] = "librust-tokio-dev is not installed"
        else:
            say("compare: building tokio's with Debian's cargo and crates")
            environment = dict(os.environ, CARGO_TARGET_DIR=str(BUILD / "tokio"), RUSTC="/usr/bin/rustc")
            quiet([cargo, "build", "--offline", "--release"], cwd=SOURCES / "tokio", env=environment)
            made.paths["tokio"] = BUILD / "tokio" / "release" / "compare_tokio"
            made.versions["tokio"] = f"tokio {max(registry.glob('tokio-1*')).name.split('-')[1]}, {first_line('/usr/bin/rustc', '--version')}, opt-level 3"
    if "go" in wanted:
        if shutil.which("go") is None:
            made.missing["go"] = "golang-go is not installed"
        else:
            say("compare: building Go's")
            made.paths["go"] = BUILD / "go" / "compare_go"
            quiet(["go", "build", "-o", str(made.paths["go"]), "."], cwd=SOURCES / "go")
            made.versions["Go"] = first_line("go", "version")
    if "wrk" in wanted:
        found = shutil.which("wrk")
        if found is None:
            made.missing["wrk"] = "wrk is not installed"
        else:
            made.paths["wrk"] = pathlib.Path(found)
            made.versions["wrk"] = package_version("wrk")

    made.versions["faio"] = f"{first_line('git', '-C', str(ROOT), 'describe', '--always', '--dirty')}, {first_line('clang++-19', '--version')}, {CLANG_FLAGS}"
    made.versions["faio g++"] = f"{first_line('g++', '--version')}, {GCC_FLAGS}"
    for title, package in (("TBB", "libtbb-dev"), ("Boost", "libboost1.81-dev"), ("libuv", "libuv1-dev"), ("liburing", "liburing-dev")):
        version = package_version(package)
        if version:
            made.versions[title] = f"{version}, clang++-19 {CLANG_FLAGS}"
    return made


def data_file() -> pathlib.Path:
    """256 MiB that are no holes, in the page cache once they have been written."""
    path = BUILD / "data" / "blocks"
    size = 256 << 20
    if not path.exists() or path.stat().st_size != size:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "wb") as file:
            for _ in range(size >> 20):
                file.write(os.urandom(1 << 20))
    with open(path, "rb") as file:
        while file.read(1 << 24):
            pass
    return path
