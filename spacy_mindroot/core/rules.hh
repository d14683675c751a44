// The best labelled tree under rules, by best-first branch and bound.
//
// The relaxation of a node ignores all rules about combinations of arcs: it is the best single-rooted tree when each arc
// has its best label. If that tree breaks a rule, its node is divided into children that exclude the tree but together
// keep every tree and its weight:
//
// - unique, two dependents of head h: either the first is no such dependent of h, or it is, and then every other one of
//   h pays the price.
// - leaf, a dependent of token t: either t has none of the labels, or it has, and then every dependent of t that is not
//   allowed pays the price.
// - planar, token p: one of the arcs that make its arc cross is absent, or all are present, and then p pays the price on
//   every head on which they make it cross. Where both rules about p are hard, a single arc often suffices.
//
// The price of a hard rule is infinite. Once a child has imposed a price on single arcs, the relaxation knows it
// exactly. Of several violations, the one divides the node that seems to cost the most to avoid.
//
// tests/twins/rules_reference.py takes the same steps in plain Python.
#pragma once

#include <deque>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "decode.hh"
#include "projective.hh"

namespace mindroot {

// Rules over numbered labels, as `CompiledRules` holds them. The arrays are the caller's.
struct RuleTables {
    int n_labels, n_classes, n_head_kinds;
    const std::int32_t* class_of;  // (labels,)
    const double* prices;          // (dependent kinds, head kinds, 2, labels)
    int n_unique, n_leaf, n_planar;
    const std::uint8_t *unique, *leaf, *below, *planar;  // (rules, classes) each
    const std::uint8_t *other, *paired;                  // (planar rules,)
    const double *unique_prices, *leaf_prices, *planar_prices;
};

struct RulesFound {
    Fault fault;
    bool found = false;
    double value = -std::numeric_limits<double>::infinity();
    double bound = -std::numeric_limits<double>::infinity();
    std::int64_t nodes = 0;
    std::vector<std::int32_t> heads, labels;
};

// What the search derives from the rules alone, once for all sentences.
class PreparedRules {
public:
    // What the rules about single arcs do to the labels of an arc.
    enum Pricing : std::uint8_t { free, masked, priced };

    void prepare(const RuleTables& tables, int n_kinds) {
        rules = tables;
        leaf_mask = 1 + rules.n_unique;
        below_mask = leaf_mask + rules.n_leaf;
        planar_mask = below_mask + rules.n_leaf;
        const std::size_t n_classes = rules.n_classes;
        masks_.assign(n_classes, 1);
        for (auto [from, count] : {std::pair(rules.unique, rules.n_unique), std::pair(rules.leaf, rules.n_leaf),
                                   std::pair(rules.below, rules.n_leaf), std::pair(rules.planar, rules.n_planar)})
            masks_.insert(masks_.end(), from, from + count * n_classes);
        classes_.assign(2 * (planar_mask + rules.n_planar), {});
        for (std::size_t k = 0; k < masks_.size(); ++k)
            classes_[k / n_classes * 2 + masks_[k]].push_back(static_cast<int>(k % n_classes));
        for (auto [bits, first, count] :
             {std::tuple(&unique, 1, rules.n_unique), std::tuple(&leaf, leaf_mask, rules.n_leaf),
              std::tuple(&below, below_mask, rules.n_leaf), std::tuple(&planar, planar_mask, rules.n_planar)}) {
            bits->assign(n_classes, 0);
            for (int rule = 0; rule < count; ++rule)
                for (const int own : classes(first + rule, true)) (*bits)[own] |= bit(rule);
        }
        const std::size_t n_prices = std::size_t(2) * n_kinds * rules.n_head_kinds;
        pricing_.assign(n_prices, free);
        doubles_.assign(n_prices * rules.n_labels, 0);
        for (std::size_t k = 0; k < doubles_.size(); ++k) {
            const double price = rules.prices[k];
            std::uint8_t& pricing = pricing_[k / rules.n_labels];
            if (price == std::numeric_limits<double>::infinity())
                doubles_[k] = FORBIDDEN, pricing = std::max<std::uint8_t>(pricing, masked);
            else if (price != 0)
                pricing = priced;
        }
        floats_.assign(doubles_.begin(), doubles_.end());
    }

    // The number of the prices of an arc, by the kinds of its dependent and head, and whether the head is on the right.
    std::size_t prices_of(int kind, int head_kind, bool right) const {
        return (std::size_t(kind) * rules.n_head_kinds + head_kind) * 2 + right;
    }
    Pricing pricing(std::size_t prices) const { return static_cast<Pricing>(pricing_[prices]); }
    const double* amounts(std::size_t prices) const { return rules.prices + prices * rules.n_labels; }

