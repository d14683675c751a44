// The best arborescence of a sentence (Tarjan 1977; Camerini et al. 1979): greedy graph, contraction of critical
// cycles, expansion. O(n^2) in total. The number of arcs that leave ROOT is the business of root_constraint.hh.
//
// Tokens are nodes 0..n-1; a contracted node gets the next free number. Columns are always original tokens, and each
// token knows which contracted node it is in.
//
// Ties. Of equally good trees, one is returned whatever the layout and the width of the vectors (test_ties.py):
// - best head of a token: the lowest column, so ROOT before any token (`best_scalar` and `BestLanes` in rows.hh)
// - best head of a contracted node: ROOT before tokens (`contract_cycles`), then the lowest column (`meld` in rows.hh)
// - arcs from one head into a cycle: the one that enters at the earlier member, in the order of `cycle_` in `contract`,
//   which puts a member with most tokens first; `meld` in rows.hh keeps the arc that it has
// - swaps of root arcs: the first in the order of the children of ROOT (`constrain` in root_constraint.hh)
// - projective trees: the lowest place to split a span (`best_split` in projective.hh)
// - k best trees: the candidate that was found first (`Candidate` in kbest.hh)
// - labels under rules: the first class of an arc (`best_class` in rule_scores.hh)
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>

#include "rows.hh"

namespace mindroot {

// Arc scores as the caller holds them. Rows are dependents, columns are heads (0 = ROOT), strides count elements.
template <class T>
struct Scores {
    const T* data;
    std::ptrdiff_t row_stride, column_stride;
    int n;

    const T* row(int token) const { return data + token * row_stride; }
    T at(int token, int column) const { return row(token)[column * column_stride]; }
};

// The reason why there is no tree. Dependents count from 1 and heads from 0 = ROOT, as in CoNLL-U. A field that a kind
// does not use is 0.
enum class FaultKind : int {
    none = 0,
    not_finite,       // the score of `head` for `dependent` is NaN or +inf
    no_head,          // `dependent` has no allowed head
    no_arborescence,  // no path of allowed arcs leads from ROOT to `dependent`
    no_single_root,   // `dependent` and the token `head` can each be reached only by a root arc of its own
    no_memory,
    no_projective,  // there are trees, but none of them is projective
};

struct Fault {
    FaultKind kind = FaultKind::none;
    int dependent = 0, head = 0;

    explicit operator bool() const { return kind != FaultKind::none; }
};

// Uninitialised memory that grows on demand. Growing loses the contents.
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
    T* data() const { return data_.get(); }
    std::size_t bytes() const { return size_ * sizeof(T); }

private:
    std::unique_ptr<T[]> data_;
    std::size_t size_ = 0;
};

struct Node;

// One per thread, reused across sentences, so that decoding a sentence usually allocates nothing.
struct Workspace {
    Buffer<double> scores;       // the rows of contracted nodes, n entries each
    Buffer<std::int64_t> sites;  // parallel to `scores`: the token at which each arc enters
    Buffer<Node> nodes;
    Buffer<int> ints;
    Buffer<double> swap_gains;

    std::size_t bytes() const;
};

// ---------------------------------------------------------------------------------------------------------------
// Stage 1: the greedy graph, one pass over the caller's matrix.

// Writes the best head of each token i (0 = ROOT) to heads[i]. The score of a self arc never matters.
template <class T>
Fault greedy_graph(const Scores<T>& scores, std::int32_t* heads) {
    const int n = scores.n;
    auto vectorised = [&](auto loops) { return loops.best_heads(scores.data, scores.row_stride, n, heads); };
    if (scores.column_stride == 1 && with_loops(vectorised)) return {};
    for (int token = 0; token < n; ++token) {
        for (int column = 0; column <= n; ++column)
            if (column != token + 1 && !(scores.at(token, column) <= std::numeric_limits<T>::max()))
                return {FaultKind::not_finite, token + 1, column};
        heads[token] = best_scalar(scores.row(token), scores.column_stride, n + 1, token + 1).column;
        if (heads[token] == NONE) return {FaultKind::no_head, token + 1, 0};
    }
    return {};
}

