// Partition function and marginals of the distribution over projective trees (inside-outside on Eisner's chart: Eisner
// 1996, Paskin 2001). O(n^3) time, O(n^2) memory.
//
// The chart is that of projective.hh, with the logarithm of a sum in place of a maximum. Each projective tree has one
// derivation, so that each is counted once. Going down, a span passes its probability on to its parts: a derivation
// with a span splits it at k with the probability exp(left[k] + right[k] - span). Nothing is subtracted from a
// probability, so that nearly all digits of every marginal are right.
#pragma once

#include <algorithm>
#include <vector>

#include "matrix_tree.hh"

namespace mindroot {

class ProjectiveInference {
public:
    // Takes scores relative to the best arc of each token.
    template <class T>
    ProjectiveInference(const Scores<T>& scores, bool single_root)
        : nodes_(scores.n + 1),
          first_(single_root ? 1 : 0),
          right_(cells()),
          left_(cells()),
          arc_(cells(), FORBIDDEN),
          halves_(cells(), FORBIDDEN),
          score_(cells(), FORBIDDEN),
          terms_(nodes_) {
        for (int token = 0; token < scores.n; ++token) {
            double best = FORBIDDEN;
            for (int head = 0; head < nodes_; ++head)
                if (head != token + 1) best = std::max(best, double(scores.at(token, head)));
            for (int head = 0; head < nodes_; ++head)
                if (head != token + 1) score_[at(head, token + 1)] = scores.at(token, head) - best;
            shift_ += best;
        }
        fill();
    }

    // The logarithm of the partition function; -inf if there is no projective tree.
    double log_partition() const { return log_sum_ + shift_; }

    // Writes the probability of each arc, (n, n+1), laid out like the scores. There must be a projective tree.
    void marginals(double* probabilities) {
        std::vector<double> of_right(cells(), 0), of_left(cells(), 0), of_arc(cells(), 0);
        if (first_ == 1) {
            for (int root = 1; root < nodes_; ++root) {
                const double p = std::exp(root_term(root) - log_sum_);
                of_arc[at(0, root)] = of_left[at(1, root)] = of_right[at(root, nodes_ - 1)] = p;
            }
        } else {
            of_right[at(0, nodes_ - 1)] = 1;
        }
        for (int length = nodes_ - 1 - first_; length > 0; --length)
            for (int i = first_, j = i + length; j < nodes_; ++i, ++j) {
                pass_on(of_right[at(i, j)], right_[at(i, j)], j - i, &arc_[at(i, i + 1)], 1, &right_[at(i + 1, j)],
                        nodes_, &of_arc[at(i, i + 1)], &of_right[at(i + 1, j)]);
                pass_on(of_left[at(i, j)], left_[at(i, j)], j - i, &arc_[at(j, i)], 1, &left_[at(i, i)], 1,
                        &of_arc[at(j, i)], &of_left[at(i, i)]);
                pass_on(of_arc[at(i, j)] + of_arc[at(j, i)], halves_[at(i, j)], j - i, &right_[at(i, i)], 1,
                        &left_[at(i + 1, j)], nodes_, &of_right[at(i, i)], &of_left[at(i + 1, j)]);
            }
        for (int token = 1; token < nodes_; ++token) {
            double* const row = probabilities + std::size_t(token - 1) * nodes_;
            double sum = 0;
            for (int head = 0; head < nodes_; ++head) sum += row[head] = head == token ? 0 : of_arc[at(head, token)];
            for (int head = 0; head < nodes_; ++head) row[head] /= sum;
        }
    }

private:
    std::size_t cells() const { return static_cast<std::size_t>(nodes_) * nodes_; }
    std::size_t at(int i, int j) const { return static_cast<std::size_t>(i) * nodes_ + j; }

    void fill() {
        for (int j = first_; j < nodes_; ++j) {
            right_[at(j, j)] = left_[at(j, j)] = 0;
            for (int i = j - 1; i >= first_; --i) {
                const double halves = log_sum(&right_[at(i, i)], 1, &left_[at(i + 1, j)], nodes_, j - i);
                halves_[at(i, j)] = halves;
                arc_[at(i, j)] = halves + score_[at(i, j)];
                arc_[at(j, i)] = halves + score_[at(j, i)];
                right_[at(i, j)] = log_sum(&arc_[at(i, i + 1)], 1, &right_[at(i + 1, j)], nodes_, j - i);
                left_[at(i, j)] = log_sum(&arc_[at(j, i)], 1, &left_[at(i, i)], 1, j - i);
            }
        }
        if (first_ == 0) {
            log_sum_ = right_[at(0, nodes_ - 1)];
            return;
        }
        for (int root = 1; root < nodes_; ++root) terms_[root - 1] = root_term(root);
        log_sum_ = log_sum_of_terms(nodes_ - 1);
    }

    double root_term(int root) const { return left_[at(1, root)] + right_[at(root, nodes_ - 1)] + score_[at(0, root)]; }

    // The logarithm of the sum of exp(one[k] + other[k]) over `size` entries with these strides.
    double log_sum(const double* one, int one_stride, const double* other, int other_stride, int size) {
        for (int k = 0; k < size; ++k)
            terms_[k] = one[std::size_t(k) * one_stride] + other[std::size_t(k) * other_stride];
        return log_sum_of_terms(size);
    }

    double log_sum_of_terms(int size) {
        const double greatest = *std::max_element(terms_.begin(), terms_.begin() + size);
        if (greatest == FORBIDDEN) return FORBIDDEN;
        for (int k = 0; k < size; ++k) terms_[k] -= greatest;
        exp_all(terms_.data(), size);
        double sum = 0;
        for (int k = 0; k < size; ++k) sum += terms_[k];
        return greatest + std::log(sum);
    }

    // Divides the probability p of a span among its splits: adds that of split k to both of its parts.
    void pass_on(double p, double span, int size, const double* one, int one_stride, const double* other,
                 int other_stride, double* of_one, double* of_other) {
        if (p == 0) return;
        for (int k = 0; k < size; ++k)
            terms_[k] = one[std::size_t(k) * one_stride] + other[std::size_t(k) * other_stride] - span;
        exp_all(terms_.data(), size);
        for (int k = 0; k < size; ++k) {
            of_one[std::size_t(k) * one_stride] += p * terms_[k];
            of_other[std::size_t(k) * other_stride] += p * terms_[k];
        }
    }

    int nodes_, first_;  // nodes are 0 = ROOT, which is not in the chart of single-rooted trees, and the tokens
    // Logarithms, [i][j] for i <= j. right_: i with descendants up to j; left_: j with descendants down to i; halves_:
    // the right half of i and the left half of j, which meet.
    std::vector<double> right_, left_;
    std::vector<double> arc_;  // [head][dependent]: an arc, and the halves between the two
    std::vector<double> halves_;
    std::vector<double> score_;  // [head][dependent], relative to the best arc of the dependent
    std::vector<double> terms_;
    double log_sum_ = FORBIDDEN, shift_ = 0;
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