    // For each label, 0 if it is allowed, else -inf.
    template <class Label>
    const Label* allowed(std::size_t prices) const {
        if constexpr (std::is_same_v<Label, float>)
            return &floats_[prices * rules.n_labels];
        else
            return &doubles_[prices * rules.n_labels];
    }

    const std::uint8_t* mask(int number) const { return &masks_[std::size_t(number) * rules.n_classes]; }

    // The classes that a mask covers, or those that it does not.
    const std::vector<int>& classes(int number, bool covered) const { return classes_[2 * number + covered]; }

    // For each class, the rules that cover it. Rules from the 64th on share the last bit.
    std::vector<std::uint64_t> unique, leaf, below, planar;
    static std::uint64_t bit(int rule) { return std::uint64_t(1) << std::min(rule, 63); }

    RuleTables rules;
    int leaf_mask, below_mask, planar_mask;  // the numbers of the first masks of each kind; 0 covers all classes

private:
    std::vector<std::uint8_t> masks_, pricing_;
    std::vector<std::vector<int>> classes_;
    std::vector<float> floats_;
    std::vector<double> doubles_;
};

// The scores of all labels, in rows: one for each arc, or for each of some arcs, or shared by arcs.
template <class Label>
struct LabelRows {
    const Label* scores;
    const std::int64_t* cells;   // the arc of each row, token * (n + 1) + head; null if all arcs have one
    std::size_t size;            // the number of `cells`
    const std::int32_t* shared;  // the row of each arc; null if each has its own
};

// The greatest of row[0:size] + allowed[0:size], where `allowed` may be null. All of them are added to `sum`, so that a
// NaN or +inf among them shows in the sum.
template <int BYTES, class T>
MINDROOT_INLINE T greatest(const T* row, const T* allowed, int size, T& sum) {
    T best = -std::numeric_limits<T>::infinity();
#if MINDROOT_VECTORS
    using V = Vectors<T, BYTES>;
    if (size >= V::LANES) {
        typename V::Scores most = typename V::Scores{} + best, sums = {};
        auto take = [&](int k) {
            typename V::Scores scores = load<typename V::Scores>(row + k);
            if (allowed != nullptr) scores += load<typename V::Scores>(allowed + k);
            most = scores > most ? scores : most;
            sums += scores;
        };
        for (int k = 0; k + V::LANES <= size; k += V::LANES) take(k);
        if (size % V::LANES) take(size - V::LANES);
        for (int lane = 0; lane < V::LANES; ++lane) sum += sums[lane];
        return extreme<V::LANES, true>(most)[0];
    }
    if constexpr (BYTES > 16) return greatest<BYTES / 2>(row, allowed, size, sum);
#endif
    for (int k = 0; k < size; ++k) {
        const T score = allowed == nullptr ? row[k] : row[k] + allowed[k];
        best = std::max(best, score);
        sum += score;
    }
    return best;
}

template <int BYTES>
struct LabelLoops;

#define MINDROOT_LABEL_LOOPS(BYTES, TARGET)                                     \
    template <>                                                                 \
    struct LabelLoops<BYTES> {                                                  \
        template <class T>                                                      \
        TARGET static T greatest(const T* row, const T* allowed, int size, T& sum) { \
            return mindroot::greatest<BYTES>(row, allowed, size, sum);          \
        }                                                                       \
    };
MINDROOT_LABEL_LOOPS(16, )
#if MINDROOT_DISPATCH
MINDROOT_LABEL_LOOPS(32, __attribute__((target("avx2"))))
MINDROOT_LABEL_LOOPS(64, __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))))
#endif

template <class T>
T greatest_label(const T* row, const T* allowed, int size, T& sum) {
#if MINDROOT_DISPATCH
    if (vector_bytes == 64) return LabelLoops<64>::greatest(row, allowed, size, sum);
    if (vector_bytes == 32) return LabelLoops<32>::greatest(row, allowed, size, sum);
#endif
    return LabelLoops<16>::greatest(row, allowed, size, sum);
}

