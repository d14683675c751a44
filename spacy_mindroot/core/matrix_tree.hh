// Partition function and marginals of the distribution over trees in which the probability of a tree is proportional to
// exp(weight), with a single root or any number (the Matrix-Tree theorem: Koo et al. 2007, Smith and Smith 2007,
// McDonald and Satta 2007).
//
// Determinant and inverse of the Laplacian lose all digits where tokens strongly prefer each other. So this uses
// elimination without subtraction (Grassmann, Taksar and Heyman 1985). Read the arcs as a random walk from dependent to
// head. Eliminating token k joins each arc into k with each arc out of it:
//     arc(i, j) += arc(i, k) * arc(k, j) / pivot(k),    pivot(k) = sum of arc(k, j) over what remains, without k.
// The partition function is the product of the pivots. Once all tokens but d are eliminated, the row of h holds
// escape(h, d), the probability that the walk from h reaches ROOT before d. With escape(ROOT, d) = 1,
//     P(the head of d is h)  is proportional to  arc(d, h) * escape(h, d),
// since in a tree the path from h to ROOT avoids d. Half of the tokens are eliminated for the other half, then half of
// those, and so on. This gives the probabilities for every d in O(n^3) in total.
//
// A single root is the limit in which the arcs from ROOT are infinitely light. They are left out of every pivot, and
// escape(h, d) is, to first order, the expected weight of the arcs from ROOT that the walk passes before d.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "masks.hh"
#include "numbers.hh"

namespace mindroot {

// Some tokens and the arcs among them. Rows are dependents. Column j+1 holds the arcs from token j, and column 0 the
// arcs from above: from ROOT, or from tokens that are not in this part.
template <class Numbers>
class Part {
public:
    // light: whether the arcs of column 0 are infinitely lighter than the others.
    Part(int size, bool light)
        : size_(size),
          stride_((size + LANES - 1) / LANES * LANES),
          light_(light),
          arcs_(std::size_t(size + 1) * stride_, FORBIDDEN),
          factors_(size + 1),
          more_factors_(size + 1) {
        std::size_t columns = 0;
        for (int half = size; half > 1; half = (half + 1) / 2) columns += half + 1;
        scratch_.resize(columns * stride_);
    }

    // The weight of an arc, or its logarithm until from_logs() is called. An arc that is never set has no weight.
    double& arc(int dependent, int column) { return arcs_[std::size_t(column) * stride_ + dependent]; }
    void from_logs() { Numbers::from_logs(arcs_.data(), arcs_.size()); }

    // Calls leaf(d, escape, log_pivots) for each token d, or only for the first. `log_pivots`, the logarithm of the
    // product of all pivots, is set for the first only. escape[h] is escape(h, d) for each
    // token h != d. escape[d] is the total weight of all paths from d to column 0. Returns false, and stops, as soon as
    // a number is not safe.
    template <class Leaf>
    bool for_each(bool first_only, Leaf&& leaf) {
        return size_ == 0 || halve(0, size_, arcs_.data(), scratch_.data(), 0, first_only, leaf);
    }

    // Sets heads[d] = choose(d, escape) for each token d in turn, where 0 is column 0. `escape` is as above, but given
    // the heads that were chosen before.
    template <class Choose>
    void assign(Choose&& choose, std::int32_t* heads) {
        if (size_ > 0) assign(0, size_, arcs_.data(), scratch_.data(), choose, heads);
    }

private:
    template <class Choose>
    void assign(int first, int last, double* columns, double* free, Choose&& choose, std::int32_t* heads) {
        if (last - first == 1) {
            heads[first] = choose(first, columns);
            return;
        }
        const int middle = first + (last - first) / 2;
        double* const next = free + std::size_t(last - first + 1) * stride_;
        eliminate(columns, first, {first, middle}, {middle, last}, free, nullptr);
        assign(first, middle, free, next, choose, heads);
        // Each of these tokens now has a single arc. If its head has been eliminated, it gets the arcs of its head.
        for (int token = first; token < middle; ++token) {
            const int head = heads[token] - 1;
            const bool remains = head < 0 || (first <= head && head < last);
            for (int j = 0; j <= last - first; ++j) {
                double* const column = columns + std::size_t(j) * stride_;
                const bool is_head = head < 0 ? j == 0 : j == head - first + 1;
                column[token] = remains ? (is_head ? Numbers::one : Numbers::zero) : column[head];
            }
        }
        eliminate(columns, first, {middle, last}, {first, middle}, free, nullptr);
        assign(middle, last, free, next, choose, heads);
    }

