// The probability of a given tree and of its heads, for many sentences in one call.
//
// The distribution is a mixture of two: the trees in proportion to exp(weight / temperature), and, with probability
// `lapse`, all allowed trees alike. Masked arcs (masks.hh) are not allowed. A lapse of 0 and a temperature of 1 is the
// distribution of matrix_tree.hh, or, for projective trees, that of inside_outside.hh.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "decode.hh"
#include "inside_outside.hh"

namespace mindroot {

struct Mixture {
    double temperature, lapse;
    bool projective;
};

// One per thread, reused across sentences.
struct ConfidenceWorkspace {
    Buffer<double> relative, marginals, uniform;
};

// The logarithm of the number of allowed trees with a single root, and the share of them that each arc is in, which is
// written to `marginals`, (n, n+1). `relative` is -inf where an arc is forbidden. Without such arcs there are n^(n-1)
// trees, and an arc from ROOT is in as many of them as any other arc.
inline double count_trees(const double* relative, int n, bool projective, double* marginals) {
    const std::size_t columns = n + 1;
    bool all_allowed = true;
    for (int i = 0; i < n; ++i)
        for (std::size_t j = 0; j < columns; ++j) {
            const bool is_self = j == std::size_t(i) + 1, allowed = relative[i * columns + j] != FORBIDDEN;
            all_allowed &= allowed || is_self;
            marginals[i * columns + j] = is_self ? 0 : 1.0 / n;
        }
    if (all_allowed && !projective) return (n - 1) * std::log(double(n));
    std::vector<double> weights(n * columns);
    for (std::size_t c = 0; c < weights.size(); ++c) weights[c] = relative[c] == FORBIDDEN ? FORBIDDEN : 0;
    return log_partition(Scores<double>{weights.data(), std::ptrdiff_t(columns), 1, n}, true, projective, marginals);
}

// Writes the probability of each head of a tree and the entropy of the head of each token, and returns the
// log-probability of the tree. Writes the probability of each arc to `all`, (n, n+1), unless it is null. There must be
// a single-rooted tree, without crossing arcs if only such trees count; so must be the given one. No score may be
// beyond 2^1000.
template <class T>
double confidence(const Scores<T>& scores, const std::int32_t* heads, const Mixture& mixture,
                  ConfidenceWorkspace& workspace, double* head_prob, double* head_entropy, double* all) {
    const int n = scores.n;
    if (n == 0) return 0;
    const std::size_t columns = n + 1;
    double* const relative = workspace.relative.reserve(n * columns);
    double* const marginals = all ? all : workspace.marginals.reserve(n * columns);
    double weight = 0;
    const double masked = MASKED / mixture.temperature;
    bool has_masks = false;
    for (int i = 0; i < n; ++i) {
        double* const row = relative + i * columns;
        double best = FORBIDDEN;
        for (int j = 0; j <= n; ++j) {
            row[j] = j == i + 1 ? FORBIDDEN : double(scores.at(i, j));
            best = std::max(best, row[j]);
        }
        for (int j = 0; j <= n; ++j) {
            row[j] = (row[j] - best) / mixture.temperature;  // so that nothing large cancels
            has_masks |= (row[j] < masked) & (row[j] != FORBIDDEN);
        }
        weight += row[heads[i]];
    }
    if (mixture.lapse > 0 && has_masks) forbid_masks(relative, n, true, mixture.projective, masked);
    bool is_allowed = true;
    for (int i = 0; i < n; ++i) is_allowed &= relative[i * columns + heads[i]] != FORBIDDEN;
    const Scores<double> tempered{relative, std::ptrdiff_t(columns), 1, n};
    double logprob = std::min(0.0, weight - log_partition(tempered, true, mixture.projective, marginals));
    if (mixture.lapse > 0) {
        double* const uniform = workspace.uniform.reserve(n * columns);
        const double log_count = count_trees(relative, n, mixture.projective, uniform);
        for (std::size_t c = 0; c < n * columns; ++c)
            marginals[c] = (1 - mixture.lapse) * marginals[c] + mixture.lapse * uniform[c];
        logprob += std::log1p(-mixture.lapse);
        if (is_allowed) logprob = std::min(0.0, Logarithmic::add(logprob, std::log(mixture.lapse) - log_count));
    }
    double* const terms = relative;  // no longer needed
    entropy_terms(marginals, terms, n * columns);
    for (int i = 0; i < n; ++i) {
        const double* const row = marginals + i * columns;
        head_prob[i] = row[heads[i]];
        double entropy = 0;
        for (int j = 0; j <= n; ++j) entropy += terms[i * columns + j];
        head_entropy[i] = std::max(0.0, entropy);
    }
    return logprob;
}

// For each sentence as above, with its tree in `heads`. Results of all sentences are written end to end; `all` holds
// one pointer per sentence, or is null.
inline void confidence_batch(const Sentence* sentences, std::size_t count, const Mixture& mixture, double* head_prob,
                             double* head_entropy, double* tree_logprob, double* const* all) {
    ConfidenceWorkspace workspace;
    for (std::size_t k = 0; k < count; ++k) {
        const Sentence& sentence = sentences[k];
        sentence.with_scores([&](const auto& scores) {
            tree_logprob[k] =
                confidence(scores, sentence.heads, mixture, workspace, head_prob, head_entropy, all ? all[k] : nullptr);
        });
        head_prob += sentence.n;
        head_entropy += sentence.n;
    }
}

}  // namespace mindroot
