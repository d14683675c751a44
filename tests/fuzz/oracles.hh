// Input of the fuzzers, and slow, independent answers to compare the core with. Nothing here is shared with the core
// but its types.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

#define CHECK(condition)                                                         \
    do {                                                                         \
        if (!(condition)) {                                                      \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            std::abort();                                                        \
        }                                                                        \
    } while (false)

using Real = long double;  // a sum of doubles can't overflow
using Heads = std::vector<std::int32_t>;
constexpr double NO_ARC = -std::numeric_limits<double>::infinity();

// The bytes of the fuzzer and, after their end, pseudo-random ones that depend on them: so a short input fills a
// matrix.
class Bytes {
public:
    Bytes(const std::uint8_t* data, std::size_t size) : at_(data), end_(data + size) {
        for (std::size_t i = 0; i < size; ++i) state_ = (state_ ^ data[i]) * 0x100000001b3ULL;
    }
    unsigned next() {
        if (at_ < end_) return *at_++;
        state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
        return static_cast<unsigned>(state_ >> 56);
    }
    unsigned below(unsigned bound) { return next() % bound; }
    double any_double() {
        std::uint8_t bytes[8];
        for (auto& byte : bytes) byte = static_cast<std::uint8_t>(next());
        double number;
        std::memcpy(&number, bytes, 8);
        return number;
    }

private:
    const std::uint8_t* at_;
    const std::uint8_t* end_;
    std::uint64_t state_ = 0xcbf29ce484222325ULL;
};

// Arc scores (n, n+1) in doubles: contiguous, rows are dependents, column 0 is ROOT.
struct Matrix {
    int n;
    std::vector<double> cells;

    double at(int dependent, int head) const { return cells[std::size_t(dependent) * (n + 1) + head]; }
    bool allowed(int dependent, int head) const { return head != dependent + 1 && at(dependent, head) != NO_ARC; }
    double largest() const {  // finite absolute value, self arcs left out
        double largest = 0;
        for (int i = 0; i < n; ++i)
            for (int j = 0; j <= n; ++j)
                if (allowed(i, j) && std::isfinite(at(i, j))) largest = std::max(largest, std::fabs(at(i, j)));
        return largest;
    }
};

enum Kind { EIGHTHS, FORBIDDING, MASKED, WIDE, HUGE_SCORES, TINY, ANY, KINDS };

inline Matrix read_matrix(Bytes& bytes, int n, unsigned kind) {
    Matrix matrix{n, std::vector<double>(std::size_t(n) * (n + 1))};
    for (int i = 0; i < n; ++i)
        for (int j = 0; j <= n; ++j) {
            double& cell = matrix.cells[std::size_t(i) * (n + 1) + j];
            if (kind == ANY) {
                cell = bytes.any_double();
                continue;
            }
            const unsigned byte = bytes.next();
            cell = (int(byte) - 128) / 8.0;
            if (kind == FORBIDDING && byte % 3 == 0) cell = NO_ARC;
            if (kind == MASKED && byte % 3 == 0) cell = -1e9;
            if (kind == WIDE) cell *= 1000;
            if (kind == HUGE_SCORES) cell = byte == 0 ? NO_ARC : cell * 0x1p1019;  // up to nearly 2^1023
            if (kind == TINY) cell *= 0x1p-1070;
            if (j == i + 1 && byte % 5 == 0) cell = std::numeric_limits<double>::quiet_NaN();  // never matters
            if (j == i + 1 && byte % 5 == 1) cell = std::numeric_limits<double>::infinity();
        }
    return matrix;
}

inline int count_root_arcs(const Heads& heads) { return int(std::count(heads.begin(), heads.end(), 0)); }

inline bool forms_tree(const Heads& heads) {
    const int n = int(heads.size());
    for (int token = 0; token < n; ++token) {
        int at = token, steps = 0;
        while (at >= 0) {
            if (heads[at] < 0 || heads[at] > n || ++steps > n) return false;
            at = heads[at] - 1;
        }
    }
    return true;
}

inline bool crosses(const Heads& heads) {
    const int n = int(heads.size());
    for (int i = 1; i <= n; ++i)
        for (int j = 1; j <= n; ++j) {
            const int a = std::min(i, heads[i - 1]), b = std::max(i, heads[i - 1]);
            const int c = std::min(j, heads[j - 1]), d = std::max(j, heads[j - 1]);
            if (a < c && c < b && b < d) return true;
        }
    return false;
}

