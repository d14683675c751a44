// Arcs of a tree that cross the arc to a token, as the rules about crossing arcs see it. Tokens are numbered from 1,
// and `heads[token - 1]` is the head of a token, 0 = ROOT. `path` is memory to be reused.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace mindroot {

// Why the arc to a token crosses another; empty if it does not.
struct Crossing {
    std::vector<int> arcs;   // the dependents of some arcs: while all of them exist, the arc to the token crosses one
    std::vector<int> wrong;  // from any of these heads

    explicit operator bool() const { return !arcs.empty(); }
};

// The token and all above it, without ROOT.
inline void follow(const std::vector<std::int32_t>& heads, int token, std::vector<int>& path) {
    path.clear();
    for (; token; token = heads[token - 1]) path.push_back(token);
}

inline bool contains(const std::vector<int>& path, int token) {
    return std::find(path.begin(), path.end(), token) != path.end();
}

// Whether an arc reaches from between a token and its head to beyond the token.
inline bool spans(int token, int head, int one, int other) {
    const int low = std::min(token, head), high = std::max(token, head);
    if (low < other && other < high) std::swap(one, other);
    return low < one && one < high && (head < token ? other > token : 0 < other && other < token);
}

// Whether the arc to a token breaks a rule about crossing arcs, "own" or "other", whatever the rest of the tree is.
inline bool clashes(int token, int head, int dependent, int upper) {
    if (upper == 0) return std::min(token, head) < dependent && dependent < std::max(token, head) && head != 0;
    return spans(token, head, dependent, upper);
}

// Why the arc to a token spans a token that is not below its head: a path to ROOT.
inline Crossing crosses_own(const std::vector<std::int32_t>& heads, int token, std::vector<int>& path) {
    Crossing found;
    const int head = heads[token - 1];
    if (head == 0) return found;
    for (int other = std::min(token, head) + 1; other < std::max(token, head); ++other) {
        follow(heads, other, path);
        if (!contains(path, head) && (!found || path.size() < found.arcs.size())) found.arcs = path;
    }
    if (!found) return found;
    const std::vector<int>& arcs = found.arcs;
    for (int other = 1; other <= static_cast<int>(heads.size()); ++other) {
        const auto own = std::find(arcs.begin(), arcs.end(), other);
        const auto above = own == arcs.end() ? arcs.begin() : own + 1;
        const int low = std::min(token, other), high = std::max(token, other);
        if (other != token && std::any_of(above, arcs.end(), [&](int node) { return low < node && node < high; }))
            found.wrong.push_back(other);
    }
    return found;
}

// Why an arc crosses the arc to a token that it spans: the arc, and the path from the token's head to ROOT.
inline Crossing crosses_other(const std::vector<std::int32_t>& heads, int token, std::vector<int>& path) {
    Crossing found;
    follow(heads, heads[token - 1], path);
    for (int dependent = 1; dependent <= static_cast<int>(heads.size()); ++dependent) {
        const int upper = heads[dependent - 1];
        if (upper == 0 || !spans(token, heads[token - 1], dependent, upper) || contains(path, upper)) continue;
        found.arcs.assign(1, dependent);
        found.arcs.insert(found.arcs.end(), path.begin(), path.end());
        path.push_back(0);
        for (const int other : path)
            if (spans(token, other, dependent, upper)) found.wrong.push_back(other);
        break;
    }
    return found;
}

}  // namespace mindroot
