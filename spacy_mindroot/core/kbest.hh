// The k best trees, best first (Lawler 1972 for the partition; Camerini et al. 1980 and Zmigrod, Vieira and Cotterell
// 2021 for the next best tree). O(n^2) for each tree.
//
// The set of all trees is split into subspaces. Each subspace includes some arcs and excludes others, and its best tree
// is known. The next best tree of all is the best among the second-best trees of the subspaces. It lacks some arc e of
// the best tree of its subspace. That subspace is then split: the best tree with e is the one already known, and the
// best tree without e is the next best tree.
#pragma once

#include <cmath>
#include <queue>
#include <vector>

#include "projective_kbest.hh"

namespace mindroot {

class KBest {
public:
    template <class T>
    KBest(const Scores<T>& from, bool single_root, Workspace& workspace)
        : workspace_(workspace),
          n_(from.n),
          columns_(from.n + 1),
          single_root_(single_root),
          base_(cells()),
          subspace_(cells()),
          preorder_scores_(cells()),
          other_(n_),
          order_(n_),
          position_(n_),
          size_(n_),
          head_(n_),
          node_(n_),
          first_child_(n_ + 1),
          next_sibling_(n_),
          tree_arc_(n_) {
        const double scale = safe_scale(from);
        for (int dependent = 0; dependent < n_; ++dependent)
            for (int column = 0; column < columns_; ++column)
                base_[at(dependent, column)] = column == dependent + 1 ? FORBIDDEN : scale * from.at(dependent, column);
    }

    // Writes the heads of up to k trees to `trees`, end to end. `best` is the first of them.
    Fault run(const std::int32_t* best, std::size_t k, std::vector<std::int32_t>& trees) {
        trees.assign(best, best + n_);
        splits_ = {{NONE, 0, 0, false}};
        if (k > 1)
            if (const Fault fault = push(0, 0, trees)) return fault;
        for (std::size_t found = 1; found < k && !candidates_.empty(); ++found) {
            const Candidate next = candidates_.top();
            candidates_.pop();
            const int with = split(next, true), without = split(next, false);
            enter(without);
            trees.resize(trees.size() + n_);
            if (const Fault fault = decode(subspace_scores(), &trees[found * n_], single_root_, workspace_))
                return fault;
            if (found + 1 == k) break;
            if (const Fault fault = push(without, found, trees)) return fault;
            if (const Fault fault = push(with, next.tree, trees)) return fault;
        }
        return {};
    }

private:
    // A subspace: its parent, and one more arc that is included or excluded. The first has no parent and no arc.
    struct Split {
        int parent, dependent, column;
        bool included;
    };

    // The second-best tree of a subspace.
    struct Candidate {
        double loss;         // weight of the best tree of all minus weight of this tree
        std::size_t number;  // of the candidate: the lower one comes first in case of a tie
        std::size_t tree;    // number of the best tree of the subspace; this tree lacks its arc (dependent, column)
        int subspace, dependent, column;

        bool operator<(const Candidate& other) const {  // the greatest is taken first
            return loss != other.loss ? loss > other.loss : number > other.number;
        }
    };

    struct Swap {
        double loss = std::numeric_limits<double>::infinity();
        int dependent = NONE, column = NONE;  // the arc that is removed
    };

    std::size_t cells() const { return static_cast<std::size_t>(n_) * columns_; }
    std::size_t at(int row, int column) const { return static_cast<std::size_t>(row) * columns_ + column; }
    Scores<double> subspace_scores() const { return {subspace_.data(), columns_, 1, n_}; }

    int split(const Candidate& candidate, bool included) {
        splits_.push_back({candidate.subspace, candidate.dependent, candidate.column, included});
        return static_cast<int>(splits_.size()) - 1;
    }

    // Writes the scores of a subspace to subspace_; arcs that are not in it are FORBIDDEN.
    void enter(int subspace) {
        subspace_ = base_;
        for (; splits_[subspace].parent != NONE; subspace = splits_[subspace].parent) {
            const Split& split = splits_[subspace];
            double* row = &subspace_[at(split.dependent, 0)];
            if (split.included) {
                const double score = row[split.column];
                std::fill(row, row + columns_, FORBIDDEN);
                row[split.column] = score;
            } else {
                row[split.column] = FORBIDDEN;
            }
        }
    }

