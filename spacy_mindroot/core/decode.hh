// Decodes one sentence. The four stages run in order until one of them has found the tree.
#pragma once

#include <new>

#include "root_constraint.hh"

namespace mindroot {

// The workspace of the current thread. A very large one is freed at the end of the scope.
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

// The factor that keeps sums of these scores from overflowing: 2^-64 if any absolute value is above 2^960, else 1. A
// power of two is exact, except for scores so small that they vanish in any sum with the largest. Self arcs don't
// count. Sums of floats can't overflow, since they are computed in doubles.
inline double safe_scale(const Scores<float>&) { return 1; }
inline double safe_scale(const Scores<double>& scores) {
    int beyond = 0;
    for (int token = 0; token < scores.n; ++token)
        for (int column = 0; column <= scores.n; ++column) {
            const double size = std::fabs(scores.at(token, column));
            beyond |= (size > 0x1p960) & (size <= std::numeric_limits<double>::max()) & (column != token + 1);
        }
    return beyond ? 0x1p-64 : 1;
}

// A contiguous copy, multiplied by `scale`.
template <class T>
Scores<double> copy(const Scores<T>& from, double scale, Workspace& workspace) {
    const std::size_t columns = from.n + 1;
    double* cells = workspace.scores.reserve(from.n * columns);
    for (int token = 0; token < from.n; ++token)
        for (int column = 0; column <= from.n; ++column)
            cells[token * columns + column] = scale * from.at(token, column);
    return {cells, from.n + 1, 1, from.n};
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

// Writes the heads (0 = ROOT) of the best arborescence, or of the best one in which a single arc leaves ROOT. `heads`
// is undefined after a fault.
template <class T>
Fault decode(const Scores<T>& scores, std::int32_t* heads, bool single_root, Workspace& workspace) noexcept try {
    const int n = scores.n;
    if (n == 0) return {};
    if (const Fault fault = greedy_graph(scores, heads)) return fault;
    const bool tree = is_tree(heads, n, workspace.ints.reserve(n + 1));
    if (tree && (!single_root || count_roots(heads, n) == 1)) return {};

    const double scale = safe_scale(scores);
    if (scores.column_stride == 1 && scale == 1)
        return solve(Graph<T>(scores, heads, workspace), heads, tree, single_root);
    return solve(Graph<double>(copy(scores, scale, workspace), heads, workspace, true), heads, tree, single_root);
} catch (const std::bad_alloc&) {
    return {FaultKind::no_memory, 0, 0};
}

// A sentence: its scores, of either type, and the memory for its heads.
struct Sentence {
    const void* data;
    std::ptrdiff_t row_stride, column_stride;
    int n;
    bool is_double;
    std::int32_t* heads;

    // Calls work(scores) with the scores in their own type.
    template <class Work>
    auto with_scores(const Work& work) const {
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

}  // namespace mindroot