    // `columns`: column 0, and those of the tokens in [first, last). All others have been eliminated.
    template <class Leaf>
    bool halve(int first, int last, const double* columns, double* free, double log_pivots, bool first_only,
               Leaf&& leaf) {
        if (last - first == 1) {
            for (int i = 0; i < size_; ++i)
                if (!Numbers::is_safe(columns[i])) return false;
            if (!Numbers::is_safe_divisor(columns[first])) return false;
            leaf(first, columns, log_pivots);
            return true;
        }
        const int middle = first + (last - first) / 2;
        double* const next = free + std::size_t(last - first + 1) * stride_;
        double log_product = log_pivots;
        double* const product_of_first = first == 0 ? &log_product : nullptr;
        if (!eliminate(columns, first, {first, middle}, {middle, last}, free, product_of_first)) return false;
        if (!halve(first, middle, free, next, log_product, first_only, leaf)) return false;
        if (first_only) return true;
        if (!eliminate(columns, first, {middle, last}, {first, middle}, free, nullptr)) return false;
        return halve(middle, last, free, next, 0, false, leaf);
    }

    struct Range {
        int first, last;
        int size() const { return last - first; }
    };

    // Writes column 0 and the columns of the kept tokens to `result`, with the other tokens eliminated. The columns of
    // the eliminated tokens follow them as scratch. Tokens are eliminated two at a time.
    bool eliminate(const double* columns, int first, Range kept, Range eliminated, double* result, double* log_pivots) {
        const auto column = [&](int token) { return columns + std::size_t(token - first + 1) * stride_; };
        double* end = std::copy(columns, columns + stride_, result);
        end = std::copy(column(kept.first), column(kept.last), end);
        std::copy(column(eliminated.first), column(eliminated.last), end);

        for (int token = eliminated.last - 1; token >= eliminated.first; --token) {
            const int remaining = 1 + kept.size() + token - eliminated.first;  // columns
            double* const pivots = result + std::size_t(remaining) * stride_;
            if (!set_factors(result + token, remaining, factors_, log_pivots)) return false;
            if (token == eliminated.first) {
                Numbers::add_multiples(result, stride_, remaining, pivots, factors_.data());
                set_row(result + token, remaining, factors_);
                return true;
            }
            // The next token's column and row are updated first, since they hold the pivots and factors of the next.
            const int next = --token, fewer = remaining - 1;
            double* const next_pivots = pivots - stride_;
            Numbers::add_multiples(next_pivots, stride_, 1, pivots, &factors_[fewer]);
            next_pivots[token + 1] = factors_[fewer];
            double* const row = result + next;
            for (int j = 0; j < fewer; ++j) {
                double& entry = row[std::size_t(j) * stride_];
                entry = Numbers::add(entry, Numbers::multiply(pivots[next], factors_[j]));
            }
            if (!set_factors(row, fewer, more_factors_, log_pivots)) return false;
            set_row(result + token + 1, fewer, factors_);
            pivots[token + 1] = Numbers::zero;  // so that the row keeps its factors
            Numbers::add_multiples_of_two(result, stride_, fewer, pivots, factors_.data(), next_pivots,
                                          more_factors_.data());
            set_row(row, fewer, more_factors_);
        }
        return true;
    }