    // The weight of one tree minus that of another.
    double loss(const std::int32_t* best, const std::int32_t* heads) const {
        double sum = 0;
        for (int dependent = 0; dependent < n_; ++dependent)
            sum += base_[at(dependent, best[dependent])] - base_[at(dependent, heads[dependent])];
        return sum;
    }

    // Finds the second-best tree of a subspace, if there is one.
    Fault push(int subspace, std::size_t tree, const std::vector<std::int32_t>& trees) {
        const std::int32_t* heads = &trees[tree * n_];
        enter(subspace);
        lay_out(heads);
        Swap swap = with_loops([&](auto loops) { return cheapest_swap(loops); });
        if (single_root_) {
            // The second-best tree may have another root. Then it is the best tree without this root arc.
            const int root = order_[0];
            subspace_[at(root, 0)] = FORBIDDEN;
            const Fault fault = decode(subspace_scores(), other_.data(), true, workspace_);
            if (fault.kind == FaultKind::no_memory) return fault;
            if (!fault) {
                const double cost = loss(heads, other_.data());
                if (cost < swap.loss) swap = {cost, root, 0};
            }
        }
        if (swap.dependent != NONE)
            candidates_.push(
                {loss(trees.data(), heads) + swap.loss, pushed_++, tree, subspace, swap.dependent, swap.column});
        return {};
    }

    // Renumbers the tokens in preorder: the subtree of the token at position p is then the size_[p] positions from p
    // on. Copies the scores of the subspace. The scores of the tree's own arcs go to tree_arc_ instead. With a single
    // root, arcs from ROOT are left out.
    void lay_out(const std::int32_t* heads) {
        std::fill(first_child_.begin(), first_child_.end(), NONE);
        for (int token = n_ - 1; token >= 0; --token) {
            next_sibling_[token] = first_child_[heads[token]];
            first_child_[heads[token]] = token;
        }
        int count = 0;
        for (int token = first_child_[0]; token != NONE;) {
            position_[token] = count;
            order_[count++] = token;
            if (first_child_[token + 1] != NONE) {
                token = first_child_[token + 1];
                continue;
            }
            while (token != NONE && next_sibling_[token] == NONE) token = heads[token] - 1;
            if (token != NONE) token = next_sibling_[token];
        }
        for (int p = n_ - 1; p >= 0; --p) size_[p] = 1;
        for (int p = 0; p < n_; ++p) {
            const std::int32_t head = heads[order_[p]];
            head_[p] = head == 0 ? NONE : position_[head - 1];
        }
        for (int p = n_ - 1; p >= 0; --p)
            if (head_[p] != NONE) size_[head_[p]] += size_[p];

        for (int p = 0; p < n_; ++p) {
            const double* from = &subspace_[at(order_[p], 0)];
            double* to = &preorder_scores_[at(p, 0)];
            to[0] = single_root_ ? FORBIDDEN : from[0];
            for (int q = 0; q < n_; ++q) to[q + 1] = from[order_[q] + 1];
            tree_arc_[p] = from[heads[order_[p]]];
            to[head_[p] + 1] = FORBIDDEN;
        }
    }

