// The best arborescence of a sentence (Tarjan 1977; Camerini et al. 1979): greedy graph, contraction of critical
// cycles, expansion. Together O(n^2). How many arcs may leave ROOT is left to root_constraint.hh.
//
// Tokens are nodes 0..n-1; a contracted node gets the next free number. Column 0 of a row is ROOT, column u+1 is
// token u. Columns stay original tokens throughout; node_of says in which contracted node a token is now.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>

#include "rows.hh"

namespace mindroot {

// Arc scores as the caller holds them: rows are dependents, columns heads, strides in elements.
template <class T>
struct Scores {
    const T* data;
    std::ptrdiff_t row_stride, column_stride;
    int n;

    const T* row(int dependent) const { return data + dependent * row_stride; }
    T at(int dependent, int column) const { return row(dependent)[column * column_stride]; }
};

// Why there is no tree. Dependents count from 1 and heads from 0 = ROOT, as in CoNLL-U; 0 where nothing is to be named.
enum class FaultKind : int {
    none = 0,
    not_finite,      // the score of `head` for `dependent` is NaN or +inf
    no_head,         // `dependent` has no allowed head
    no_arborescence, // no path of allowed arcs leads from ROOT to `dependent`
    no_single_root,  // `dependent` and the token `head` can each be reached only by a root arc of their own
    no_memory,
    no_projective,   // there are trees, but none of them is projective
};

struct Fault {
    FaultKind kind = FaultKind::none;
    int dependent = 0, head = 0;

    explicit operator bool() const { return kind != FaultKind::none; }
};

// Memory that grows and is not initialised.
template <class T>
class Buffer {
public:
    T* reserve(std::size_t size) {
        if (size > size_) {
            data_.reset();
            size_ = 0;
            data_.reset(new T[size]);
            size_ = size;
        }
        return data_.get();
    }
    std::size_t bytes() const { return size_ * sizeof(T); }

private:
    std::unique_ptr<T[]> data_;
    std::size_t size_ = 0;
};

// One a thread, reused from sentence to sentence: nothing is allocated while a sentence is decoded.
struct Workspace {
    Buffer<double> scores;             // the working copy, n rows of n+1 columns
    Buffer<std::int32_t> sites;        // same layout: the token at which an entry of a contracted row enters
    Buffer<double> per_node_scores;
    Buffer<int> per_node;

