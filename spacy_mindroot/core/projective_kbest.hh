// The k best projective trees, best first (Huang and Chiang 2005, algorithm 3). Each tree has one derivation in
// Eisner's chart: a split of each of its spans. A span lists its best derivations, and finds the next one when it is
// asked for. O(n^3) for the chart, and at most O(n^2 log n) for each further tree.
#pragma once

#include <queue>
#include <unordered_map>
#include <vector>

#include "projective.hh"

namespace mindroot {

template <class Loops>
class ProjectiveKBest : public Chart<Loops> {
public:
    using Chart<Loops>::Chart;

    // Writes the heads of the next best tree; those of the best tree are number 0. Returns whether there is one.
    bool read(std::size_t number, std::int32_t* heads) {
        std::vector<Ranked> open{{this->whole(), number}};
        if (!has(open[0])) return false;
        while (!open.empty()) {
            const Ranked next = open.back();
            open.pop_back();
            if (next.span.head == next.span.end) continue;
            has(next);  // so that it is in the list
            const Derivation found = list_of(next.span).found[next.rank];
            this->set_head(heads, next.span, found.split);
            for (const Ranked& part : parts(next.span, found)) open.push_back(part);
        }
        return true;
    }

private:
    static constexpr double NOT_THERE = std::numeric_limits<double>::infinity();

    // A derivation of a span: where it is split, and which derivations of the two parts it consists of.
    struct Derivation {
        double loss, of_split;  // the best score of the span minus that of this one; minus the best with `split`
        int split;
        std::array<std::size_t, 2> ranks;

        bool operator<(const Derivation& other) const {  // the greatest is taken first
            return loss != other.loss ? loss > other.loss : split > other.split;
        }
    };

    struct List {
        std::vector<Derivation> found;
        std::priority_queue<Derivation> candidates;
    };

    struct Ranked {
        Span span;
        std::size_t rank;
    };

    std::array<Ranked, 2> parts(const Span& span, const Derivation& from) const {
        const auto own = Chart<Loops>::parts(span, from.split);
        return {Ranked{own[0], from.ranks[0]}, Ranked{own[1], from.ranks[1]}};
    }

    // The derivations of a span. At first, the candidates are the best ones with each split.
    List& list_of(const Span& span) {
        const std::size_t key = 2 * this->at(span.head + 1, span.end) + span.complete;
        const auto [at, is_new] = lists_.try_emplace(key);
        List& list = at->second;
        if (is_new) {
            const double* sums = this->sums(span);
            const int size = this->splits(span);
            const double best = *std::max_element(sums, sums + size);
            for (int k = 0; k < size; ++k)
                if (sums[k] != FORBIDDEN) {
                    const double own = best - sums[k];
                    list.candidates.push({own, own, this->first_split(span) + k, {0, 0}});
                }
        }
        return list;
    }

    // How much worse a derivation is than the best one of its span, which is part of a tree.
    double loss(const Ranked& wanted) {
        if (wanted.rank == 0) return 0;
        if (wanted.span.head == wanted.span.end || !has(wanted)) return NOT_THERE;
        return list_of(wanted.span).found[wanted.rank].loss;
    }

    // Whether a span of more than one node has so many derivations. If so, they are in its list.
    bool has(const Ranked& wanted) {
        List& list = list_of(wanted.span);
        while (list.found.size() <= wanted.rank) {
            if (list.candidates.empty()) return false;
            const Derivation next = list.candidates.top();
            list.candidates.pop();
            list.found.push_back(next);
            for (int part = 0; part < 2; ++part) {
                if (part == 1 && next.ranks[0] > 0) break;  // so that each pair of ranks comes up once
                Derivation other = next;
                ++other.ranks[part];
                const auto own = parts(wanted.span, other);
                other.loss = other.of_split + loss(own[0]) + loss(own[1]);
                if (other.loss != NOT_THERE) list.candidates.push(other);
            }
        }
        return true;
    }

    std::unordered_map<std::size_t, List> lists_;
};

// Writes the heads of the k best projective trees, or of all if there are fewer, end to end. The first of them is that
// of decode_projective.
inline Fault k_best_projective(Sentence sentence, std::size_t k, bool single_root, std::vector<std::int32_t>& trees) {
    const int n = sentence.n;
    trees.resize(n);
    sentence.heads = trees.data();
    if (const Fault fault = decode_projective(sentence, single_root)) return fault;
    if (k == 1) return {};
    std::vector<std::int32_t> best(n), heads(n);
    sentence.heads = best.data();
    if (const Fault fault = greedy_graph(sentence)) return fault;
    with_loops([&](auto loops) {
        ProjectiveKBest<decltype(loops)> chart(n, single_root);
        sentence.with_scores([&](const auto& scores) { chart.fill(scores, best.data()); });
        best.assign(trees.begin(), trees.end());
        for (std::size_t number = 0; trees.size() < k * n && chart.read(number, heads.data()); ++number)
            if (heads != best) trees.insert(trees.end(), heads.begin(), heads.end());
    });
    return {};
}

}  // namespace mindroot
