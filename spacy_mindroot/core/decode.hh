// The four stages in order, each only when the one before did not finish the job, for one sentence or a batch.
#pragma once

#include <new>

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

// Heads (0 = ROOT) of the best arborescence, or of the best one in which a single arc leaves ROOT. `heads` is
// undefined after a fault.
template <class T>
Fault decode(const Scores<T>& scores, std::int32_t* heads, bool single_root) noexcept try {
    const int n = scores.n;
    if (n == 0) return {};
    if (const Fault fault = greedy_graph(scores, heads)) return fault;

    ThreadWorkspace workspace;
    const bool tree = is_tree(heads, n, (*workspace).per_node.reserve(n));
    if (tree && (!single_root || count_roots(heads, n) == 1)) return {};

    Graph graph(scores, heads, *workspace);
    if (!tree)
        if (const Fault fault = graph.contract_cycles()) return fault;
    if (single_root)
        if (const Fault fault = constrain(graph)) return fault;
    graph.expand(heads);
    return {};
} catch (const std::bad_alloc&) {
    return {FaultKind::no_memory, 0, 0};
}

// A sentence of a batch, whose scores may be of either type.
struct Sentence {
    const void* data;
    std::ptrdiff_t row_stride, column_stride;
    int n;
    bool is_double;

    template <class T>
    Scores<T> scores() const {
        return {static_cast<const T*>(data), row_stride, column_stride, n};
    }
};

// Heads of all sentences, end to end. faults[k] is that of sentence k. Returns how many faults there are.
inline std::size_t decode_batch(const Sentence* sentences, std::size_t count, std::int32_t* heads, bool single_root,
                                Fault* faults) noexcept {
    std::size_t faulty = 0;
    for (std::size_t k = 0; k < count; ++k) {
        const Sentence& sentence = sentences[k];
        faults[k] = sentence.is_double ? decode(sentence.scores<double>(), heads, single_root)
                                       : decode(sentence.scores<float>(), heads, single_root);
        faulty += bool(faults[k]);
        heads += sentence.n;
    }
    return faulty;
}

}  // namespace mindroot