// Searches one sentence after the other, and keeps its memory between them.
template <class Label>
class RuleSearch {
public:
    // Arcs that have no row of labels are left out. Writes the score of each arc that has one to `best` unless it is
    // null: the score with its best label.
    void start(const double* arcs, const LabelRows<Label>& labels, int n, const std::int32_t* kinds,
               const std::int32_t* head_kinds, const PreparedRules& prepared, bool projective, double* best) {
        prepared_ = &prepared;
        arcs_ = arcs;
        labels_ = labels.scores;
        shared_ = labels.shared;
        kinds_ = kinds;
        head_kinds_ = head_kinds;
        n_ = n;
        columns_ = n + 1;
        classes_ = prepared.rules.n_classes;
        projective_ = projective;
        const RuleTables& rules = prepared.rules;
        const std::size_t size = std::size_t(n) * columns_, rows = labels.cells ? labels.size : size;
        cells_.reserve(rows * classes_);
        label_.reserve(rows * classes_);
        best_.reserve(rows);
        ready_.assign(rows, 0);
        scores_.assign(size, FORBIDDEN);
        unique_done_.assign(std::size_t(rules.n_unique) * columns_, 0);
        leaf_done_.assign(std::size_t(rules.n_leaf) * columns_, 0);
        charged_.assign(std::size_t(rules.n_planar) * size, 0);
        heads_.resize(n);
        chosen_.resize(n);
        count_.resize(columns_);
        seen_.resize(columns_);
        log_.clear();
        best_log_.clear();
        raised_.clear();
        applied_.clear();
        nodes_.clear();
        found_ = {};
        sparse_ = labels.cells != nullptr;
        if (sparse_) {
            std::int32_t* slots = slots_.reserve(size);
            for (std::size_t row = 0; row < rows; ++row) {
                slots[labels.cells[row]] = static_cast<std::int32_t>(row);
                scores_[labels.cells[row]] = best_score(labels.cells[row], row);
                if (best != nullptr) best[row] = scores_[labels.cells[row]];
            }
        } else {
            for (int token = 0; token < n; ++token)
                for (int head = 0; head <= n; ++head) {
                    const std::size_t cell = std::size_t(token) * columns_ + head;
                    if (head != token + 1) scores_[cell] = best_score(cell, cell);
                }
        }
    }

    std::size_t bytes() const {
        return cells_.bytes() + label_.bytes() + best_.bytes() + slots_.bytes() + scores_.capacity() * sizeof(double) +
               charged_.capacity() + nodes_.size() * sizeof(Node);
    }

    RulesFound run(std::int64_t max_nodes) {
        if (found_.fault) return std::move(found_);
        std::vector<Entry> opened;
        std::int64_t order = 0;
        bool dive = false;
        double ceiling = FORBIDDEN;
        int parent = NONE;
        std::vector<Edits> waiting(1);
        while (true) {
            for (Edits& edits : waiting) {
                Node node{parent, std::move(edits), parent == NONE ? 0 : nodes_[parent].depth + 1, 0, {}};
                if (!evaluate(node)) {
                    if (found_.fault) return std::move(found_);
                    continue;
                }
                if (node.branches.empty() || !(node.bound > found_.value)) continue;
                opened.push_back({dive ? node.depth : 0, node.bound, ++order, static_cast<int>(nodes_.size())});
                std::push_heap(opened.begin(), opened.end());
                nodes_.push_back(std::move(node));
            }
            if (dive && found_.found) break;  // one valid tree is enough
            if (opened.empty() || (!dive && opened.front().bound <= found_.value)) {
                opened.clear();
                break;
            }
            if (found_.nodes >= max_nodes && !dive) {
                if (found_.found) break;
                dive = true;
                ceiling = opened.front().bound;
                projective_ |= rules().n_planar > 0;
                for (Entry& entry : opened) entry.depth = nodes_[entry.node].depth;
                std::make_heap(opened.begin(), opened.end());
            }
            if (found_.nodes >= 2 * max_nodes) break;
            std::pop_heap(opened.begin(), opened.end());
            parent = opened.back().node;
            opened.pop_back();
            waiting = std::move(nodes_[parent].branches);
        }
        found_.bound = std::max(found_.value, ceiling);
        for (const Entry& entry : opened) found_.bound = std::max(found_.bound, entry.bound);
        return std::move(found_);
    }

private:
    enum Operation : std::uint8_t { keep, drop, price_others, price, unique_done, leaf_done };
    static constexpr int ANY = -1, ALL = 0;

    // An edit of the working scores. Rows are tokens from 0, columns heads, 0 = ROOT.
    struct Edit {
        Operation operation;
        std::int32_t row, column, mask, rule;
    };
    using Edits = std::vector<Edit>;

    struct Node {
        int parent;
        Edits edits;
        int depth;
        double bound;
        std::vector<Edits> branches;
    };

    // The greatest entry is on top of the heap: the deepest in a dive, else the heaviest, and the first among equals.
    struct Entry {
        int depth;
        double bound;
        std::int64_t order;
        int node;

