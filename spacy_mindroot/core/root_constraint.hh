// The root constraint (Gabow and Tarjan 1984; `constrain` in Algorithm 1 of Zmigrod, Vieira and Cotterell 2020):
// from the best arborescence to the best one in which a single arc leaves ROOT. O(n) for each swap, at most O(n) swaps.
#pragma once

#include "arborescence.hh"

namespace mindroot {

// Collects in graph.cycle_ the cycle that arises if the head of `node` becomes `head`. Returns its size, 0 if none does.
template <class T>
int find_cycle(Graph<T>& graph, int node, int head) {
    int size = 0;
    graph.cycle_[size++] = node;
    for (; head != NONE; head = graph.head_of(graph.nodes_[head].best)) {
        if (head == node) return size;
        graph.cycle_[size++] = head;
    }
    return 0;
}

// Stage 3. Takes a graph whose best incoming arcs form an arborescence; leaves one in which they form a single-rooted
// one. What a swap costs changes only when its node is contracted, so each is found once.
template <class T>
Fault constrain(Graph<T>& graph) {
    int* children = graph.path_;         // of ROOT
    double* gains = graph.swap_gains_;   // minus the swap costs: what is gained if another arc replaces the root arc
    int count = 0;
    auto gain = [](const Node& node) { return node.swap.score - node.root.score; };
    for (int node = 0; node < graph.size_; ++node) {
        Node& child = graph.nodes_[node];
        if (child.contracted() || child.best.column != 0) continue;
        if (node < graph.n_) child.swap = graph.best_other(node);
        gains[count] = gain(child);
        children[count++] = node;
    }

    while (count > 1) {
        const int cheapest = with_loops([&](auto loops) { return loops.best_entry(gains, count, NONE); }).column;
        if (cheapest == NONE) {
            const int one = graph.first_token(children[0]), other = graph.first_token(children[1]);
            return {FaultKind::no_single_root, std::min(one, other) + 1, std::max(one, other) + 1};
        }
        Node& child = graph.nodes_[children[cheapest]];
        const int size = find_cycle(graph, children[cheapest], graph.head_of(child.swap));
        child.best = child.swap;
        if (size > 0) {
            // Reduction case: the swap closes a critical cycle. Its root arc is melded in and stays the best arc.
            const int node = children[cheapest] = graph.contract(size);
            graph.nodes_[node].best = graph.nodes_[node].root;
            gains[cheapest] = gain(graph.nodes_[node]);
        } else {
            // Optimisation case: the swap stands, and the root arc is gone for good.
            child.root.score = FORBIDDEN;
            children[cheapest] = children[--count];
            gains[cheapest] = gains[count];
        }
    }
    return {};
}

}  // namespace mindroot
