// The best projective tree (Eisner 1996): O(n^3) time, O(n^2) memory. For a single root, the best left and right halves
// of each possible root are joined at the end. For any number of roots, ROOT is a token to the left of all others. Also
// decodes batches, of either kind of tree.
#pragma once

#include <array>
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

// A part of a projective tree. Nodes are 0 = ROOT and the tokens from 1 on. A complete span is a head with its
// descendants on one side, up to `end`. An incomplete span runs from a head to `end`, one of its dependents, and lacks
// the descendants on the far side of the dependent. The whole tree has the head NONE.
struct Span {
    bool complete;
    int head, end;
};

// The chart: the score of the best derivation of each span, or whatever Loops::best_entry makes of their scores. Each
// table holds a span twice, at [i][j] and [j][i], so that every loop runs along rows.
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
          roots_(nodes_),
          sums_(nodes_) {}

    // `best_heads` is the greedy graph. Scores are multiplied by `scale`, and taken relative to the best of their row.
    // Calls keep(i, j, score) for each pair of nodes with the score of what is between them.
    template <class T, class Keep>
    void fill(const Scores<T>& scores, const std::int32_t* best_heads, double scale, const Keep& keep) {
        const auto score = [&](int dependent, int head) -> double {
            if (dependent == 0) return FORBIDDEN;
            return scale * scores.at(dependent - 1, head) - scale * scores.at(dependent - 1, best_heads[dependent - 1]);
        };
        for (int j = first_ + 1; j < nodes_; ++j)
            for (int i = j - 1; i >= first_; --i) {
                const double halves = best_split({false, i, j}).score;
                keep(i, j, halves);
                arc_[at(i, j)] = halves + score(j, i);
                arc_[at(j, i)] = halves + score(i, j);
                right_[at(i, j)] = right_[at(j, i)] = best_split({true, i, j}).score;
                left_[at(i, j)] = left_[at(j, i)] = best_split({true, j, i}).score;
            }
        for (int root = 1; first_ == 1 && root < nodes_; ++root)
            roots_[root] = left_[at(1, root)] + right_[at(root, nodes_ - 1)] + score(root, 0);
    }

    template <class T>
    void fill(const Scores<T>& scores, const std::int32_t* best_heads) {
        fill(scores, best_heads, safe_scale(scores), [](int, int, double) {});
    }

    bool has_tree() { return best_split(whole()).column != NONE; }

    // Reads the best tree off the chart. Splits are found again rather than stored.
    void read(std::int32_t* heads) {
        std::vector<Span> open{whole()};
        while (!open.empty()) {
            const Span span = open.back();
            open.pop_back();
            if (span.head == span.end) continue;
            const int split = first_split(span) + best_split(span).column;
            set_head(heads, span, split);
            for (const Span& part : parts(span, split)) open.push_back(part);
        }
    }

protected:
    std::size_t at(int i, int j) const { return static_cast<std::size_t>(i) * nodes_ + j; }

    // With any number of roots, ROOT is a token to the left of all others.
    Span whole() const { return {true, first_ == 1 ? NONE : 0, nodes_ - 1}; }

    // A span is split at one of consecutive nodes. At k, an incomplete span between i and j consists of the right half
    // of i up to k, and the left half of j from k + 1 on; a complete one, of the arc from its head to k, and the half
    // of k on the far side; the whole tree, of the halves of its root k.
    int first_split(const Span& span) const {
        if (span.head == NONE) return 1;
        return std::min(span.head, span.end) + (span.complete && span.head < span.end);
    }
    int splits(const Span& span) const { return span.head == NONE ? nodes_ - 1 : std::abs(span.head - span.end); }

    std::array<Span, 2> parts(const Span& span, int k) const {
        if (span.head == NONE) return {Span{true, k, 1}, Span{true, k, nodes_ - 1}};
        if (span.complete) return {Span{false, span.head, k}, Span{true, k, span.end}};
        return {Span{true, std::min(span.head, span.end), k}, Span{true, std::max(span.head, span.end), k + 1}};
    }

    // Writes the head that a span, split at k, gives to a token.
    void set_head(std::int32_t* heads, const Span& span, int k) const {
        if (span.head == NONE) heads[k - 1] = 0;
        if (!span.complete) heads[span.end - 1] = span.head;
    }

    // The scores of all splits, without the score of the span's own arc. They are valid until the next call.
    MINDROOT_INLINE double* sums(const Span& span) {
        if (span.head == NONE) {
            std::copy(roots_.begin() + 1, roots_.end(), sums_.begin());
            return sums_.data();
        }
        const int i = std::min(span.head, span.end), j = std::max(span.head, span.end);
        if (!span.complete) return add(&right_[at(i, i)], &left_[at(j, i + 1)], j - i);
        if (span.head == i) return add(&arc_[at(i, i + 1)], &right_[at(j, i + 1)], j - i);
        return add(&left_[at(i, i)], &arc_[at(j, i)], j - i);
    }

    // The score of a complete span.
    double score(const Span& span) const {
        return span.head < span.end ? right_[at(span.head, span.end)] : left_[at(span.head, span.end)];
    }

    // The score and the place of the best split; the first one in case of a tie.
    MINDROOT_INLINE Best<double> best_split(const Span& span) {
        return Loops::best_entry(sums(span), splits(span), NONE);
    }

    int nodes_, first_;
    std::size_t cells_;

private:
    double* add(const double* left, const double* right, int size) {
        for (int k = 0; k < size; ++k) sums_[k] = left[k] + right[k];
        return sums_.data();
    }

    std::vector<double> right_, left_;  // complete spans; the head is the first node of right_, the last of left_
    std::vector<double> arc_;           // [head][dependent]: incomplete spans
    std::vector<double> roots_;         // of the whole tree with each root, if there is a single root
    std::vector<double> sums_;
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
        sentence.with_scores([&](const auto& scores) { chart.fill(scores, sentence.heads); });
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