    std::size_t bytes() const { return scores.bytes() + sites.bytes() + per_node_scores.bytes() + per_node.bytes(); }
};

// ---------------------------------------------------------------------------------------------------------------
// Stage 1: the greedy graph, one pass over the caller's matrix.

template <class T>
MINDROOT_INLINE Best<T> best_head(const Scores<T>& scores, int dependent) {
    const int self = dependent + 1;  // the self arc is never read
    if (scores.column_stride == 1) return best_contiguous(scores.row(dependent), 0, scores.n + 1, self);
    return best_scalar(scores.row(dependent), scores.column_stride, 0, scores.n + 1, self);
}

// heads[i] = best head of token i, 0 = ROOT. Returns the first row that has no best head or holds an invalid score.
template <class T>
MINDROOT_INLINE int greedy_rows(const Scores<T>& scores, std::int32_t* heads) {
    for (int dependent = 0; dependent < scores.n; ++dependent) {
        const Best<T> best = best_head(scores, dependent);
        if (best.invalid || best.column == NONE) return dependent;
        heads[dependent] = best.column;
    }
    return NONE;
}

MINDROOT_DISPATCH inline int dispatch_greedy_rows(const Scores<float>& scores, std::int32_t* heads) {
    return greedy_rows(scores, heads);
}
MINDROOT_DISPATCH inline int dispatch_greedy_rows(const Scores<double>& scores, std::int32_t* heads) {
    return greedy_rows(scores, heads);
}

template <class T>
Fault greedy_graph(const Scores<T>& scores, std::int32_t* heads) {
    const int dependent = dispatch_greedy_rows(scores, heads);
    if (dependent == NONE) return {};
    for (int column = 0; column <= scores.n; ++column)
        if (column != dependent + 1 && !(scores.at(dependent, column) <= std::numeric_limits<T>::max()))
            return {FaultKind::not_finite, dependent + 1, column};
    return {FaultKind::no_head, dependent + 1, 0};
}

// Do the heads (0 = ROOT) form a tree? `seen` is room for n ints. One walk: a token is passed once.
inline bool is_tree(const std::int32_t* heads, int n, int* seen) {
    std::fill(seen, seen + n, 0);
    for (int start = 0; start < n; ++start) {
        int token = start;
        while (token >= 0 && seen[token] == 0) {
            seen[token] = start + 1;
            if (heads[token] < 0 || heads[token] > n) return false;
            token = heads[token] - 1;
        }
        if (token >= 0 && seen[token] == start + 1) return false;  // this walk has met itself
    }
    return true;
}

inline int count_roots(const std::int32_t* heads, int n) {
    return static_cast<int>(std::count(heads, heads + n, 0));
}

// ---------------------------------------------------------------------------------------------------------------
// The graph that contraction works on, and the best incoming arc found so far for each of its nodes.

class Graph {
public:
    // Copies the scores once, to double. `heads` is the greedy graph.
    template <class T>
    Graph(const Scores<T>& from, const std::int32_t* heads, Workspace& workspace)
        : n_(from.n), nodes_(from.n), columns_(from.n + 1) {
        const std::size_t cells = static_cast<std::size_t>(n_) * columns_, most_nodes = 2 * static_cast<std::size_t>(n_);
        scores_ = workspace.scores.reserve(cells);
        sites_ = workspace.sites.reserve(cells);
        best_score_ = workspace.per_node_scores.reserve(2 * most_nodes);
        swap_cost_ = best_score_ + most_nodes;
        int* ints = workspace.per_node.reserve(n_ + 8 * most_nodes);
        node_of_ = ints;
        parent_ = node_of_ + n_;
        row_ = parent_ + most_nodes;
        best_column_ = row_ + most_nodes;
        best_site_ = best_column_ + most_nodes;
        mark_ = best_site_ + most_nodes;
        swap_column_ = mark_ + most_nodes;
        path_ = swap_column_ + most_nodes;
        cycle_ = path_ + most_nodes;

        copy(from);
        for (int token = 0; token < n_; ++token) {
            node_of_[token] = row_[token] = token;
            parent_[token] = NONE;
            set_best(token, heads[token], row(token)[heads[token]]);
        }
    }

    // Stage 2. Afterwards the best incoming arcs of the nodes that are left form an arborescence.
    Fault contract_cycles();

    // Stage 4. Breaks the contracted nodes, the last first, each at its entrance site.
    void expand(std::int32_t* heads);

    // The node that the best incoming arc of `node` comes from; NONE is ROOT.
    int head_node(int node) const { return best_column_[node] == 0 ? NONE : node_of_[best_column_[node] - 1]; }

    // Contracts cycle_[0:size], of which each node's best arc comes from another, into a new node. Returns it.
    int contract(int size);

    // The arc from `column` becomes the best incoming arc of `node`. Its entrance site is noted now, since the row of
    // `node` goes to the node that it is contracted into.
    void set_best(int node, int column, double score) {
        best_column_[node] = column;
        best_score_[node] = score;
        best_site_[node] = node < n_ ? node : sites(node)[column];
    }

    double* row(int node) const { return scores_ + static_cast<std::size_t>(row_[node]) * columns_; }
    std::int32_t* sites(int node) const { return sites_ + static_cast<std::size_t>(row_[node]) * columns_; }
    bool contracted(int node) const { return parent_[node] != NONE; }

    // The first token that is in `node`, which is not contracted.
    int first_token(int node) const { return static_cast<int>(std::find(node_of_, node_of_ + n_, node) - node_of_); }

