// The same work on many items, spread over threads. What the work is is left to the caller.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace mindroot {

// Calls work(k), which must not throw, once for each k < count. The calling thread takes part; one thread starts no other.
// Where the system gives no more threads, those that there are do it all.
template <class Work>
void in_parallel(std::size_t count, std::size_t n_threads, const Work& work) noexcept {
    const std::size_t most = std::min(n_threads, count);
    if (most <= 1) {
        for (std::size_t k = 0; k < count; ++k) work(k);
        return;
    }
    // Items may differ much in size, so each thread comes back for more when it is done with a few.
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
    } catch (const std::exception&) {  // no thread, or no memory for one
    }
    take_turns();
    for (std::thread& thread : threads) thread.join();
}

}  // namespace mindroot