        bool operator<(const Entry& other) const {
            if (depth != other.depth) return depth < other.depth;
            if (bound != other.bound) return bound < other.bound;
            return order > other.order;
        }
    };

    const std::uint8_t* mask(int number) const { return prepared_->mask(number); }
    const RuleTables& rules() const { return prepared_->rules; }
    std::size_t slot(std::size_t cell) const { return sparse_ ? slots_.data()[cell] : cell; }
    const Label* labels_of(std::size_t row) const {
        return labels_ + std::size_t(shared_ ? shared_[row] : row) * rules().n_labels;
    }

    std::size_t prices_of(std::size_t cell) const {
        const int token = static_cast<int>(cell / columns_), head = static_cast<int>(cell % columns_);
        return prepared_->prices_of(kinds_[token], head_kinds_[head], head > token + 1);
    }

    // The score of an arc with its best label.
    double best_score(std::size_t cell, std::size_t row) {
        const int n_labels = rules().n_labels;
        const Label* own = labels_of(row);
        const std::size_t prices = prices_of(cell);
        const double arc = arcs_[cell];
        if (prepared_->pricing(prices) != PreparedRules::priced) {
            const bool masked = prepared_->pricing(prices) == PreparedRules::masked;
            Label sum = 0;
            const double best =
                greatest_label(own, masked ? prepared_->template allowed<Label>(prices) : nullptr, n_labels, sum);
            const double value = arc + best;
            if (sum < std::numeric_limits<Label>::infinity() && value < std::numeric_limits<double>::infinity())
                return value;
        }
        const double* amounts = prepared_->amounts(prices);
        double best = FORBIDDEN;
        for (int k = 0; k < n_labels; ++k) {
            const double value = arc + own[k] - amounts[k];
            if (!(value < std::numeric_limits<double>::infinity()) && !found_.fault)
                found_.fault = {FaultKind::not_finite, static_cast<int>(cell / columns_) + 1,
                                static_cast<int>(cell % columns_)};
            best = std::max(best, value);
        }
        return best;
    }

    // The best score of each class of labels on an arc that is not forbidden. They are computed when first needed.
    double* classes_of(std::size_t cell) {
        const std::size_t row = slot(cell);
        double* values = cells_.data() + row * classes_;
        if (ready_[row]) return values;
        ready_[row] = 1;
        std::int32_t* names = label_.data() + row * classes_;
        std::fill(values, values + classes_, FORBIDDEN);
        std::fill(names, names + classes_, 0);
        const int n_labels = rules().n_labels;
        const Label* own = labels_of(row);
        const double* amounts = prepared_->amounts(prices_of(cell));
        const double arc = arcs_[cell];
        for (int k = 0; k < n_labels; ++k) {
            const double value = arc + own[k] - amounts[k];
            const int where = rules().class_of[k];
            if (value > values[where]) values[where] = value, names[where] = k;
        }
        best_.data()[row] = best_class(values);
        return values;
    }

    // The best class of an arc; the first in case of a tie.
    int best_class(const double* values) const {
        int best = 0;
        for (int k = 1; k < classes_; ++k)
            if (values[k] > values[best]) best = k;
        return best;
    }

    void set_score(double& score, double value) {
        if (score == value) return;
        log_.emplace_back(&score, score);
        score = value;
    }

    // Lowers the score of the classes that a mask covers, or of those that it does not.
    void charge(int row, int column, int number, bool covered, double amount) {
        const std::size_t cell = std::size_t(row) * columns_ + column;
        if (scores_[cell] == FORBIDDEN) return;
        double* values = classes_of(cell);
        std::int32_t& best = best_.data()[slot(cell)];
        bool best_changes = false;
        for (const int k : prepared_->classes(number, covered)) {
            if (values[k] == FORBIDDEN) continue;
            set_score(values[k], values[k] - amount);
            best_changes |= k == best;
        }
        if (!best_changes) return;
        best_log_.emplace_back(&best, best);
        best = best_class(values);
        set_score(scores_[cell], values[best]);
    }

    void forbid(int row, int column) { set_score(scores_[std::size_t(row) * columns_ + column], FORBIDDEN); }

    void forbid(int row, int column, int number, bool covered) {
        charge(row, column, number, covered, std::numeric_limits<double>::infinity());
    }

    void raise(std::vector<std::uint8_t>& flags, std::size_t at) {
        if (flags[at]) return;
        flags[at] = 1;
        raised_.push_back(&flags[at]);
    }

