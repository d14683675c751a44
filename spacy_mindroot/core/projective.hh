// The best projective tree (Eisner 1996): O(n^3) time, O(n^2) memory. For a single root, the best left and right halves
// of each possible root are joined at the end. For any number of roots, ROOT is a token to the left of all others. Also
// decodes batches, of either kind of tree.
#pragma once

#include <vector>

#include "decode.hh"
#include "parallel.hh"

namespace mindroot {

// Whether each subtree of a tree covers consecutive tokens. O(n * depth).
inline bool is_projective(const std::int32_t* heads, int n) {
    std::vector<int> first(n, n), last(n, -1), size(n, 0);
    for (int token = 0; token < n; ++token)
        for (int above = token; above >= 0; above = heads[above] - 1) {
            first[above] = std::min(first[above], token);
            last[above] = std::max(last[above], token);
            ++size[above];
        }
    for (int token = 0; token < n; ++token)
        if (last[token] - first[token] + 1 != size[token]) return false;
    return true;
}

// The chart. Nodes are 0 = ROOT and the tokens from 1 on. A complete span is a head with its descendants on one side.
// An incomplete span runs from a head to one of its dependents, and lacks the descendants on the far side of the
// dependent. Each table holds a span twice, at [i][j] and [j][i], so that every loop runs along rows.
template <class Loops>
class Chart {
public:
    Chart(int n, bool single_root)
        : nodes_(n + 1),
          first_(single_root ? 1 : 0),
          cells_(static_cast<std::size_t>(nodes_) * nodes_),
          right_(cells_),
          left_(cells_),
          arc_(cells_),
          sums_(nodes_) {}

    // `best_heads` is the greedy graph. Scores are taken relative to the best score of their row.
    template <class T>
    void fill(const Scores<T>& scores, const std::int32_t* best_heads) {
        const double scale = safe_scale(scores);
        const auto score = [&](int dependent, int head) -> double {
            if (dependent == 0) return FORBIDDEN;
            return scale * scores.at(dependent - 1, head) - scale * scores.at(dependent - 1, best_heads[dependent - 1]);
        };
        for (int j = first_ + 1; j < nodes_; ++j)
            for (int i = j - 1; i >= first_; --i) {
                const double halves = split(i, j).score;
                arc_[at(i, j)] = halves + score(j, i);
                arc_[at(j, i)] = halves + score(i, j);
                right_[at(i, j)] = right_[at(j, i)] = split_right(i, j).score;
                left_[at(i, j)] = left_[at(j, i)] = split_left(i, j).score;
            }
        if (first_ == 1) {
            for (int root = 1; root < nodes_; ++root)
                sums_[root] = left_[at(1, root)] + right_[at(root, nodes_ - 1)] + score(root, 0);
            const int root = Loops::best_entry(&sums_[1], nodes_ - 1, NONE).column;
            root_ = root == NONE ? NONE : root + 1;
        } else {
            root_ = right_[at(0, nodes_ - 1)] == FORBIDDEN ? NONE : 0;
        }
    }

    bool has_tree() const { return root_ != NONE; }

    // Reads the best tree off the chart. Splits are found again rather than stored.
    void read(std::int32_t* heads) {
        enum Kind { COMPLETE, INCOMPLETE };
        struct Span {
            Kind kind;
            int head, end;
        };
        std::vector<Span> open{{COMPLETE, root_, nodes_ - 1}};
        if (root_ > 0) {
            heads[root_ - 1] = 0;
            open.push_back({COMPLETE, root_, 1});
        }
        while (!open.empty()) {
            const auto [kind, head, end] = open.back();
            open.pop_back();
            if (head == end) continue;
            if (kind == INCOMPLETE) {
                heads[end - 1] = head;
                const int i = std::min(head, end), j = std::max(head, end), k = i + split(i, j).column;
                open.push_back({COMPLETE, i, k});
                open.push_back({COMPLETE, j, k + 1});
            } else {
                const int dependent =
                    head < end ? head + 1 + split_right(head, end).column : end + split_left(end, head).column;
                open.push_back({INCOMPLETE, head, dependent});
                open.push_back({COMPLETE, dependent, end});
            }
        }
    }

private:
    std::size_t at(int i, int j) const { return static_cast<std::size_t>(i) * nodes_ + j; }

    // The best of left[k] + right[k]; the lowest k in case of a tie.
    Best<double> best_sum(const double* left, const double* right, int size) {
        for (int k = 0; k < size; ++k) sums_[k] = left[k] + right[k];
        return Loops::best_entry(sums_.data(), size, NONE);
    }

    // The best split of an arc between i and j: the right half of i ends at k, the left half of j begins at k+1.
    Best<double> split(int i, int j) { return best_sum(&right_[at(i, i)], &left_[at(j, i + 1)], j - i); }

    // The best split of the descendants of i up to j: an arc from i to k, and the right half of k.
    Best<double> split_right(int i, int j) { return best_sum(&arc_[at(i, i + 1)], &right_[at(j, i + 1)], j - i); }

    // The best split of the descendants of j down to i: the left half of k, and an arc from j to k.
    Best<double> split_left(int i, int j) { return best_sum(&left_[at(i, i)], &arc_[at(j, i)], j - i); }

    int nodes_, first_;
    std::size_t cells_;
    std::vector<double> right_, left_;  // complete spans; the head is the first node of right_, the last of left_
    std::vector<double> arc_;           // [head][dependent]: incomplete spans
    std::vector<double> sums_;
    int root_ = NONE;  // the node whose complete spans make up the tree
};

// Writes the heads (0 = ROOT) of the best projective tree, single-rooted or not. They are undefined after a fault.
inline Fault decode_projective(const Sentence& sentence, bool single_root) noexcept try {
    const int n = sentence.n;
    if (n == 0) return {};
    if (const Fault fault = greedy_graph(sentence)) return fault;
    std::vector<int> room(n + 1);
    if (is_tree(sentence.heads, n, room.data()) && (!single_root || count_roots(sentence.heads, n) == 1) &&
        is_projective(sentence.heads, n))
        return {};

    const bool found = with_loops([&](auto loops) {
        Chart<decltype(loops)> chart(n, single_root);
        sentence.with_scores([&](const auto& scores) {
            chart.fill(scores, sentence.heads);
            return Fault();
        });
        if (chart.has_tree()) chart.read(sentence.heads);
        return chart.has_tree();
    });
    if (found) return {};
    if (const Fault fault = decode_sentence(sentence, single_root)) return fault;
    return {FaultKind::no_projective, 0, 0};
} catch (const std::bad_alloc&) {
    return {FaultKind::no_memory, 0, 0};
}

inline Fault decode_sentence(const Sentence& sentence, bool single_root, bool projective) noexcept {
    return projective ? decode_projective(sentence, single_root) : decode_sentence(sentence, single_root);
}

// Writes the fault of sentence k, or none, to faults[k]. Returns the number of faults.
inline std::size_t decode_batch(const Sentence* sentences, std::size_t count, bool single_root, bool projective,
                                int n_threads, Fault* faults) noexcept {
    in_parallel(count, n_threads,
                [&](std::size_t k) { faults[k] = decode_sentence(sentences[k], single_root, projective); });
    return count - std::count_if(faults, faults + count, [](const Fault& fault) { return !fault; });
}

}  // namespace mindroot