    // Divides the entries of a row, in the columns that remain, by their sum. Returns false if that is not safe.
    bool set_factors(const double* row, int remaining, std::vector<double>& factors, double* log_pivots) {
        double pivot = Numbers::zero;
        for (int j = 0; j < remaining; ++j) {
            factors[j] = row[std::size_t(j) * stride_];
            if (j > 0 || !light_) pivot = Numbers::add(pivot, factors[j]);
        }
        if (!Numbers::is_safe_divisor(pivot)) return false;
        if (log_pivots) *log_pivots += Numbers::log(pivot);
        const double reciprocal = Numbers::divide(Numbers::one, pivot);
        for (int j = 0; j < remaining; ++j) factors[j] = Numbers::multiply(factors[j], reciprocal);
        return true;
    }

    void set_row(double* row, int remaining, const std::vector<double>& values) {
        for (int j = 0; j < remaining; ++j) row[std::size_t(j) * stride_] = values[j];
    }

    static constexpr int LANES = 8;  // rows are padded to a multiple, so that vectorised loops have no remainder

    const int size_, stride_;
    const bool light_;
    std::vector<double> arcs_, factors_, more_factors_, scratch_;
};

// The tokens from which paths of allowed arcs lead to all others, in order. Only these can be the single root, and a
// head of one of them is another of them or ROOT. There must be a single-rooted tree.
template <class T>
std::vector<int> possible_roots(const Scores<T>& scores) {
    const int n = scores.n;
    std::vector<int> roots;
    bool all_allowed = true;  // then all are
    for (int token = 0; token < n; ++token) {
        roots.push_back(token);
        for (int head = 0; head < n; ++head) all_allowed &= scores.at(token, head + 1) != FORBIDDEN || head == token;
    }
    if (all_allowed) return roots;
    roots.clear();
    std::vector<int> stack;
    std::vector<char> seen(n);
    const auto search = [&](int start, auto&& is_arc) {
        seen[start] = true;
        stack.push_back(start);
        while (!stack.empty()) {
            const int at = stack.back();
            stack.pop_back();
            for (int other = 0; other < n; ++other)
                if (!seen[other] && is_arc(at, other)) {
                    seen[other] = true;
                    stack.push_back(other);
                }
        }
    };
    const auto down = [&](int head, int dependent) { return scores.at(dependent, head + 1) != FORBIDDEN; };
    const auto up = [&](int dependent, int head) { return scores.at(dependent, head + 1) != FORBIDDEN; };
    int last = 0;  // the last token at which a search started: if any token reaches all others, this one does
    for (int token = 0; token < n; ++token)
        if (!seen[token]) {
            last = token;
            search(token, down);
        }
    std::fill(seen.begin(), seen.end(), false);
    search(last, up);
    for (int token = 0; token < n; ++token)
        if (seen[token]) roots.push_back(token);
    return roots;
}

// Tokens whose heads are among themselves or above: ROOT, or the tokens of `above` if there are any.
struct Division {
    std::vector<int> tokens, above;
    bool single_root;  // whether exactly one of the tokens has ROOT as its head
};

// The divisions into which the distribution factorises. With a single root these are the possible roots, and the other
// tokens, which are attached below them. There must be a tree.
template <class T>
std::vector<Division> divide(const Scores<T>& scores, bool single_root) {
    const int n = scores.n;
    std::vector<int> roots, others;
    if (single_root) roots = possible_roots(scores);
    for (int token = 0; token < n; ++token)
        if (!std::binary_search(roots.begin(), roots.end(), token)) others.push_back(token);
    if (!single_root) return {{others, {}, false}};
    if (others.empty()) return {{roots, {}, true}};
    return {{roots, {}, true}, {others, roots, false}};
}

// Returns false if a number is not safe, or if there may be masks next to which the partition function loses digits.
template <class Numbers, class T>
bool infer(const Scores<T>& scores, const Division& division, double& log_partition, double* marginals,
           bool may_have_masks) {
    const std::vector<int>& tokens = division.tokens;
    const std::vector<int>& above = division.above;
    const bool single_root = division.single_root;
    const int size = static_cast<int>(tokens.size()), n = scores.n;
    const auto score = [&](int i, int column) -> double { return scores.at(tokens[i], column); };
    // Rows are shifted so that their best arc has weight 1. With a single root, so is column 0 afterwards.
    std::vector<double> shifts(size, FORBIDDEN);
    double root_shift = single_root ? FORBIDDEN : 0;
    for (int i = 0; i < size; ++i) {
        double best = FORBIDDEN;
        for (int j = 0; j < size; ++j) best = std::max(best, i == j ? FORBIDDEN : score(i, tokens[j] + 1));
        for (const int head : above) best = std::max(best, score(i, head + 1));
        if (above.empty() && !single_root) best = std::max(best, score(i, 0));
        shifts[i] = best == FORBIDDEN ? 0 : best;
        if (single_root) root_shift = std::max(root_shift, score(i, 0) - shifts[i]);
    }
    if (may_have_masks && root_shift > -MASKED) return false;  // a token with masked arcs, but for that from ROOT
    const auto weight = [&](int i, int column) { return Numbers::from_log(score(i, column) - shifts[i]); };

    Part<Numbers> part(size, single_root);
    for (int i = 0; i < size; ++i) {
        for (int j = 0; j < size; ++j)
            if (i != j) part.arc(i, j + 1) = score(i, tokens[j] + 1) - shifts[i];
        if (above.empty()) part.arc(i, 0) = score(i, 0) - shifts[i] - root_shift;
    }
    part.from_logs();
    for (int i = 0; i < size; ++i)
        for (const int head : above) part.arc(i, 0) = Numbers::add(part.arc(i, 0), weight(i, head + 1));
    double log_product = 0;
    const bool safe = part.for_each(marginals == nullptr, [&](int d, const double* escape, double log_pivots) {
        if (d == 0) log_product = log_pivots + Numbers::log(escape[0]);
        if (marginals == nullptr) return;
        double* const row = marginals + std::size_t(tokens[d]) * (n + 1);
        std::fill(row, row + n + 1, 0);
        double sum = 0;
        const double reciprocal = Numbers::divide(Numbers::one, escape[d]);
        const auto set = [&](int column, double unnormalised) {
            row[column] = Numbers::to_linear(Numbers::multiply(unnormalised, reciprocal));
            sum += row[column];
        };
        if (above.empty()) set(0, part.arc(d, 0));
        for (const int head : above) set(head + 1, weight(d, head + 1));
        for (int h = 0; h < size; ++h)
            if (h != d) set(tokens[h] + 1, Numbers::multiply(part.arc(d, h + 1), escape[h]));
        for (int column = 0; column <= n; ++column) row[column] /= sum;
    });
    if (!safe) return false;
    log_partition += log_product + root_shift;
    for (const double shift : shifts) log_partition += shift;
    return true;
}

// Returns the logarithm of the partition function. Writes the probability of each arc to `marginals`, (n, n+1) like the
// scores, unless it is null. There must be a tree.
template <class T>
double matrix_tree(const Scores<T>& scores, bool single_root, double* marginals) {
    double log_partition = 0;
    bool is_safe = true;
    for (const Division& division : divide(scores, single_root))
        is_safe = is_safe && infer<Linear>(scores, division, log_partition, marginals, true);
    if (is_safe) return log_partition;

    const std::ptrdiff_t columns = scores.n + 1;
    std::vector<double> cells(scores.n * columns);
    for (int i = 0; i < scores.n; ++i)
        for (int j = 0; j <= scores.n; ++j) cells[i * columns + j] = scores.at(i, j);
    forbid_masks(cells.data(), scores.n, single_root, false, MASKED);
    const Scores<double> allowed{cells.data(), columns, 1, scores.n};
    log_partition = 0;
    for (const Division& division : divide(allowed, single_root))
        if (!infer<Linear>(allowed, division, log_partition, marginals, false))
            infer<Logarithmic>(allowed, division, log_partition, marginals, false);
    return log_partition;
}

}  // namespace mindroot
