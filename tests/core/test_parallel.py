"""`parallel.hh` alone: every item once, by at most as many threads as were asked for, even if none can be started."""

import shutil
import subprocess
import sys

import pytest

PROGRAM = r"""
#include <sys/resource.h>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include "parallel.hh"

int threads_alive() {
    int count = 0;
    for ([[maybe_unused]] const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) ++count;
    return count;
}

int main(int, char** arguments) {
    const std::size_t count = std::stoul(arguments[1]), n_threads = std::stoul(arguments[2]);
    if (arguments[3][0] == 'f') {  // no memory for the stack of another thread
        std::size_t pages;
        std::ifstream("/proc/self/statm") >> pages;
        const rlimit limit{pages * 4096 + (1 << 20), pages * 4096 + (1 << 20)};
        setrlimit(RLIMIT_AS, &limit);
    }
    std::vector<int> times(count + 100);
    std::mutex mutex;
    int most = 0;
    bool by_caller = false;
    const auto caller = std::this_thread::get_id();
    mindroot::in_parallel(count, n_threads, [&](std::size_t k) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        const std::lock_guard<std::mutex> lock(mutex);
        ++times[k];
        most = std::max(most, threads_alive());
        by_caller |= std::this_thread::get_id() == caller;
    });
    bool once = true;
    for (std::size_t k = 0; k < times.size(); ++k) once &= times[k] == (k < count ? 1 : 0);
    std::printf("%d %d %d", once, by_caller, most);
}
"""


def works(compiler):
    """Whether there is such a compiler, and not one in its place that does nothing."""
    return shutil.which(compiler) and subprocess.run([compiler, "--version"], capture_output=True).returncode == 0


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    compiler = next(filter(works, ("g++", "clang++")), None)
    if compiler is None or sys.platform != "linux":
        pytest.skip("needs g++ or clang++ on Linux")
    folder = tmp_path_factory.mktemp("parallel")
    (folder / "program.cc").write_text(PROGRAM)
    core = __file__.rsplit("tests", 1)[0] + "spacy_mindroot/core"
    command = [
        compiler,
        "-std=c++17",
        "-pthread",
        f"-I{core}",
        str(folder / "program.cc"),
        "-o",
        str(folder / "program"),
    ]
    subprocess.run(command, check=True)
    return folder / "program"


@pytest.mark.parametrize("threads", ["start", "fail to start"])
@pytest.mark.parametrize("n_threads", [1, 2, 3, 8])
@pytest.mark.parametrize("count", [0, 1, 2, 5, 40, 100])
def test_every_item_once(program, count, n_threads, threads):
    command = [program, str(count), str(n_threads), threads]
    once, by_caller, most = map(int, subprocess.run(command, capture_output=True, check=True).stdout.split())
    assert once
    alone = threads != "start" or min(n_threads, count) <= 1
    assert by_caller or not alone or count == 0
    assert most <= (1 if alone else min(n_threads, count))