    int n_, nodes_, columns_;
    double* scores_;
    std::int32_t* sites_;
    int* node_of_;        // token -> the node it is in now
    int* parent_;         // node -> the node it was contracted into
    int* row_;            // node -> its row in the working copy: a contracted node takes over its first member's
    int* best_column_;    // node -> where its best incoming arc comes from
    double* best_score_;  // node -> the score of that arc
    int* best_site_;      // node -> the token at which it enters
    int* mark_;           // node -> scratch of whichever loop is running
    double* swap_cost_;   // used by root_constraint.hh
    int* swap_column_;
    int* path_;
    int* cycle_;

private:
    template <class T>
    void copy(const Scores<T>& from);
};

// Self arcs become FORBIDDEN. Scores so large that sums of them could overflow are all scaled by a power of two: exact, but
// for scores so small beside these that they vanish in any sum with them.
template <class T>
void Graph::copy(const Scores<T>& from) {
    double largest = 0;
    for (int dependent = 0; dependent < n_; ++dependent) {
        const T* source = from.row(dependent);
        double* target = scores_ + static_cast<std::size_t>(dependent) * columns_;
        for (int column = 0; column < columns_; ++column) target[column] = source[column * from.column_stride];
        target[dependent + 1] = FORBIDDEN;
        if constexpr (sizeof(T) == sizeof(double))
            for (int column = 0; column < columns_; ++column)
                if (target[column] != FORBIDDEN) largest = std::max(largest, std::fabs(target[column]));
    }
    constexpr double safe = 0x1p960, scale = 0x1p-64;
    if (largest > safe) {
        const std::size_t cells = static_cast<std::size_t>(n_) * columns_;
        for (std::size_t cell = 0; cell < cells; ++cell) scores_[cell] *= scale;
    }
}

inline int Graph::contract(int size) {
    const int node = nodes_++, first = cycle_[0];
    row_[node] = row_[first];
    parent_[node] = NONE;
    double* melded = row(node);
    std::int32_t* site = sites(node);

    // An arc that enters the cycle at a member replaces the member's own arc: score of the one minus score of the other.
    start_meld(melded, best_score_[first], columns_);
    if (first < n_) std::fill(site, site + columns_, first);
    for (int i = 1; i < size; ++i) {
        const int member = cycle_[i];
        if (member < n_)
            meld_token(melded, site, row(member), member, best_score_[member], columns_);
        else
            meld_node(melded, site, row(member), sites(member), best_score_[member], columns_);
    }
    for (int i = 0; i < size; ++i) parent_[cycle_[i]] = node;

    // Arcs within the cycle are dead.
    for (int token = 0; token < n_; ++token)
        if (contracted(node_of_[token])) {
            node_of_[token] = node;
            melded[token + 1] = FORBIDDEN;
        }
    return node;
}

// Grows a path from each token along best incoming arcs, until it reaches ROOT or a finished node; where it meets
// itself, the cycle is contracted and the path goes on from the new node.
inline Fault Graph::contract_cycles() {
    enum { unvisited = 0, on_path, finished };
    int* state = mark_;
    std::fill(state, state + 2 * n_, unvisited);
    for (int start = 0; start < n_; ++start) {
        int length = 0, node = node_of_[start];
        while (node != NONE && state[node] != finished) {
            if (state[node] == unvisited) {
                state[node] = on_path;
                path_[length++] = node;
            } else {
                int size = 0;
                do cycle_[size++] = path_[--length];
                while (path_[length] != node);
                node = contract(size);
                const Best<double> best = best_entry(row(node), 0, columns_);
                if (best.column == NONE) return {FaultKind::no_arborescence, first_token(node) + 1, 0};
                set_best(node, best.column, best.score);
                continue;  // the new node is unvisited: it goes onto the path next
            }
            node = head_node(node);
        }
        for (int i = 0; i < length; ++i) state[path_[i]] = finished;
    }
    return {};
}

inline void Graph::expand(std::int32_t* heads) {
    int* entered = mark_;
    std::fill(entered, entered + nodes_, 0);
    for (int node = nodes_ - 1; node >= 0; --node) {
        if (entered[node]) continue;
        heads[best_site_[node]] = best_column_[node];
        for (int inner = best_site_[node]; inner != node; inner = parent_[inner]) entered[inner] = 1;
    }
}

}  // namespace mindroot
