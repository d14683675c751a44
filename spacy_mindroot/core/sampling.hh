// Samples trees in proportion to their probability: Wilson's algorithm (1996) or, where its walks take too long, a
// method whose time is bounded.
//
// Wilson: from each token in turn, walk at random from dependent to head until the walk meets the tree so far. The walk
// without its loops joins the tree. The length of the walks is independent of the tree they end in (Propp and Wilson
// 1998), so giving up after a fixed number of steps and starting over favours no tree.
//
// The other method draws one head after another, each given the heads drawn before. It uses the elimination by halves
// of matrix_tree.hh: the tokens of the first half have their heads when they are eliminated for the second. O(n^3).
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "matrix_tree.hh"

namespace mindroot {

using Random = std::mt19937_64;

// A number in [0, 1), the same on all platforms.
inline double uniform(Random& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

// Samples trees with any number of roots or, given a `root`, trees whose only root it is.
class TreeSampler {
public:
    template <class T>
    TreeSampler(const Scores<T>& scores, int root)
        : n_(scores.n), scores_(std::size_t(n_) * (n_ + 1), FORBIDDEN), sums_(scores_.size()) {
        for (int i = 0; i < n_; ++i)
            for (int column = root == NONE ? 0 : 1; column <= n_; ++column)
                if (column != i + 1 && i != root) row(i)[column] = scores.at(i, column);
        if (root != NONE) row(root)[0] = 0;
        for (int i = 0; i < n_; ++i) {
            const double best = *std::max_element(row(i), row(i) + n_ + 1);
            double sum = 0;
            for (int column = 0; column <= n_; ++column) {
                row(i)[column] -= best;
                sums_[std::size_t(i) * (n_ + 1) + column] = sum += std::exp(row(i)[column]);
            }
        }
    }

    // Writes the heads of one tree, 0 = ROOT. There must be a tree.
    void sample(Random& random, std::int32_t* heads) {
        if (!walk(random, heads)) draw(random, heads);
    }

private:
    double* row(int dependent) { return scores_.data() + std::size_t(dependent) * (n_ + 1); }

    bool walk(Random& random, std::int32_t* heads) {
        double steps = 1000 + double(n_) * n_ * n_;  // takes about as long as the other method
        std::vector<char> in_tree(n_ + 1);
        in_tree[0] = true;
        for (int token = 1; token <= n_; ++token) {
            for (int at = token; !in_tree[at]; at = heads[at - 1]) {
                if (--steps < 0) return false;
                const double* const sums = sums_.data() + std::size_t(at - 1) * (n_ + 1);
                const double threshold = uniform(random) * sums[n_];
                heads[at - 1] = static_cast<std::int32_t>(std::upper_bound(sums, sums + n_, threshold) - sums);
            }
            for (int at = token; !in_tree[at]; at = heads[at - 1]) in_tree[at] = true;
        }
        return true;
    }

    void draw(Random& random, std::int32_t* heads) {
        Part<Logarithmic> part(n_, false);
        for (int i = 0; i < n_; ++i)
            for (int column = 0; column <= n_; ++column) part.arc(i, column) = row(i)[column];
        std::vector<double> sums(n_ + 1);
        part.assign(
            [&](int d, const double* escape) {
                double sum = 0;
                for (int column = 0; column <= n_; ++column) {
                    const double path = column == 0 ? 0 : escape[column - 1];
                    sums[column] = sum += std::exp(row(d)[column] + path - escape[d]);
                }
                return static_cast<int>(std::upper_bound(sums.data(), sums.data() + n_, uniform(random) * sum) -
                                        sums.data());
            },
            heads);
    }

    const int n_;
    std::vector<double> scores_, sums_;
};

// Writes `size` trees to `heads`, (size, n). `roots`, (size,), holds the only root of each; null for any number of
// roots.
template <class T>
void sample_trees(const Scores<T>& scores, const std::int32_t* roots, std::size_t size, std::uint64_t seed,
                  std::int32_t* heads) {
    Random random(seed);
    if (roots == nullptr) {
        TreeSampler sampler(scores, NONE);
        for (std::size_t k = 0; k < size; ++k) sampler.sample(random, heads + k * scores.n);
        return;
    }
    std::vector<std::vector<std::size_t>> with_root(scores.n);
    for (std::size_t k = 0; k < size; ++k) with_root[roots[k]].push_back(k);
    for (int root = 0; root < scores.n; ++root) {
        if (with_root[root].empty()) continue;
        TreeSampler sampler(scores, root);
        for (const std::size_t k : with_root[root]) sampler.sample(random, heads + k * scores.n);
    }
}

}  // namespace mindroot
