// The root constraint (Gabow and Tarjan 1984; `constrain` in Algorithm 1 of Zmigrod, Vieira and Cotterell 2020):
// from the best arborescence to the best one in which a single arc leaves ROOT. At most O(n) swaps, O(n) each.
#pragma once

#include "arborescence.hh"

namespace mindroot {

// Stage 3. Takes a graph whose best incoming arcs form an arborescence, and makes them form a single-rooted one. The
// cost of a swap changes only when its node is contracted, so each is computed once.
template <class T>
Fault constrain(Graph<T>& graph) {
    int* const children = graph.root_children().nodes;
    double* const gains = graph.root_children().gains;  // minus the swap costs
    int count = 0;
    auto gain = [](const Node& node) { return node.swap.score - node.root.score; };
    for (int node = 0; node < graph.n_nodes(); ++node) {
        Node& child = graph[node];
        if (child.best.column != 0) continue;  // of a contracted node, it comes from its cycle
        if (node < graph.n_tokens()) child.swap = graph.best_other(node);
        gains[count] = gain(child);
        children[count++] = node;
    }

    while (count > 1) {
        const int cheapest = with_loops([&](auto loops) { return loops.best_entry(gains, count, NONE); }).column;
        if (cheapest == NONE) {
            const int one = graph.first_token(children[0]), other = graph.first_token(children[1]);
            return {FaultKind::no_single_root, std::min(one, other) + 1, std::max(one, other) + 1};
        }
        Node& child = graph[children[cheapest]];
        const bool closes_cycle = graph.find_cycle(children[cheapest], graph.head_of(child.swap));
        child.best = child.swap;
        if (closes_cycle) {
            // Reduction case: the swap closes a critical cycle. Its root arc takes part in the contraction and stays
            // the best arc.
            const int node = children[cheapest] = graph.contract();
            graph[node].best = graph[node].root;
            gains[cheapest] = gain(graph[node]);
        } else {
            // Optimisation case: the swap is final, and the root arc is removed for good.
            child.root.score = FORBIDDEN;
            children[cheapest] = children[--count];
            gains[cheapest] = gains[count];
        }
    }
    return {};
}

}  // namespace mindroot
