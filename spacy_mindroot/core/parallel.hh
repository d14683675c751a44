// The same work on many items, spread over threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace mindroot {

// Calls work(k) once for each k < count. `work` must not throw. The calling thread takes part, so n_threads = 1 starts
// no thread. If the system refuses to start a thread, the threads that exist do all the work.
template <class Work>
void in_parallel(std::size_t count, std::size_t n_threads, const Work& work) noexcept {
    const std::size_t most = std::min(n_threads, count);
    if (most <= 1) {
        for (std::size_t k = 0; k < count; ++k) work(k);
        return;
    }
    // Items may differ much in size, so each thread takes a few at a time.
    const std::size_t few = std::max<std::size_t>(1, std::min<std::size_t>(16, count / (8 * most)));
    std::atomic<std::size_t> next{0};
    auto take_turns = [&] {
        for (std::size_t first; (first = next.fetch_add(few)) < count;)
            for (std::size_t k = first; k < std::min(first + few, count); ++k) work(k);
    };
    std::vector<std::thread> threads;
    try {
        threads.reserve(most - 1);
        while (threads.size() < most - 1) threads.emplace_back(take_turns);
    } catch (const std::exception&) {  // no thread to be started, or no memory for one
    }
    take_turns();
    for (std::thread& thread : threads) thread.join();
}

}  // namespace mindroot
