// The best division of a text into sentences, each with a single-rooted tree of its own: a dynamic program over the
// places where a sentence may begin. The score of a sentence is the evidence that one begins at its first token, plus
// the weight of its best tree or the logarithm of its partition function.
//
// Trees are computed lazily. A bound on the score of a sentence takes constant time: each of its tokens but one has a
// head other than ROOT, somewhere before the end of the sentence. For each place where a sentence may end, the possible
// sentences are taken in the order of their bounds until the best one found is at least as good as the next bound. This
// is exact. For sentences of at most L tokens, it takes O(L log L) time per token, O(m^2) for each tree of m tokens
// that is computed, and O(n) memory.
#pragma once

#include <utility>

#include "decode.hh"
#include "matrix_tree.hh"

namespace mindroot {

// Arc scores of a text whose sentences are not known. Row i is token i, its first column is ROOT. The others are all
// tokens or, with a band, the tokens from i - band to i + band. Columns are contiguous.
template <class T>
struct Window {
    const T* data;
    std::ptrdiff_t row_stride;
    int n;
    int band;  // NONE: rows have all tokens

    T root(int dependent) const { return data[dependent * row_stride]; }
    // The scores of all heads, indexed by token. With a band, only those within it exist.
    const T* heads(int dependent) const {
        return data + dependent * row_stride + 1 + (band == NONE ? 0 : band - dependent);
    }
};

struct Segmentation {
    Fault fault;
    bool found = false;
    double value = FORBIDDEN;           // the score of the division
    double loss = 0;                    // what skipping unlikely places can have cost, at most
    std::int64_t trees = 0;             // the number of trees that were computed
    std::vector<std::int32_t> lengths;  // tokens of each sentence
    std::vector<std::int32_t> heads;    // within each sentence, 0 = ROOT
};

struct SegmentationLimits {
    int max_length;     // tokens of a sentence
    bool by_partition;  // the score of a tree: log-partition or best weight
    double least;       // no sentence begins where the evidence is below this, if there are others
};

template <class T>
class Segmenter {
public:
    // starts[i]: the evidence that a sentence begins at token i; -inf for certainly not, inf for certainly. The first
    // token always begins one, so its evidence does not count.
    Segmenter(const Window<T>& window, const double* starts, const SegmentationLimits& limits)
        : window_(window), starts_(starts), limits_(limits), n_(window.n) {}

    Segmentation run() {
        Segmentation result;
        if ((result.fault = read())) return result;
        choose_places(limits_.least);
        search();
        if (best_[n_].value == FORBIDDEN && n_skipped_ > 0) {  // a tree may need a place that was skipped
            choose_places(FORBIDDEN);
            search();
        }
        result.trees = trees_;
        if (best_[n_].value == FORBIDDEN) return result;
        result.found = true;
        result.value = best_[n_].value;
        result.loss = n_skipped_ > 0 && skipping_[n_] > result.value ? skipping_[n_] - result.value : 0;
        for (int end = n_; end > 0; end = best_[end].first) result.lengths.push_back(end - best_[end].first);
        std::reverse(result.lengths.begin(), result.lengths.end());
        result.heads.resize(n_);
        int first = 0;
        for (const int length : result.lengths) {
            const Scores<T> scores = sentence(first, first + length);
            if ((result.fault = decode(scores, result.heads.data() + first, true, workspace_))) return result;
            first += length;
        }
        return result;
    }

private:
    struct Place {
        double value;  // of the best division of the text before this place
        int first;     // the first token of its last sentence
    };

    // The score of a possible sentence, bounded from above, with that of all before it.
    struct Candidate {
        double bound;
        int first;
        bool operator<(const Candidate& other) const {
            return bound < other.bound || (bound == other.bound && first > other.first);
        }
    };

    // The bound on the tree of the tokens from some first one on, which is extended to the left.
    struct Bound {
        double sum = 0, size = 0;  // of the best heads other than ROOT; the sum of absolute values
        double gain = FORBIDDEN;   // for the token that has ROOT as its head
        int only_roots = 0;        // tokens that have no other head
        double only_root = FORBIDDEN;

        void add(double other, double root, bool by_partition) {
            if (other == FORBIDDEN) {
                ++only_roots;
                only_root = root;
                return;
            }
            sum += other;
            size += std::abs(other);
            if (root == FORBIDDEN) return;
            size += std::abs(root);
            gain = by_partition ? log_sum(gain, root - other) : std::max(gain, root - other);
        }
        // With a margin for rounding errors.
        double value() const {
            if (only_roots > 1) return FORBIDDEN;
            const double extra = only_roots == 1 ? only_root : gain;
            return extra == FORBIDDEN ? FORBIDDEN : sum + extra + 1e-11 * (size + std::abs(extra));
        }
    };

    bool is_certain(int token) const {
        return token > 0 && token < n_ && starts_[token] > 0 && std::isinf(starts_[token]);
    }
    double evidence(int token) const { return token == 0 || is_certain(token) ? 0 : starts_[token]; }

    // Checks the scores that may be read.
    Fault read() {
        roots_.resize(n_);
        others_.resize(n_);
        earliest_.resize(n_);
        for (int token = 0, earliest = 0; token < n_; ++token) {
            if (is_certain(token)) earliest = token;
            earliest_[token] = earliest = std::max(earliest, token - (limits_.max_length - 1));
        }
        const auto is_number = [](T score) { return score <= std::numeric_limits<T>::max(); };
        for (int token = 0; token < n_; ++token) {
            if (!is_number(window_.root(token))) return {FaultKind::not_finite, token + 1, 0};
            roots_[token] = window_.root(token);
            const T* const heads = window_.heads(token);
            for (int head = earliest_[token]; head < n_ && earliest_[head] <= token; ++head)
                if (head != token && !is_number(heads[head])) return {FaultKind::not_finite, token + 1, head + 1};
        }
        return {};
    }

