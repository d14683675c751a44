// Boundaries between the characters of a text: a linear classifier over hashed features, which reads from left to
// right. It finds the ends of tokens, and in them those of the words of a multiword token. Its features follow what
// works for word segmentation of any language (Shao, Hardmeier and Nivre 2018). It is trained as an averaged perceptron
// with a margin.
//
// A chunk is what is decided on at a time: a string between white space or, if tokens may contain a space, several. It
// knows of its surroundings only the type of the next character after the white space that follows, so that its result
// can be kept for all texts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <utility>
#include <vector>

namespace mindroot {

// The label of the place after a character.
enum Boundary : std::int8_t { INSIDE = 0, TOKEN_ENDS = 1, WORD_ENDS = 2 };

// Types of characters that mean something here; see characters.py for the others.
enum : std::uint8_t { SPACE = 0, EXTENDS = 1, JOINS = 2, FLAG = 3 };

struct Chunk {
    const std::uint32_t* characters;
    const std::uint8_t* types;
    const std::uint8_t* rules;  // whether a token ends after each character by the rules of the language; or null
    int n;
    std::uint8_t next;  // the type of the first character after the white space that follows; SPACE if there is none
};

struct BoundaryModel {
    float* weights;  // [feature][label]
    std::uint32_t mask;  // the number of features less 1
    int labels;  // 2, or 3 with WORD_ENDS
    bool whole_clusters;  // no boundary within what a reader sees as one character
};

class BoundaryFeatures {
public:
    BoundaryFeatures(const Chunk& chunk, std::uint32_t mask)
        : chunk_(chunk), mask_(mask), begins_(chunk.n), left_(chunk.n + 1, START), right_(chunk.n + 2, END) {
        for (int i = 0, start = 0; i < chunk.n; ++i) {
            if (chunk.types[i] == SPACE) start = i + 1;
            begins_[i] = start;
            left_[i] = hashed(start >= i ? START : left_[i - 1], chunk.characters[i]);
        }
        for (int i = chunk.n - 1; i >= 0; --i)
            right_[i] = chunk.types[i] == SPACE ? END : hashed(right_[i + 1], chunk.characters[i]);
    }

    // Writes the features of the place after character i. `word` is where the current word starts, and `previous` the
    // last label but INSIDE.
    const std::vector<std::uint32_t>& at(int i, int word, Boundary previous) {
        found_.clear();
        kind_ = 0;
        const Hash a3 = character(i - 3), a2 = character(i - 2), a1 = character(i - 1), a = character(i);
        const Hash b = character(i + 1), b1 = character(i + 2), b2 = character(i + 3), b3 = character(i + 4);
        const Hash s2 = type(i - 2), s1 = type(i - 1), s = type(i), t = type(i + 1), t1 = type(i + 2), t2 = type(i + 3);
        for (auto&& each : {L{}, L{a}, L{b}, L{a, b}, L{a1, a}, L{b, b1}, L{a1, a, b}, L{a, b, b1}, L{a2, a1, a},
                            L{b, b1, b2}, L{a1, a, b, b1}, L{a2, a1, a, b}, L{a, b, b1, b2}, L{a3, a2, a1, a},
                            L{b, b1, b2, b3}})
            add(each);
        for (auto&& each : {L{s2, s1, s, t, t1, t2}, L{s, t}, L{s1, s, t, t1}, L{s1, a, b, t1}, L{a, t, t1},
                            L{s1, s, b}, L{a1, a, t}, L{s, b, b1}})
            add(each);
        const Hash left = i - begins_[i] < LONGEST ? left_[i] : START, right = right_[i + 1];
        for (auto&& each : {L{left}, L{right}, L{left, right}, L{left, b}, L{right, a}}) add(each);
        const Hash read = piece(word, i, 9), length = std::min(i - word, 8), before = previous;
        for (auto&& each : {L{read}, L{read, b}, L{read, b, b1}, L{length, before}, L{before, a, b}, L{s, length}})
            add(each);
        const Hash rest = std::min(chunk_.n - 1 - i, 3), next = chunk_.next;
        for (auto&& each : {L{a, rest, next}, L{rest, s, next}}) add(each);
        if (chunk_.rules != nullptr) {
            const Hash ends = chunk_.rules[i];
            for (auto&& each : {L{ends}, L{ends, s, t}, L{ends, a}, L{ends, b}, L{ends, s1, s, t, t1}, L{ends, a, b}})
                add(each);
        }
        if (t == SPACE) add_space(i, word, before);
        return found_;
    }

private:
    using Hash = std::uint64_t;
    using L = std::initializer_list<Hash>;
    static constexpr Hash START = 31, END = 32;
    static constexpr int LONGEST = 40;  // characters of a string that is a feature as a whole

    static Hash hashed(Hash hash, Hash value) {
        hash ^= value + 0x9e3779b97f4a7c15ull + (hash << 6) + (hash >> 2);
        hash *= 0xff51afd7ed558ccdull;
        return hash ^ (hash >> 32);
    }

    // A space within the chunk: the strings around it.
    void add_space(int i, int word, Hash before) {
        const int start = i + 2;
        const auto space = std::find(chunk_.types + start, chunk_.types + chunk_.n, SPACE);
        const int end = static_cast<int>(space - chunk_.types);
        const Hash a = left_[i], b = right_[start], a1 = begins_[i] > 1 ? left_[begins_[i] - 2] : START;
        const Hash b1 = end + 1 < chunk_.n ? right_[end + 1] : END, read = piece(word, i, LONGEST);
        kind_ = 80;
        for (auto&& each : {L{a}, L{b}, L{a, b}, L{a1, a, b}, L{a, b, b1}, L{a1, b}, L{a, before}, L{a, b, before},
                            L{read}, L{read, b}})
            add(each);
    }

