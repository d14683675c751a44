// The root constraint (Gabow and Tarjan 1984; `constrain` in Algorithm 1 of Zmigrod, Vieira and Cotterell 2020):
// from the best arborescence to the best one in which a single arc leaves ROOT. O(n) for each swap, at most O(n) swaps.
#pragma once

#include "arborescence.hh"

namespace mindroot {

// The best arc that does not come from ROOT, and what it costs to swap the root arc for it.
inline void find_swap(Graph& graph, int node) {
    const double* row = graph.row(node);
    const Best<double> best = best_entry(row, 1, graph.columns_);
    graph.swap_column_[node] = best.column;
    graph.swap_cost_[node] = row[0] - best.score;  // +inf where there is no such arc
}

// Collects in graph.cycle_ the cycle that arises if the head of `node` becomes `head`. Returns its size, 0 if none does.
inline int find_cycle(Graph& graph, int node, int head) {
    int size = 0;
    graph.cycle_[size++] = node;
    for (; head != NONE; head = graph.head_node(head)) {
        if (head == node) return size;
        graph.cycle_[size++] = head;
    }
    return 0;
}

// Stage 3. Takes a graph whose best incoming arcs form an arborescence; leaves one in which they form a single-rooted
// one. A swap cost changes only when its node is contracted, so each is found once.
inline Fault constrain(Graph& graph) {
    int* children = graph.path_;  // of ROOT
    int count = 0;
    for (int node = 0; node < graph.nodes_; ++node)
        if (!graph.contracted(node) && graph.best_column_[node] == 0) {
            find_swap(graph, node);
            children[count++] = node;
        }

    while (count > 1) {
        int cheapest = 0;
        for (int i = 1; i < count; ++i)
            if (graph.swap_cost_[children[i]] < graph.swap_cost_[children[cheapest]]) cheapest = i;
        int& child = children[cheapest];
        const int column = graph.swap_column_[child];
        if (column == NONE) {
            const int one = graph.first_token(children[0]), other = graph.first_token(children[1]);
            return {FaultKind::no_single_root, std::min(one, other) + 1, std::max(one, other) + 1};
        }
        double* row = graph.row(child);
        const int size = find_cycle(graph, child, graph.node_of_[column - 1]);
        graph.set_best(child, column, row[column]);
        if (size > 0) {
            // Reduction case: the swap closes a critical cycle. Its root arc is melded in and stays the best arc.
            child = graph.contract(size);
            graph.set_best(child, 0, graph.row(child)[0]);
            find_swap(graph, child);
        } else {
            // Optimisation case: the swap stands, and the root arc is gone for good.
            row[0] = FORBIDDEN;
            child = children[--count];
        }
    }
    return {};
}

}  // namespace mindroot