    void apply(const Edit& edit) {
        const std::size_t cell = std::size_t(edit.row) * columns_ + edit.column;
        switch (edit.operation) {
            case keep:
                for (int column = 0; column < columns_; ++column) {
                    if (edit.column == ANY || column == edit.column) {
                        if (edit.mask != ALL) forbid(edit.row, column, edit.mask, false);
                    } else {
                        forbid(edit.row, column);
                    }
                }
                break;
            case drop:
                for (int column = 0; column < columns_; ++column) {
                    if (edit.column != ANY && column != edit.column) continue;
                    if (edit.mask == ALL)
                        forbid(edit.row, column);
                    else
                        forbid(edit.row, column, edit.mask, true);
                }
                break;
            case price_others: {
                const double* prices = edit.mask < prepared_->leaf_mask ? rules().unique_prices : rules().leaf_prices;
                for (int row = 0; row < n_; ++row)
                    if (row != edit.row) charge(row, edit.column, edit.mask, true, prices[edit.rule]);
                break;
            }
            case price:
                charge(edit.row, edit.column, edit.mask, true, rules().planar_prices[edit.rule]);
                raise(charged_, edit.rule * scores_.size() + cell);
                break;
            case unique_done: raise(unique_done_, std::size_t(edit.rule) * columns_ + edit.column); break;
            case leaf_done: raise(leaf_done_, std::size_t(edit.rule) * columns_ + edit.column); break;
        }
    }

    // The number of entries in each log.
    struct Marks {
        std::size_t log, best_log, raised;
    };
    struct Level {
        int node;
        Marks before;
    };

    Marks marks() const { return {log_.size(), best_log_.size(), raised_.size()}; }

    void undo(const Marks& marks) {
        for (; log_.size() > marks.log; log_.pop_back()) *log_.back().first = log_.back().second;
        for (; best_log_.size() > marks.best_log; best_log_.pop_back()) *best_log_.back().first = best_log_.back().second;
        for (; raised_.size() > marks.raised; raised_.pop_back()) *raised_.back() = 0;
    }

    // Makes the working scores those of a node, from those of the node before.
    void move_to(int node) {
        path_.clear();
        for (; node != NONE; node = nodes_[node].parent) path_.push_back(node);
        std::size_t common = 0;
        while (common < applied_.size() && common < path_.size() &&
               applied_[common].node == path_[path_.size() - 1 - common])
            ++common;
        if (common < applied_.size()) undo(applied_[common].before);
        applied_.resize(common);
        for (std::size_t k = path_.size() - common; k-- > 0;) {
            applied_.push_back({path_[k], marks()});
            for (const Edit& edit : nodes_[path_[k]].edits) apply(edit);
        }
    }

    // Decodes a node, and sets its bound and branches. Returns false if it has no tree.
    bool evaluate(Node& node) {
        ++found_.nodes;
        move_to(node.parent);
        const Marks before = marks();
        for (const Edit& edit : node.edits) apply(edit);
        const bool possible = solve(node);
        undo(before);
        return possible;
    }

    bool solve(Node& node) {
        const Sentence sentence{scores_.data(), columns_, 1, n_, true, heads_.data()};
        const Fault fault = projective_ ? decode_projective(sentence, true) : decode_sentence(sentence, true);
        if (fault) {
            if (fault.kind == FaultKind::no_memory) found_.fault = fault;
            return false;
        }
        node.bound = 0;
        for (int token = 0; token < n_; ++token) {
            const std::size_t cell = std::size_t(token) * columns_ + heads_[token];
            node.bound += scores_[cell];
            classes_of(cell);
            chosen_[token] = best_.data()[slot(cell)];
        }
        value_ = node.bound;
        hardest_ = FORBIDDEN;
        find_suspects();
        if (suspects_.unique | suspects_.leaf | suspects_.planar) {
            test_unique(node);
            test_leaf(node);
            test_planar(node);
        }
        if (value_ > found_.value) {
            found_.found = true;
            found_.value = value_;
            found_.heads.assign(heads_.begin(), heads_.end());
            found_.labels.resize(n_);
            for (int token = 0; token < n_; ++token)
                found_.labels[token] =
                    label_.data()[slot(std::size_t(token) * columns_ + heads_[token]) * classes_ + chosen_[token]];
        }
        return true;
    }

    // What a token loses at least, compared with its arc in the tree, if it may not have the classes in `where` on the
    // arc from `column`.
    double regret(int token, int column, const std::uint8_t* where) {
        double best = FORBIDDEN;
        for (int other = 0; other < columns_; ++other) {
            const std::size_t cell = std::size_t(token) * columns_ + other;
            if (!(scores_[cell] > best)) continue;
            if (column != ANY && other != column) {
                best = scores_[cell];
            } else {
                const double* values = classes_of(cell);
                for (int k = 0; k < classes_; ++k)
                    if (!where[k]) best = std::max(best, values[k]);
            }
        }
        return scores_[std::size_t(token) * columns_ + heads_[token]] - best;
    }