    // The cheapest removal of one arc of the tree, with all other changes that it makes necessary. Contracts cycles as
    // in arborescence.hh, but of a tree that is known to be the best. If a node is entered by a better arc from one of
    // its descendants, the node is contracted with all nodes between the two. Afterwards the tree's arc is the best one
    // into the contracted node, and the best arc from outside its subtree is the replacement. Each arc of the tree is
    // looked at once. A node is named by its top position. As in Graph::contract, tree_arc_ and preorder_scores_ are
    // relative to the arcs that were contracted.
    template <class Loops>
    Swap cheapest_swap(Loops) {
        Swap cheapest;
        for (int p = 0; p < n_; ++p) node_[p] = p;
        for (int p = n_ - 1; p >= (single_root_ ? 1 : 0); --p) {
            double* row = &preorder_scores_[at(p, 0)];
            const int below = p + 1, beyond = p + 1 + size_[p];  // columns of the descendants
            const auto best_of = [&](int first, int last) {
                return Loops::best_entry(row + first, last - first, NONE);
            };
            for (;;) {
                const Best<double> best = best_of(below, beyond);
                if (!(best.score > tree_arc_[p])) break;
                for (int column = 0; column < columns_; ++column) row[column] -= best.score;
                tree_arc_[p] -= best.score;
                for (int inner = node_[p + best.column]; inner != p; inner = node_[head_[inner]]) {
                    const double* other = &preorder_scores_[at(inner, 0)];
                    for (int column = 0; column < columns_; ++column)
                        row[column] = std::max(row[column], other[column] - tree_arc_[inner]);
                    for (int q = inner; q < inner + size_[inner]; ++q)
                        if (node_[q] == inner) node_[q] = p;
                }
                for (int q = p; q < beyond - 1; ++q)
                    if (node_[q] == p) row[q + 1] = FORBIDDEN;
            }
            const double other = std::max(best_of(0, below).score, best_of(beyond, columns_).score);
            const double cost = tree_arc_[p] - other;
            if (cost < cheapest.loss) cheapest = {cost, order_[p], head_[p] == NONE ? 0 : order_[head_[p]] + 1};
        }
        return cheapest;
    }

    Workspace& workspace_;
    int n_, columns_;
    bool single_root_;
    std::vector<double> base_, subspace_, preorder_scores_;  // n rows of n+1 columns; self arcs are FORBIDDEN
    std::vector<std::int32_t> other_;
    std::vector<int> order_;     // position -> token
    std::vector<int> position_;  // token -> position
    std::vector<int> size_;      // position -> number of tokens in its subtree
    std::vector<int> head_;      // position -> position of the head, NONE for ROOT
    std::vector<int> node_;      // position -> top position of its node
    std::vector<int> first_child_, next_sibling_;
    std::vector<double> tree_arc_;  // position -> score of the tree's arc into the node
    std::vector<Split> splits_;
    std::priority_queue<Candidate> candidates_;
    std::size_t pushed_ = 0;
};

// Writes the heads of the k best trees, or of all trees if there are fewer, end to end.
inline Fault k_best(const Sentence& sentence, std::size_t k, bool single_root, bool projective,
                    std::vector<std::int32_t>& trees) noexcept try {
    if (projective) return k_best_projective(sentence, k, single_root, trees);
    ThreadWorkspace workspace;
    return sentence.with_scores([&](const auto& scores) {
        std::vector<std::int32_t> best(scores.n);
        if (const Fault fault = decode(scores, best.data(), single_root, *workspace)) return fault;
        return KBest(scores, single_root, *workspace).run(best.data(), k, trees);
    });
} catch (const std::bad_alloc&) {
    return {FaultKind::no_memory, 0, 0};
}

// For each sentence, finds the best single-rooted tree other than the one in `heads`. Writes the scores of the arcs of
// both trees to `own` and `other`, (tokens,), end to end, and whether there is another tree to `found`. Only the scores
// of tokens that differ in their heads are written; those of the rest are 0. Returns a fault if a sentence has no tree.
inline Fault best_others(const Sentence* sentences, std::size_t count, bool projective, double* own, double* other,
                         char* found) noexcept try {
    std::vector<std::int32_t> trees;
    for (std::size_t k = 0; k < count; ++k) {
        const Sentence& sentence = sentences[k];
        const int n = sentence.n;
        found[k] = false;
        std::fill(own, own + n, 0);
        std::fill(other, other + n, 0);
        if (n > 0) {
            if (const Fault fault = k_best(sentence, 2, true, projective, trees)) return fault;
            auto tree = trees.begin();
            while (tree != trees.end() && std::equal(tree, tree + n, sentence.heads)) tree += n;
            found[k] = tree != trees.end();
            if (found[k])
                sentence.with_scores([&](const auto& scores) {
                    for (int i = 0; i < n; ++i)
                        if (tree[i] != sentence.heads[i]) {
                            own[i] = scores.at(i, sentence.heads[i]);
                            other[i] = scores.at(i, tree[i]);
                        }
                });
        }
        own += n;
        other += n;
    }
    return {};
} catch (const std::bad_alloc&) {
    return {FaultKind::no_memory, 0, 0};
}

}  // namespace mindroot
