// Forbids arcs that are masked with large finite numbers instead of -inf.
//
// Where such numbers take part in a sum of logarithms, they leave no digits of the scores of other arcs. So they must
// not take part, unless every tree needs one of them.
#pragma once

#include <cmath>
#include <vector>

#include "projective.hh"

namespace mindroot {

constexpr double MASKED = -5000;  // the score of an arc, relative to the best one of its token, that may be a mask

// Forbids the arcs of a matrix (n, n+1), end to end, whose score relative to the best one of the token is below
// `masked`, if all trees with any of them together have less than the smallest double of the probability.
//
// With the best arc of each token at 0, and the best of those from ROOT, which every tree needs, shifted to 0 as well,
// no tree weighs more than any of its arcs, and all trees with an arc together weigh less than exp(arc + n log(n+1)).
inline void forbid_masks(double* cells, int n, bool single_root, bool projective, double masked) {
    const std::ptrdiff_t columns = n + 1;
    std::vector<double> relative(cells, cells + n * columns);
    std::vector<std::int32_t> heads(n);
    double best_root = FORBIDDEN;
    for (int i = 0; i < n; ++i) {
        double* const row = &relative[i * columns];
        row[i + 1] = FORBIDDEN;
        const double best = *std::max_element(row, row + columns);
        for (int j = 0; j <= n; ++j) row[j] -= best;
        best_root = std::max(best_root, row[0]);
    }
    const Sentence sentence{relative.data(), columns, 1, n, true, heads.data()};
    if (decode_sentence(sentence, single_root, projective)) return;
    for (int i = 0; i < n; ++i) relative[i * columns] -= best_root;
    double weight = best_root * (count_roots(heads.data(), n) - 1);
    for (int i = 0; i < n; ++i) weight += relative[i * columns + heads[i]];
    const double least = std::min(masked, weight - 745 - n * std::log(double(columns)));
    for (std::ptrdiff_t c = 0; c < n * columns; ++c)
        if (relative[c] < least) cells[c] = FORBIDDEN;
}

}  // namespace mindroot