    // Whether a violation is the one to divide the node by, so far: it seems to cost the most to avoid.
    bool hardest(double loss) {
        if (!(loss > hardest_)) return false;
        hardest_ = loss;
        return true;
    }

    // The rules that may be broken in the tree.
    struct Suspects {
        std::uint64_t unique, leaf, planar;
    };

    void find_suspects() {
        suspects_ = {0, 0, 0};
        std::fill(seen_.begin(), seen_.end(), 0);
        for (int token = 0; token < n_; ++token) {
            const int own = chosen_[token], head = heads_[token];
            const std::uint64_t unique = prepared_->unique[own];
            suspects_.unique |= unique & (seen_[head] | (rules().n_unique > 63 ? PreparedRules::bit(63) : 0));
            seen_[head] |= unique;
            if (head != 0) suspects_.leaf |= prepared_->below[own] & prepared_->leaf[chosen_[head - 1]];
            suspects_.planar |= prepared_->planar[own];
        }
    }

    void test_unique(Node& node) {
        for (int rule = 0; rule < rules().n_unique; ++rule) {
            if (!(suspects_.unique & PreparedRules::bit(rule))) continue;
            const int number = 1 + rule;
            const std::uint8_t* where = mask(number);
            const double amount = rules().unique_prices[rule];
            std::fill(count_.begin(), count_.end(), 0);
            for (int token = 0; token < n_; ++token)
                if (where[chosen_[token]] && !unique_done_[std::size_t(rule) * columns_ + heads_[token]])
                    ++count_[heads_[token]];
            for (int head = 0; head <= n_; ++head) {
                if (count_[head] < 2) continue;
                value_ -= (count_[head] - 1) * amount;
                int first = NONE;
                double most = FORBIDDEN, loss = 0;  // of the dependents but the one that loses the most
                for (int token = 0; token < n_; ++token) {
                    if (heads_[token] != head || !where[chosen_[token]]) continue;
                    const double own = std::min(regret(token, head, where), amount);
                    if (own > most) {
                        if (first != NONE) loss += most;
                        first = token;
                        most = own;
                    } else {
                        loss += own;
                    }
                }
                if (!hardest(loss)) continue;
                node.branches = {{{drop, first, head, number, rule}},
                                 {{keep, first, head, number, rule},
                                  {price_others, first, head, number, rule},
                                  {unique_done, first, head, number, rule}}};
            }
        }
    }

    void test_leaf(Node& node) {
        for (int rule = 0; rule < rules().n_leaf; ++rule) {
            if (!(suspects_.leaf & PreparedRules::bit(rule))) continue;
            const int number = prepared_->leaf_mask + rule, below = prepared_->below_mask + rule;
            const std::uint8_t *where = mask(number), *not_allowed = mask(below);
            const double amount = rules().leaf_prices[rule];
            std::fill(count_.begin(), count_.end(), 0);
            for (int token = 0; token < n_; ++token) {
                const int head = heads_[token];
                if (head != 0 && not_allowed[chosen_[token]] && where[chosen_[head - 1]] &&
                    !leaf_done_[std::size_t(rule) * columns_ + head])
                    ++count_[head];
            }
            for (int head = 1; head <= n_; ++head) {
                if (count_[head] == 0) continue;
                value_ -= count_[head] * amount;
                double loss = 0;
                for (int token = 0; token < n_; ++token)
                    if (heads_[token] == head && not_allowed[chosen_[token]])
                        loss += std::min(regret(token, head, not_allowed), amount);
                if (!hardest(std::min(loss, regret(head - 1, ANY, where)))) continue;
                node.branches = {{{drop, head - 1, ANY, number, rule}},
                                 {{keep, head - 1, ANY, number, rule},
                                  {price_others, head - 1, head, below, rule},
                                  {leaf_done, head - 1, head, below, rule}}};
            }
        }
    }

