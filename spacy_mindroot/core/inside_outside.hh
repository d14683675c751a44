// Partition function and marginals of the distribution over projective trees (inside-outside on Eisner's chart: Eisner
// 1996, Paskin 2001). O(n^3) time, O(n^2) memory.
//
// The chart is that of projective.hh, with the logarithm of a sum in place of a maximum. Each projective tree has one
// derivation, so that each is counted once. Going down, a span passes its probability on to the parts of its splits.
// Nothing is subtracted from a probability, so that nearly all digits of every marginal are right.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "matrix_tree.hh"
#include "projective.hh"

namespace mindroot {

// Takes the place of the loops that find the greatest entry.
struct SumOfAll {
    // Returns the logarithm of the sum of all exp(entry). The entries are lost.
    static Best<double> best_entry(double* entries, int size, int) {
        const double greatest = *std::max_element(entries, entries + size);
        if (greatest == FORBIDDEN) return {};
        for (int k = 0; k < size; ++k) entries[k] -= greatest;
        exp_all(entries, size);
        return {greatest + std::log(std::accumulate(entries, entries + size, 0.0)), 0};
    }
};

class ProjectiveInference : Chart<SumOfAll> {
public:
    template <class T>
    ProjectiveInference(const Scores<T>& scores, bool single_root)
        : Chart(scores.n, single_root), halves_(cells_), of_complete_(cells_), of_incomplete_(cells_) {
        std::vector<std::int32_t> best(scores.n);
        greedy_graph(scores, best.data());
        fill(scores, best.data(), 1, [&](int i, int j, double score) { halves_[at(i, j)] = score; });
        total_ = best_split(whole()).score;
        for (int token = 0; token < scores.n; ++token) shift_ += scores.at(token, best[token]);
    }

    // The logarithm of the partition function; -inf if there is no projective tree.
    double log_partition() const { return total_ + shift_; }

    // Writes the probability of each arc, (n, n+1), laid out like the scores. There must be a projective tree.
    void marginals(double* probabilities) {
        if (first_ == 1)
            pass_on(whole(), 1, total_);
        else
            of_complete_[at(0, nodes_ - 1)] = 1;
        for (int length = nodes_ - 1 - first_; length > 0; --length)
            for (int i = first_, j = i + length; j < nodes_; ++i, ++j) {
                pass_on({true, i, j}, of_complete_[at(i, j)], score({true, i, j}));
                pass_on({true, j, i}, of_complete_[at(j, i)], score({true, j, i}));
                pass_on({false, i, j}, of_incomplete_[at(i, j)] + of_incomplete_[at(j, i)], halves_[at(i, j)]);
            }
        for (int token = 1; token < nodes_; ++token) {
            double* const row = probabilities + std::size_t(token - 1) * nodes_;
            double sum = 0;
            for (int head = 0; head < nodes_; ++head)
                sum += row[head] = head == token ? 0 : of_incomplete_[at(head, token)];
            for (int head = 0; head < nodes_; ++head) row[head] /= sum;
        }
    }

private:
    double* probability(const Span& span) {
        return &(span.complete ? of_complete_ : of_incomplete_)[at(span.head, span.end)];
    }

    // Divides the probability p of a span of this score among its splits: adds that of a split to both of its parts.
    void pass_on(const Span& span, double p, double score) {
        if (p == 0) return;
        const int size = splits(span), first = first_split(span);
        double* const shares = sums(span);
        for (int k = 0; k < size; ++k) shares[k] -= score;
        exp_all(shares, size);
        const auto [one, other] = parts(span, first);
        double *to = probability(one), *to_other = probability(other);
        const int step = span.head == NONE ? nodes_ : 1, other_step = span.complete ? nodes_ : 1;
        for (int k = 0; k < size; ++k, to += step, to_other += other_step) {
            *to += p * shares[k];
            *to_other += p * shares[k];
        }
        if (span.head == NONE) std::copy(shares, shares + size, &of_incomplete_[at(0, first)]);
    }

    std::vector<double> halves_;                       // [i][j]: the score of what is between two nodes
    std::vector<double> of_complete_, of_incomplete_;  // [head][end]: the probability of each span
    double total_, shift_ = 0;                         // of the relative scores; what they are relative to
};

// Returns the logarithm of the partition function over the trees of a kind, -inf if there is none that is projective.
// Writes the probability of each arc to `marginals`, (n, n+1), unless it is null or there is no tree.
template <class T>
double log_partition(const Scores<T>& scores, bool single_root, bool projective, double* marginals) {
    if (!projective) return matrix_tree(scores, single_root, marginals);
    ProjectiveInference inference(scores, single_root);
    const double found = inference.log_partition();
    if (marginals && found != FORBIDDEN) inference.marginals(marginals);
    return found;
}

}  // namespace mindroot