// Whether the heads (0 = ROOT) form a tree with any number of roots. `above` is scratch for n+1 ints. Each round
// doubles the distance that every token looks up. After log2(n) rounds a token sees ROOT, unless it is on a cycle or
// below one.
inline bool is_tree(const std::int32_t* heads, int n, int* above) {
    bool in_range = true;
    above[0] = 0;
    for (int token = 1; token <= n; ++token) {
        above[token] = heads[token - 1];
        in_range &= static_cast<unsigned>(above[token]) <= static_cast<unsigned>(n);
    }
    if (!in_range) return false;
    for (int distance = 1;; distance *= 2) {
        int any = 0;
        for (int token = 1; token <= n; ++token) any |= above[token] = above[above[token]];
        if (any == 0) return true;
        if (distance >= n - distance) return false;  // every token has looked n steps up
    }
}

inline int count_roots(const std::int32_t* heads, int n) { return static_cast<int>(std::count(heads, heads + n, 0)); }

// ---------------------------------------------------------------------------------------------------------------
// Stages 2 and 4: the graph that contraction works on, and the best incoming arcs of each of its nodes.

struct Arc {
    double score;
    int column;     // where it comes from: 0 = ROOT
    int dependent;  // the token at which it enters
};

struct Node {
    Arc best;     // the best incoming arc
    Arc root;     // the arc from ROOT
    Arc swap;     // the best arc that does not come from ROOT; set for contracted nodes and by root_constraint.hh
    double* row;  // of a contracted node: the score of the arc from each token
    std::int64_t* sites;  // parallel to `row`: the token at which that arc enters
    int parent;           // the node that this one was contracted into, or NONE
    int representative;   // one of its tokens
    int mark;             // scratch of the current loop
};

inline std::size_t Workspace::bytes() const {
    return scores.bytes() + sites.bytes() + nodes.bytes() + ints.bytes() + swap_gains.bytes();
}

// A token has no row of its own: its scores are read from the caller's matrix, whose columns must be contiguous. A
// contracted node takes over the row of the member that has the most tokens, or makes one. So there are at most n/2.
template <class T>
class Graph {
public:
    // `heads` is the greedy graph. With `in_place` the matrix may be overwritten: it serves as the rows.
    Graph(const Scores<T>& scores, const std::int32_t* heads, Workspace& workspace, bool in_place = false)
        : n_(scores.n), size_(scores.n), from_(scores), in_place_(in_place) {
        const std::size_t n = n_;
        if (!in_place_) next_row_ = workspace.scores.reserve(n / 2 * n);
        next_sites_ = workspace.sites.reserve(n / 2 * n);
        nodes_ = workspace.nodes.reserve(2 * n);
        int* ints = workspace.ints.reserve(8 * n);
        representative_ = ints;
        next_token_ = ints + n;
        last_token_ = ints + 2 * n;
        tokens_ = ints + 3 * n;
        node_of_ = ints + 4 * n;
        path_ = ints + 5 * n;
        cycle_ = ints + 6 * n;
        root_children_ = {ints + 7 * n, workspace.swap_gains.reserve(n)};
        for (int token = 0; token < n_; ++token) {
            representative_[token] = last_token_[token] = node_of_[token] = token;
            next_token_[token] = NONE;
            tokens_[token] = 1;
            const double root = from_.at(token, 0), best = from_.at(token, heads[token]);
            nodes_[token] = {{best, heads[token], token}, {root, 0, token}, {}, nullptr, nullptr, NONE, token, 0};
        }
    }

    int n_tokens() const { return n_; }
    int n_nodes() const { return size_; }  // so far, contracted ones included
    Node& operator[](int node) { return nodes_[node]; }