    void test_planar(Node& node) {
        for (int rule = 0; rule < rules().n_planar; ++rule) {
            if (!(suspects_.planar & PreparedRules::bit(rule))) continue;
            const int number = prepared_->planar_mask + rule;
            const std::uint8_t* where = mask(number);
            const std::uint8_t* charged = charged_.data() + rule * scores_.size();
            for (int token = 0; token < n_; ++token) {
                const std::uint8_t* own = charged + std::size_t(token) * columns_;
                if (!where[chosen_[token]] || own[heads_[token]]) continue;
                if (!(rules().other[rule] ? crosses_other(token + 1) : crosses_own(token + 1))) continue;
                const double amount = rules().planar_prices[rule];
                value_ -= amount;
                double loss = std::min(amount, regret(token, heads_[token], where));
                if (const int crossing = rules().paired[rule] ? hardest_crossing(token + 1, where) : 0) {
                    const int upper = heads_[crossing - 1];
                    if (!hardest(crossing_loss_)) continue;
                    Edits kept{{keep, crossing - 1, upper, ALL, rule}};
                    for (int head = 0; head <= n_; ++head)
                        if (head != token + 1 && clashes(token + 1, head, crossing, upper))
                            kept.push_back({drop, token, head, number, rule});
                    node.branches = {{{drop, crossing - 1, upper, ALL, rule}}, std::move(kept)};
                    continue;
                }
                for (const int dependent : reason_)
                    loss = std::min(loss, regret(dependent - 1, heads_[dependent - 1], mask(ALL)));
                if (!hardest(loss)) continue;
                node.branches.clear();
                Edits kept;
                for (const int dependent : reason_) {
                    node.branches.push_back(kept);
                    node.branches.back().push_back({drop, dependent - 1, heads_[dependent - 1], ALL, rule});
                    kept.push_back({keep, dependent - 1, heads_[dependent - 1], ALL, rule});
                }
                for (const int head : wrong_)
                    if (!own[head]) kept.push_back({price, token, head, number, rule});
                node.branches.push_back(std::move(kept));
            }
        }
    }

    // The token and all above it, without ROOT.
    void follow(int token, std::vector<int>& path) const {
        path.clear();
        for (; token; token = heads_[token - 1]) path.push_back(token);
    }

    static bool contains(const std::vector<int>& path, int token) {
        return std::find(path.begin(), path.end(), token) != path.end();
    }

    // Whether the arc to a token spans a token that is not below its head. `reason_` then is a path to ROOT, as the
    // dependents of its arcs; while it exists, the arc to the token crosses it from any of the heads `wrong_`.
    bool crosses_own(int token) {
        const int head = heads_[token - 1];
        if (head == 0) return false;
        bool found = false;
        for (int other = std::min(token, head) + 1; other < std::max(token, head); ++other) {
            follow(other, path_);
            if (contains(path_, head) || (found && path_.size() >= reason_.size())) continue;
            found = true;
            reason_.swap(path_);
        }
        if (!found) return false;
        wrong_.clear();
        for (int other = 1; other <= n_; ++other) {
            const auto own = std::find(reason_.begin(), reason_.end(), other);
            const auto above = own == reason_.end() ? reason_.begin() : own + 1;
            const int low = std::min(token, other), high = std::max(token, other);
            if (other != token &&
                std::any_of(above, reason_.end(), [&](int node) { return low < node && node < high; }))
                wrong_.push_back(other);
        }
        return true;
    }

    // Whether an arc crosses the arc to a token that it spans. As `crosses_own`.
    bool crosses_other(int token) {
        follow(heads_[token - 1], path_);
        for (int dependent = 1; dependent <= n_; ++dependent) {
            const int upper = heads_[dependent - 1];
            if (upper == 0 || !spans(token, heads_[token - 1], dependent, upper) || contains(path_, upper)) continue;
            reason_.assign(1, dependent);
            reason_.insert(reason_.end(), path_.begin(), path_.end());
            path_.push_back(0);
            wrong_.clear();
            for (const int other : path_)
                if (spans(token, other, dependent, upper)) wrong_.push_back(other);
            return true;
        }
        return false;
    }

    // The dependent of the arc that clashes with the arc to a token, and without which most is lost, or else with which;
    // 0 if no arc does. `crossing_loss_` then is what is lost at least.
    int hardest_crossing(int token, const std::uint8_t* where) {
        int found = 0;
        for (int dependent = 1; dependent <= n_; ++dependent) {
            const int upper = heads_[dependent - 1];
            if (!clashes(token, heads_[token - 1], dependent, upper)) continue;
            const double loss = std::min(regret(dependent - 1, upper, mask(ALL)),
                                         regret_beside(token, where, dependent, upper));
            if (found && !(loss > crossing_loss_)) continue;
            found = dependent;
            crossing_loss_ = loss;
        }
        return found;
    }

