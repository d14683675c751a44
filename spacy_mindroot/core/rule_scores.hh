// The scores of a sentence while it is searched: arcs with their best labels, which edits lower and `undo` restores.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "arborescence.hh"
#include "rule_tables.hh"

namespace mindroot {

// An edit of the scores. Rows are tokens from 0, columns heads, 0 = ROOT; `mask` says which classes of labels.
struct Edit {
    enum Operation : std::uint8_t { keep, drop, price_others, price, done };
    static constexpr int ANY = -1, ALL = 0;  // any column; all classes

    Operation operation;
    std::int32_t row, column, mask;
};
using Edits = std::vector<Edit>;

template <class Label>
class RuleScores {
public:
    // The number of entries in each log.
    struct Marks {
        std::size_t log, best_log, raised;
    };

    // Arcs that have no row of labels are left out. Writes the score of each arc that has one to `best` unless it is
    // null: the score with its best label. Returns a fault if a score is NaN or +inf.
    Fault start(const double* arcs, const LabelRows<Label>& labels, int n, const std::int32_t* kinds,
                const std::int32_t* head_kinds, const PreparedRules& prepared, double* best) {
        prepared_ = &prepared;
        arcs_ = arcs;
        labels_ = labels.scores;
        shared_ = labels.shared;
        kinds_ = kinds;
        head_kinds_ = head_kinds;
        n_ = n;
        columns_ = n + 1;
        classes_ = prepared.rules.n_classes;
        fault_ = {};
        const RuleTables& rules = prepared.rules;
        const std::size_t size = std::size_t(n) * columns_, rows = labels.cells ? labels.size : size;
        cells_.reserve(rows * classes_);
        label_.reserve(rows * classes_);
        best_.reserve(rows);
        ready_.assign(rows, 0);
        scores_.assign(size, FORBIDDEN);
        done_.assign(std::size_t(prepared.planar_mask) * columns_, 0);
        charged_.assign(std::size_t(rules.n_planar) * size, 0);
        log_.clear();
        best_log_.clear();
        raised_.clear();
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
        return fault_;
    }

    std::size_t bytes() const {
        return cells_.bytes() + label_.bytes() + best_.bytes() + slots_.bytes() + scores_.capacity() * sizeof(double) +
               charged_.capacity();
    }

    // The best score of each arc to a token, by its heads.
    const double* operator[](int token) const { return scores_.data() + cell_of(token, 0); }

    // The best score of each class of labels on an arc that is not forbidden. They are computed when first needed.
    const double* classes_of(int token, int head) { return classes_of(cell_of(token, head)); }

    // The best class of an arc whose classes have been computed, and the best label of a class.
    int best_class(int token, int head) const { return best_.data()[slot(cell_of(token, head))]; }
    std::int32_t label(int token, int head, int own) const {
        return label_.data()[slot(cell_of(token, head)) * classes_ + own];
    }

    // Whether the rule of a mask needs no further test at a head, and whether a planar rule has its price on an arc.
    bool done(int mask, int head) const { return done_[cell_of(mask, head)]; }
    bool charged(int mask, int token, int head) const { return charged_[charge_of(mask, cell_of(token, head))]; }

    void apply(const Edit& edit) {
        switch (edit.operation) {
            case Edit::keep:
                for (int column = 0; column < columns_; ++column) {
                    if (edit.column == Edit::ANY || column == edit.column) {
                        if (edit.mask != Edit::ALL) forbid(edit.row, column, edit.mask, false);
                    } else {
                        forbid(edit.row, column);
                    }
                }
                break;
            case Edit::drop:
                for (int column = 0; column < columns_; ++column) {
                    if (edit.column != Edit::ANY && column != edit.column) continue;
                    if (edit.mask == Edit::ALL)
                        forbid(edit.row, column);
                    else
                        forbid(edit.row, column, edit.mask, true);
                }
                break;
            case Edit::price_others:
                for (int row = 0; row < n_; ++row)
                    if (row != edit.row) charge(row, edit.column, edit.mask, true, prepared_->price(edit.mask));
                break;
            case Edit::price:
                charge(edit.row, edit.column, edit.mask, true, prepared_->price(edit.mask));
                raise(charged_, charge_of(edit.mask, cell_of(edit.row, edit.column)));
                break;
            case Edit::done: raise(done_, cell_of(edit.mask, edit.column)); break;
        }
    }

    Marks marks() const { return {log_.size(), best_log_.size(), raised_.size()}; }

    void undo(const Marks& marks) {
        for (; log_.size() > marks.log; log_.pop_back()) *log_.back().first = log_.back().second;
        for (; best_log_.size() > marks.best_log; best_log_.pop_back())
            *best_log_.back().first = best_log_.back().second;
        for (; raised_.size() > marks.raised; raised_.pop_back()) *raised_.back() = 0;
    }

private:
    const RuleTables& rules() const { return prepared_->rules; }
    std::size_t cell_of(int row, int head) const { return std::size_t(row) * columns_ + head; }
    std::size_t charge_of(int mask, std::size_t cell) const {
        return (mask - prepared_->planar_mask) * scores_.size() + cell;
    }
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
            const Label* allowed = masked ? prepared_->template allowed<Label>(prices) : nullptr;
            const double best = with_loops([&](auto loops) { return loops.greatest(own, allowed, n_labels, &sum); });
            const double value = arc + best;
            if (sum < std::numeric_limits<Label>::infinity() && value < std::numeric_limits<double>::infinity())
                return value;
        }
        const double* amounts = prepared_->amounts(prices);
        double best = FORBIDDEN;
        for (int k = 0; k < n_labels; ++k) {
            const double value = arc + own[k] - amounts[k];
            if (!(value < std::numeric_limits<double>::infinity()) && !fault_)
                fault_ = {FaultKind::not_finite, static_cast<int>(cell / columns_) + 1,
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

    const PreparedRules* prepared_;
    const double* arcs_;
    const Label* labels_;
    const std::int32_t* shared_;
    const std::int32_t *kinds_, *head_kinds_;
    int n_, columns_, classes_;
    bool sparse_;
    Fault fault_;
    Buffer<std::int32_t> slots_;  // the row of labels of each arc, if there is not one for each
    Buffer<double> cells_;        // the best score of each class, for each row of labels
    Buffer<std::int32_t> label_;  // and the label that has it
    Buffer<std::int32_t> best_;   // the best class of each row
    std::vector<std::uint8_t> ready_;
    std::vector<double> scores_;  // the best score of each arc
    std::vector<std::uint8_t> done_, charged_;
    std::vector<std::pair<double*, double>> log_;  // scores before their edits
    std::vector<std::pair<std::int32_t*, std::int32_t>> best_log_;
    std::vector<std::uint8_t*> raised_;
};

}  // namespace mindroot