    // Stage 2. Afterwards the best incoming arcs of the remaining nodes form an arborescence.
    Fault contract_cycles();

    // Stage 4. Breaks each contracted node at its entrance site, the last one first.
    void expand(std::int32_t* heads);

    // Whether a cycle arises if `head` becomes the head of `node`. The cycle is then ready for contract().
    bool find_cycle(int node, int head) {
        int size = 0;
        cycle_[size++] = node;
        for (; head != NONE && head != node; head = head_of(nodes_[head].best)) cycle_[size++] = head;
        cycle_size_ = size;
        return head == node;
    }

    // Contracts the cycle that was found last into a new node, and returns that node.
    int contract();

    // The node that an arc comes from; NONE is ROOT.
    int head_of(const Arc& arc) const { return arc.column == 0 ? NONE : node_of_[representative_[arc.column - 1]]; }

    // The best incoming arc of a token that does not come from ROOT.
    Arc best_other(int token) const {
        const Best<T> best = with_loops([&](auto loops) { return loops.best_entry(from_.row(token) + 1, n_, token); });
        return {best.score, best.column + 1, token};
    }

    // The lowest token in `node`, which must not have been contracted.
    int first_token(int node) const {
        int first = n_;
        for (int token = nodes_[node].representative; token != NONE; token = next_token_[token])
            first = std::min(first, token);
        return first;
    }

    // Memory for root_constraint.hh, with room for n of each: the nodes whose best arc comes from ROOT, and the gain
    // of swapping that arc.
    struct RootChildren {
        int* nodes;
        double* gains;
    };
    RootChildren root_children() const { return root_children_; }

private:
    void make_row(Node& token);

    // The scores of a token begin where the hardware does not expect them. This asks for them in time.
    MINDROOT_INLINE void prefetch_row(const Node& node) const {
        if (node.row != nullptr) return;
        const T* row = from_.row(node.representative) + 1;
        for (int u = 0; u < n_; u += CACHE_LINE / sizeof(T)) prefetch(row + u);
    }

    int n_, size_;  // tokens, and nodes so far
    Node* nodes_;
    Scores<T> from_;
    bool in_place_;
    double* next_row_;
    std::int64_t* next_sites_;
    int* representative_;  // token -> the representative of its node
    int* node_of_;         // representative -> its node
    int* next_token_;      // token -> the next token of the same node; the list begins at the representative
    int* last_token_;      // representative -> the end of that list
    int* tokens_;          // representative -> the length of that list
    int* path_;
    int* cycle_;  // its nodes; the best arc of each comes from another one
    int cycle_size_ = 0;
    RootChildren root_children_;
};

template <class T>
void Graph<T>::make_row(Node& node) {
    const int token = node.representative;
    const T* source = from_.row(token) + 1;
    if constexpr (std::is_same_v<T, double>)
        if (in_place_) node.row = const_cast<double*>(source);
    if (node.row == nullptr) {
        node.row = next_row_;
        next_row_ += n_;
        std::copy(source, source + n_, node.row);
    }
    node.sites = next_sites_;
    next_sites_ += n_;
    std::fill(node.sites, node.sites + n_, token);
    node.row[token] = DEAD;
}