    void add(L parts) {
        Hash hash = ++kind_;
        for (Hash part : parts) hash = hashed(hash, part);
        found_.push_back(static_cast<std::uint32_t>(hash >> 7) & mask_);
    }

    Hash character(int i) const { return i < 0 || i >= chunk_.n ? 1 : chunk_.characters[i]; }

    Hash type(int i) const {
        if (i < 0 || i == chunk_.n) return SPACE;
        return i < chunk_.n ? chunk_.types[i] : i == chunk_.n + 1 ? 32 + chunk_.next : 0;
    }

    // The last characters of the current word, and whether they are all of it.
    Hash piece(int word, int i, int longest) const {
        const int from = std::max(word, i - longest);
        Hash hash = from == word;
        for (int j = from; j <= i; ++j) hash = hashed(hash, chunk_.characters[j]);
        return hash;
    }

    const Chunk& chunk_;
    std::uint32_t mask_;
    std::vector<int> begins_;  // where the string between spaces begins
    std::vector<Hash> left_, right_;  // of that string up to a character, and from it on
    std::vector<std::uint32_t> found_;
    Hash kind_ = 0;
};

// Whether a boundary after character i would divide what a reader sees as one character (roughly Unicode's UAX 29).
inline bool in_cluster(const Chunk& chunk, int i) {
    const std::uint8_t own = chunk.types[i], next = chunk.types[i + 1];
    if (next == EXTENDS || next == JOINS || own == JOINS) return true;
    if (own != FLAG || next != FLAG) return false;
    int flags = 0;  // two of them are a flag; more than a line of flags is no text
    for (int j = i; j >= 0 && chunk.types[j] == FLAG && flags < 1000; --j) ++flags;
    return flags % 2 == 1;
}

// Sets the label of every place, from left to right; `decide(i, features, labels)` returns it where there is a choice.
template <class Decide>
void label_places(const Chunk& chunk, const BoundaryModel& model, std::int8_t* found, Decide&& decide) {
    BoundaryFeatures features(chunk, model.mask);
    Boundary previous = TOKEN_ENDS;
    int word = 0;
    for (int i = 0; i < chunk.n; ++i) {
        Boundary label = INSIDE;
        if (chunk.types[i] == SPACE) {
            if (found[i - 1] != INSIDE) word = i + 1;
        } else if (i + 1 == chunk.n) {
            label = TOKEN_ENDS;
        } else if (!model.whole_clusters || !in_cluster(chunk, i)) {
            const int labels = chunk.types[i + 1] == SPACE ? 2 : model.labels;
            label = static_cast<Boundary>(decide(i, features.at(i, word, previous), labels));
            previous = label;
        }
        found[i] = label;
        if (label != INSIDE) word = i + 1;
    }
}

// Writes the sum of the weights for each label, and returns the first of the best labels.
inline int best_boundary(
    const BoundaryModel& model, const std::vector<std::uint32_t>& features, int labels, float* scores
) {
    std::fill(scores, scores + labels, 0.0f);
    for (std::uint32_t feature : features)
        for (int label = 0; label < labels; ++label)
            scores[label] += model.weights[static_cast<std::size_t>(feature) * model.labels + label];
    return static_cast<int>(std::max_element(scores, scores + labels) - scores);
}

// Writes the label of the place after each character of a chunk, which neither begins nor ends with a space.
inline void find_boundaries(const Chunk& chunk, const BoundaryModel& model, std::int8_t* found) {
    float scores[3];
    label_places(chunk, model, found, [&](int, const std::vector<std::uint32_t>& features, int labels) {
        return best_boundary(model, features, labels, scores);
    });
}

// Learns the weights, which must be 0, from chunks with the right labels. `seed` is that of their order.
inline void learn_boundaries(
    const std::vector<Chunk>& chunks, const std::vector<const std::int8_t*>& gold, const BoundaryModel& model,
    int epochs, std::uint64_t seed
) {
    const std::size_t size = (static_cast<std::size_t>(model.mask) + 1) * model.labels;
    std::vector<double> sums(size);  // of each change times the number of places before it, for the average
    std::vector<std::size_t> order(chunks.size());
    std::iota(order.begin(), order.end(), 0);
    std::vector<std::int8_t> found;
    double places = 1;
    float scores[3];
    for (int epoch = 0; epoch < epochs; ++epoch) {
        for (std::size_t i = order.size(); i-- > 1;) {
            seed = seed * 6364136223846793005ull + 1442695040888963407ull;
            std::swap(order[i], order[(seed >> 33) % (i + 1)]);
        }
        for (std::size_t k : order) {
            found.resize(chunks[k].n);
            const auto decide = [&](int i, const std::vector<std::uint32_t>& features, int labels) {
                const int right = gold[k][i];
                best_boundary(model, features, labels, scores);
                for (int label = 0; label < labels; ++label) scores[label] += label != right;  // the margin
                const int rival = static_cast<int>(std::max_element(scores, scores + labels) - scores);
                for (std::uint32_t feature : features) {
                    if (rival == right) break;
                    const std::size_t row = static_cast<std::size_t>(feature) * model.labels;
                    for (auto [label, change] : {std::pair{right, 0.1f}, std::pair{rival, -0.1f}}) {
                        model.weights[row + label] += change;
                        sums[row + label] += change * places;
                    }
                }
                ++places;
                return right;
            };
            label_places(chunks[k], model, found.data(), decide);
        }
    }
    for (std::size_t i = 0; i < size; ++i) model.weights[i] -= static_cast<float>(sums[i] / places);
}

}  // namespace mindroot
