// The four stages in order, each only when the one before did not finish the job, for one sentence or a batch.
#pragma once

#include <new>

#include "parallel.hh"
#include "root_constraint.hh"

namespace mindroot {

// One a thread. After a very long sentence the memory goes back.
class ThreadWorkspace {
public:
    ~ThreadWorkspace() {
        constexpr std::size_t keep = std::size_t(64) << 20;
        if (workspace_.bytes() > keep) workspace_ = Workspace();
    }
    Workspace& operator*() { return workspace_; }

private:
    static inline thread_local Workspace workspace_;
};

// Can sums of the scores overflow? Those of floats can't.
inline bool too_large(const Scores<float>&) { return false; }
inline bool too_large(const Scores<double>& scores) {
    for (int token = 0; token < scores.n; ++token)
        if (any_beyond(scores.row(token), scores.n + 1, 0x1p960)) return true;
    return false;
}

// A copy that is contiguous, and scaled if the scores are too large. By a power of two: exact, but for scores so small
// beside the largest that they vanish in any sum with them.
template <class T>
Scores<double> copy(const Scores<T>& from, Workspace& workspace) {
    const std::size_t columns = from.n + 1;
    double* cells = workspace.scores.reserve(from.n * columns);
    for (int token = 0; token < from.n; ++token)
        for (int column = 0; column <= from.n; ++column) cells[token * columns + column] = from.at(token, column);
    const Scores<double> copied{cells, from.n + 1, 1, from.n};
    if (too_large(copied))
        for (std::size_t cell = 0; cell < from.n * columns; ++cell) cells[cell] *= 0x1p-64;
    return copied;
}

// Stages 2 to 4.
template <class T>
Fault solve(Graph<T> graph, std::int32_t* heads, bool is_tree, bool single_root) {
    if (!is_tree)
        if (const Fault fault = graph.contract_cycles()) return fault;
    if (single_root)
        if (const Fault fault = constrain(graph)) return fault;
    graph.expand(heads);
    return {};
}

// Heads (0 = ROOT) of the best arborescence, or of the best one in which a single arc leaves ROOT. `heads` is
// undefined after a fault.
template <class T>
Fault decode(const Scores<T>& scores, std::int32_t* heads, bool single_root, Workspace& workspace) noexcept try {
    const int n = scores.n;
    if (n == 0) return {};
    if (const Fault fault = greedy_graph(scores, heads)) return fault;
    const bool tree = is_tree(heads, n, workspace.ints.reserve(n + 1));
    if (tree && (!single_root || count_roots(heads, n) == 1)) return {};

    if (scores.column_stride == 1 && !too_large(scores))
        return solve(Graph<T>(scores, heads, workspace), heads, tree, single_root);
    return solve(Graph<double>(copy(scores, workspace), heads, workspace, true), heads, tree, single_root);
} catch (const std::bad_alloc&) {
    return {FaultKind::no_memory, 0, 0};
}

// A sentence of a batch, whose scores may be of either type, and where its heads go.
struct Sentence {
    const void* data;
    std::ptrdiff_t row_stride, column_stride;
    int n;
    bool is_double;
    std::int32_t* heads;

    // Calls `work` with the scores.
    template <class Work>
    Fault with_scores(const Work& work) const {
        if (is_double) return work(Scores<double>{static_cast<const double*>(data), row_stride, column_stride, n});
        return work(Scores<float>{static_cast<const float*>(data), row_stride, column_stride, n});
    }
};

inline Fault greedy_graph(const Sentence& sentence) {
    return sentence.with_scores([&](const auto& scores) { return greedy_graph(scores, sentence.heads); });
}

inline Fault decode_sentence(const Sentence& sentence, bool single_root) noexcept {
    ThreadWorkspace workspace;
    return sentence.with_scores(
        [&](const auto& scores) { return decode(scores, sentence.heads, single_root, *workspace); });
}

// faults[k] is that of sentence k. Returns how many faults there are.
inline std::size_t decode_batch(const Sentence* sentences, std::size_t count, bool single_root, int n_threads,
                                Fault* faults) noexcept {
    in_parallel(count, n_threads, [&](std::size_t k) { faults[k] = decode_sentence(sentences[k], single_root); });
    return count - std::count_if(faults, faults + count, [](const Fault& fault) { return !fault; });
}

}  // namespace mindroot