// An arc that enters the cycle at a member replaces the member's own best arc, so its new score is the difference
// between the two. Of equally good arcs from one token, the one that enters at an earlier member of the cycle is kept.
template <class T>
int Graph<T>::contract() {
    const int size = cycle_size_;
    int longest = 0;
    auto tokens = [&](int i) { return tokens_[nodes_[cycle_[i]].representative]; };
    for (int i = 1; i < size; ++i)
        if (tokens(i) > tokens(longest)) longest = i;
    std::swap(cycle_[0], cycle_[longest]);
    Node& first = nodes_[cycle_[0]];
    prefetch_row(nodes_[cycle_[1]]);
    if (first.row == nullptr) make_row(first);

    const int representative = first.representative, node = size_++;
    node_of_[representative] = node;
    nodes_[node] = {{}, {}, {}, first.row, first.sites, NONE, representative, 0};
    Arc root = {first.root.score - first.best.score, 0, first.root.dependent};
    first.parent = node;

    // Arcs within the cycle are dead.
    for (int i = 1; i < size; ++i) {
        const int member = nodes_[cycle_[i]].representative;
        for (int token = member; token != NONE; token = next_token_[token]) {
            representative_[token] = representative;
            first.row[token] = DEAD;
        }
        next_token_[last_token_[representative]] = member;
        last_token_[representative] = last_token_[member];
        tokens_[representative] += tokens_[member];
    }

    Best<double> best;
    double row_best = first.best.score;
    for (int i = 1; i < size; ++i) {
        Node& member = nodes_[cycle_[i]];
        member.parent = node;
        if (i + 1 < size) prefetch_row(nodes_[cycle_[i + 1]]);
        if (member.root.score - member.best.score > root.score)
            root = {member.root.score - member.best.score, 0, member.root.dependent};
        auto meld = [&](auto loops, auto find_best) {
            const double own = member.best.score;
            if (member.row == nullptr) {
                const T* given = from_.row(member.representative) + 1;
                const std::int64_t *none = nullptr, token = member.representative;
                return loops.template meld<find_best>(first.row, first.sites, row_best, n_, given, token, none, own);
            }
            const std::int64_t *sites = member.sites, token = NONE;
            const double* row = member.row;
            return loops.template meld<find_best>(first.row, first.sites, row_best, n_, row, token, sites, own);
        };
        best = with_loops([&](auto loops) {  // only the best entry after the last member counts
            return i + 1 < size ? meld(loops, std::false_type()) : meld(loops, std::true_type());
        });
        row_best = 0;
    }
    nodes_[node].root = root;
    const int site = best.column == NONE ? NONE : static_cast<int>(first.sites[best.column]);
    nodes_[node].swap = {best.score, best.column + 1, site};
    return node;
}

// Grows a path from each token along best incoming arcs until it reaches ROOT or a finished node. Where the path meets
// itself, the cycle is contracted and the path continues from the new node. If the best arc from ROOT and the best
// other arc are equally good, the one from ROOT is taken.
template <class T>
Fault Graph<T>::contract_cycles() {
    enum { unvisited = 0, on_path, finished };
    for (int start = 0; start < n_; ++start) {
        int length = 0, node = node_of_[representative_[start]];
        while (node != NONE && nodes_[node].mark != finished) {
            if (nodes_[node].mark == unvisited) {
                nodes_[node].mark = on_path;
                path_[length++] = node;
            } else {
                cycle_size_ = 0;
                do cycle_[cycle_size_++] = path_[--length];
                while (path_[length] != node);
                node = contract();
                Node& contracted = nodes_[node];
                contracted.best = contracted.root.score >= contracted.swap.score ? contracted.root : contracted.swap;
                if (contracted.best.score == FORBIDDEN) return {FaultKind::no_arborescence, first_token(node) + 1, 0};
                continue;  // the new node is unvisited: it is put on the path next
            }
            node = head_of(nodes_[node].best);
        }
        for (int i = 0; i < length; ++i) nodes_[path_[i]].mark = finished;
    }
    return {};
}

template <class T>
void Graph<T>::expand(std::int32_t* heads) {
    for (int node = 0; node < size_; ++node) nodes_[node].mark = 0;
    for (int node = size_ - 1; node >= 0; --node) {
        if (nodes_[node].mark) continue;  // its incoming arc is decided by the node that contains it
        const Arc& arc = nodes_[node].best;
        heads[arc.dependent] = arc.column;
        for (int inner = arc.dependent; inner != node; inner = nodes_[inner].parent) nodes_[inner].mark = 1;
    }
}

}  // namespace mindroot