    // Extends the text by a token. Of each token, others_ holds the best head so far other than ROOT, or the logarithm
    // of the sum over all.
    void extend(int token) {
        others_[token] = FORBIDDEN;
        const T* const heads = window_.heads(token);
        for (int other = earliest_[token]; other < token; ++other) {
            join(others_[token], heads[other]);
            join(others_[other], window_.heads(other)[token]);
        }
    }
    void join(double& others, double score) const {
        others = limits_.by_partition ? log_sum(others, score) : std::max(others, score);
    }
    static double log_sum(double one, double other) {
        return other == FORBIDDEN ? one : one == FORBIDDEN ? other : Logarithmic::add(one, other);
    }

    // A sentence may begin at is_place_[token]. If the places are too far apart, all those between count.
    void choose_places(double least) {
        is_place_.assign(n_ + 1, false);
        is_place_[0] = is_place_[n_] = true;
        n_skipped_ = 0;
        for (int token = 1, last = 0; token <= n_; ++token) {
            if (token < n_ && !(starts_[token] >= least && starts_[token] > FORBIDDEN)) continue;
            is_place_[token] = true;
            if (token - last > limits_.max_length)
                for (int between = last + 1; between < token; ++between)
                    is_place_[between] = starts_[between] > FORBIDDEN;
            last = token;
        }
        for (int token = 1; token < n_; ++token) n_skipped_ += !is_place_[token] && starts_[token] > FORBIDDEN;
    }

    // Sets best_, for the places, and skipping_: for each token, a bound on the divisions of all before it that use at
    // least one place that was skipped, the token itself included.
    void search() {
        best_.assign(n_ + 1, {FORBIDDEN, NONE});
        skipping_.assign(n_ + 1, FORBIDDEN);
        best_[0].value = 0;
        for (int end = 1; end <= n_; ++end) {
            extend(end - 1);
            const bool skipped = end < n_ && !is_place_[end];
            if (skipped && (n_skipped_ == 0 || starts_[end] == FORBIDDEN)) continue;
            candidates_.clear();
            Bound bound;
            for (int first = end - 1; first >= 0 && end - first <= limits_.max_length; --first) {
                bound.add(others_[first], roots_[first], limits_.by_partition);
                const double score = evidence(first) + bound.value();
                if (score > FORBIDDEN) {
                    skipping_[end] = std::max(skipping_[end], skipping_[first] + score);
                    if (best_[first].value > FORBIDDEN) {
                        if (skipped)
                            skipping_[end] = std::max(skipping_[end], best_[first].value + score);
                        else
                            candidates_.push_back({best_[first].value + score, first});
                    }
                }
                if (bound.only_roots > 1 || is_certain(first)) break;
            }
            find_best(end);
        }
    }

    // Of equally good sentences, the longest one is taken.
    void find_best(int end) {
        Place& best = best_[end];
        std::make_heap(candidates_.begin(), candidates_.end());
        while (!candidates_.empty() && candidates_.front().bound >= best.value) {
            const int first = candidates_.front().first;
            std::pop_heap(candidates_.begin(), candidates_.end());
            candidates_.pop_back();
            const double value = best_[first].value + (evidence(first) + tree(first, end));
            if (value > best.value || (value == best.value && value > FORBIDDEN && first < best.first))
                best = {value, first};
        }
    }

    // The score of the trees of a sentence; -inf if there is none.
    double tree(int first, int end) {
        ++trees_;
        const int n = end - first;
        if (n == 1) return roots_[first];
        const Scores<T> scores = sentence(first, end);
        heads_.resize(n);
        const Fault fault = decode(scores, heads_.data(), true, workspace_);
        if (fault.kind == FaultKind::no_memory) throw std::bad_alloc();
        if (fault) return FORBIDDEN;
        if (limits_.by_partition) return matrix_tree(scores, true, nullptr);
        double weight = 0;
        for (int token = 0; token < n; ++token) weight += scores.at(token, heads_[token]);
        return weight;
    }

    Scores<T> sentence(int first, int end) {
        const int n = end - first;
        T* cells = cells_.reserve(std::size_t(n) * (n + 1));
        for (int token = 0; token < n; ++token) {
            T* const row = cells + std::size_t(token) * (n + 1);
            const T* const heads = window_.heads(first + token);
            row[0] = window_.root(first + token);
            std::copy(heads + first, heads + end, row + 1);
            row[token + 1] = 0;  // self arcs are never read, whatever the caller has there
        }
        return {cells, n + 1, 1, n};
    }

    const Window<T> window_;
    const double* const starts_;
    const SegmentationLimits limits_;
    const int n_;
    std::vector<double> roots_, others_;
    std::vector<int> earliest_;  // the first token that can be in a sentence with each token
    std::vector<char> is_place_;
    int n_skipped_ = 0;
    std::vector<Place> best_;
    std::vector<double> skipping_;
    std::vector<Candidate> candidates_;
    std::vector<std::int32_t> heads_;
    std::int64_t trees_ = 0;
    Buffer<T> cells_;
    Workspace workspace_;
};

template <class T>
Segmentation segment(const Window<T>& window, const double* starts, const SegmentationLimits& limits) {
    return Segmenter<T>(window, starts, limits).run();
}

}  // namespace mindroot
