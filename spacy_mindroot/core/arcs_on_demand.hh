// Which arcs need the scores of their labels, if few may do.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "decode.hh"

namespace mindroot {

// The arcs whose labels have to be scored. No label adds to the score of an arc: their scores are at most 0.
class ArcsOnDemand {
public:
    std::vector<std::int64_t> dependents, heads;  // of the arcs to score next: tokens from 0; heads, 0 = ROOT
    std::vector<std::int64_t> cells;              // of all arcs so far, token * (n + 1) + head

    // Takes the arcs of the best tree, and those that are at most by `within` worse than the best one of their token.
    // Returns false if there is no tree.
    bool begin(const double* arcs, int n, double within) {
        arcs_ = arcs;
        n_ = n;
        std::vector<std::int32_t> tree(n);
        if (decode_sentence({arcs, n + 1, 1, n, true, tree.data()}, true)) return false;
        taken_.assign(std::size_t(n) * (n + 1), 0);
        rest_.resize(n);
        for (int token = 0; token < n; ++token) {
            const double* row = arcs + std::size_t(token) * (n + 1);
            const double most = with_loops([&](auto loops) { return loops.best_entry(row, n + 1, token + 1); }).score;
            take(token, [&](int head) { return row[head] >= most - within || head == tree[token]; });
        }
        return true;
    }

    // Whether no label adds to the score of an arc. `best` are the scores of the arcs so far with their best labels.
    bool bounded(const double* best) const {
        for (std::size_t k = 0; k < cells.size(); ++k)
            if (!(best[k] <= arcs_[cells[k]])) return false;
        return true;
    }

    // Takes all further arcs that can be in a tree of at least this weight. Returns false if there are none.
    bool extend(const double* best, double weight) {
        std::vector<double> most(n_, FORBIDDEN);
        for (std::size_t k = 0; k < cells.size(); ++k) {
            double& own = most[cells[k] / (n_ + 1)];
            own = std::max(own, best[k]);
        }
        double bound = 0;
        for (int token = 0; token < n_; ++token) bound += most[token] = std::max(most[token], rest_[token]);
        dependents.clear();
        heads.clear();
        const double least = weight - 1e-9 * (1 + std::fabs(weight));
        for (int token = 0; token < n_; ++token) {
            const double others = bound - most[token], *row = arcs_ + std::size_t(token) * (n_ + 1);
            if (!(others + rest_[token] >= least)) continue;
            take(token, [&](int head) { return others + row[head] >= least; });
        }
        return !heads.empty();
    }

private:
    // Takes the arcs to a token from wanted heads, and keeps the best score of the rest.
    template <class Wanted>
    void take(int token, const Wanted& wanted) {
        rest_[token] = FORBIDDEN;
        for (int head = 0; head <= n_; ++head) {
            const std::size_t cell = std::size_t(token) * (n_ + 1) + head;
            if (head == token + 1 || taken_[cell]) continue;
            if (arcs_[cell] > FORBIDDEN && wanted(head)) {
                taken_[cell] = 1;
                dependents.push_back(token);
                heads.push_back(head);
                cells.push_back(static_cast<std::int64_t>(cell));
            } else {
                rest_[token] = std::max(rest_[token], arcs_[cell]);
            }
        }
    }

    const double* arcs_;
    int n_;
    std::vector<std::uint8_t> taken_;
    std::vector<double> rest_;  // the best score of the arcs of each token that are not taken
};

}  // namespace mindroot