inline Real weight_of(const Matrix& matrix, const Heads& heads) {
    Real sum = 0;
    for (int i = 0; i < matrix.n; ++i) sum += matrix.at(i, heads[i]);
    return sum;
}

// Calls visit(heads) for every tree of allowed arcs. (n+1)^n candidates.
template <class Visit>
void for_each_tree(const Matrix& matrix, bool single_root, Visit&& visit) {
    Heads heads(matrix.n, 0);
    for (;;) {
        bool allowed = !single_root || count_root_arcs(heads) == 1;
        for (int i = 0; i < matrix.n && allowed; ++i) allowed = matrix.allowed(i, heads[i]);
        if (allowed && forms_tree(heads)) visit(heads);
        int i = 0;
        while (i < matrix.n && ++heads[i] > matrix.n) heads[i++] = 0;
        if (i == matrix.n) return;
    }
}

// Which tokens can be reached from a token or, with start = -1, from ROOT.
inline std::vector<char> reachable(const Matrix& matrix, int start) {
    std::vector<char> seen(matrix.n);
    std::vector<int> open;
    const auto visit = [&](int token) {
        if (!seen[token]) open.push_back(token);
        seen[token] = true;
    };
    if (start >= 0) visit(start);
    for (int i = 0; i < matrix.n && start < 0; ++i)
        if (matrix.allowed(i, 0)) visit(i);
    while (!open.empty()) {
        const int head = open.back();
        open.pop_back();
        for (int i = 0; i < matrix.n; ++i)
            if (matrix.allowed(i, head + 1)) visit(i);
    }
    return seen;
}

inline bool all_of(const std::vector<char>& seen) { return std::find(seen.begin(), seen.end(), 0) == seen.end(); }

// The tokens that can be the only root.
inline std::vector<int> possible_single_roots(const Matrix& matrix) {
    std::vector<int> roots;
    for (int i = 0; i < matrix.n; ++i)
        if (matrix.allowed(i, 0) && all_of(reachable(matrix, i))) roots.push_back(i);
    return roots;
}

inline bool has_tree(const Matrix& matrix, bool single_root) {
    return single_root ? !possible_single_roots(matrix).empty() : all_of(reachable(matrix, -1));
}

// The weight of the best tree by the textbook method (Chu and Liu 1965, Edmonds 1967), O(n^3), which contracts all
// cycles of the greedy graph in each round. There must be a tree. `root`: the only root, or -1 for any number.
inline Real best_weight(const Matrix& matrix, int root) {
    struct Edge {
        int head, dependent;
        Real weight;
    };
    std::vector<Edge> edges;
    for (int i = 0; i < matrix.n; ++i)
        for (int j = 0; j <= matrix.n; ++j)
            if (matrix.allowed(i, j) && (j > 0 || root < 0 || root == i)) edges.push_back({j, i + 1, matrix.at(i, j)});
    int nodes = matrix.n + 1, top = 0;
    Real sum = 0;
    for (;;) {
        std::vector<const Edge*> best(nodes, nullptr);
        for (const Edge& edge : edges)
            if (edge.head != edge.dependent && edge.dependent != top)
                if (!best[edge.dependent] || edge.weight > best[edge.dependent]->weight) best[edge.dependent] = &edge;
        std::vector<int> seen(nodes, -1), number(nodes, -1);
        int count = 0;
        for (int node = 0; node < nodes; ++node) {
            if (node == top) continue;
            CHECK(best[node] != nullptr);
            sum += best[node]->weight;
            int at = node;
            while (at != top && seen[at] != node && number[at] < 0) {
                seen[at] = node;
                at = best[at]->head;
            }
            if (at != top && number[at] < 0) {  // a cycle
                for (int member = best[at]->head; member != at; member = best[member]->head) number[member] = count;
                number[at] = count++;
            }
        }
        if (count == 0) return sum;
        for (int node = 0; node < nodes; ++node)
            if (number[node] < 0) number[node] = count++;
        std::vector<Edge> contracted;
        for (const Edge& edge : edges)
            if (number[edge.head] != number[edge.dependent] && edge.dependent != top)
                contracted.push_back(
                    {number[edge.head], number[edge.dependent], edge.weight - best[edge.dependent]->weight});
        edges = contracted;
        top = number[top];
        nodes = count;
    }
}