    // As `regret`, if the arc to a token may not have the classes in `where` from any head where it clashes with an arc.
    double regret_beside(int token, const std::uint8_t* where, int dependent, int upper) {
        double best = FORBIDDEN;
        for (int head = 0; head <= n_; ++head) {
            const std::size_t cell = std::size_t(token - 1) * columns_ + head;
            if (!(scores_[cell] > best)) continue;
            if (!clashes(token, head, dependent, upper)) {
                best = scores_[cell];
            } else {
                const double* values = classes_of(cell);
                for (int k = 0; k < classes_; ++k)
                    if (!where[k]) best = std::max(best, values[k]);
            }
        }
        return scores_[std::size_t(token - 1) * columns_ + heads_[token - 1]] - best;
    }

    // Whether the arc to a token breaks a rule about crossing arcs, "own" or "other", whatever the rest of the tree is.
    static bool clashes(int token, int head, int dependent, int upper) {
        if (upper == 0) return std::min(token, head) < dependent && dependent < std::max(token, head) && head != 0;
        return spans(token, head, dependent, upper);
    }

    // Whether an arc reaches from between a token and its head to beyond the token.
    static bool spans(int token, int head, int one, int other) {
        const int low = std::min(token, head), high = std::max(token, head);
        if (low < other && other < high) std::swap(one, other);
        return low < one && one < high && (head < token ? other > token : 0 < other && other < token);
    }

    const PreparedRules* prepared_;
    const double* arcs_;
    const Label* labels_;
    const std::int32_t* shared_;
    const std::int32_t *kinds_, *head_kinds_;
    int n_, columns_, classes_;
    bool projective_, sparse_;
    Buffer<std::int32_t> slots_;  // the row of labels of each arc, if there is not one for each
    Buffer<double> cells_;        // the best score of each class, for each row of labels
    Buffer<std::int32_t> label_;  // and the label that has it
    Buffer<std::int32_t> best_;   // the best class of each row
    std::vector<std::uint8_t> ready_;
    std::vector<double> scores_;  // the best score of each arc
    std::vector<std::uint8_t> unique_done_, leaf_done_, charged_;
    std::vector<std::pair<double*, double>> log_;  // scores before their edits
    std::vector<std::pair<std::int32_t*, std::int32_t>> best_log_;
    std::vector<std::uint8_t*> raised_;
    std::vector<Level> applied_;  // the path to the node whose scores are the working scores
    std::vector<std::int32_t> heads_, chosen_;
    std::vector<int> count_, path_, reason_, wrong_;
    std::vector<std::uint64_t> seen_;  // the rules whose labels a head has below it
    Suspects suspects_{};
    std::deque<Node> nodes_;
    double value_ = 0, hardest_ = 0, crossing_loss_ = 0;
    RulesFound found_;
};

template <class Label>
RulesFound search_rules(const double* arcs, const LabelRows<Label>& labels, int n, const std::int32_t* kinds,
                        const std::int32_t* head_kinds, const PreparedRules& rules, std::int64_t max_nodes,
                        bool projective, double* best) noexcept try {
    static thread_local RuleSearch<Label> search;  // reused across sentences
    constexpr std::size_t keep = std::size_t(64) << 20;
    search.start(arcs, labels, n, kinds, head_kinds, rules, projective, best);
    RulesFound found = search.run(max_nodes);
    if (search.bytes() > keep) search = RuleSearch<Label>();
    return found;
} catch (const std::bad_alloc&) {
    RulesFound found;
    found.fault = {FaultKind::no_memory, 0, 0};
    return found;
}

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
            double rest = FORBIDDEN;
            for (int head = 0; head <= n_; ++head) {
                if (head == token + 1) continue;
                if (row[head] > FORBIDDEN && (row[head] >= most - within || head == tree[token]))
                    take(token, head);
                else
                    rest = std::max(rest, row[head]);
            }
            rest_[token] = rest;
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
            const double others = bound - most[token];
            if (!(others + rest_[token] >= least)) continue;
            double rest = FORBIDDEN;
            for (int head = 0; head <= n_; ++head) {
                const std::size_t cell = std::size_t(token) * (n_ + 1) + head;
                if (head == token + 1 || taken_[cell]) continue;
                if (arcs_[cell] > FORBIDDEN && others + arcs_[cell] >= least)
                    take(token, head);
                else
                    rest = std::max(rest, arcs_[cell]);
            }
            rest_[token] = rest;
        }
        return !heads.empty();
    }

private:
    void take(int token, int head) {
        const std::size_t cell = std::size_t(token) * (n_ + 1) + head;
        taken_[cell] = 1;
        dependents.push_back(token);
        heads.push_back(head);
        cells.push_back(static_cast<std::int64_t>(cell));
    }

    const double* arcs_;
    int n_;
    std::vector<std::uint8_t> taken_;
    std::vector<double> rest_;  // the best score of the arcs of each token that are not taken
};

}  // namespace mindroot
