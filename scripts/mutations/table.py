"""The mutations of the C++ core: one change each, and the reason where no test can tell the difference."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
CORE = Path("spacy_mindroot/core")
EXTENSIONS = ("_core", "_inference", "_rules")


class Mutation(NamedTuple):
    """One change to a header: `old` occurs exactly once in it."""

    header: str
    old: str
    new: str
    note: str
    equivalent: str = ""  # the reason why no test can tell the difference

    @property
    def extension(self) -> str:
        if self.header.startswith("rule_") or self.header in ("arcs_on_demand", "crossing_arcs"):
            return "_rules"
        return EXTENSIONS[self.header in ("numbers", "matrix_tree", "sampling", "inside_outside")]

    def mutated(self) -> str:
        """Return the changed text of the header; raise ValueError if the line has moved."""
        text = (ROOT / CORE / f"{self.header}.hh").read_text("utf8")
        if text.count(self.old) != 1:
            raise ValueError(f"{self.header}.hh: {text.count(self.old)} places instead of one have {self.old!r}")
        return text.replace(self.old, self.new)


MUTATIONS = [
    # rows.hh: the loops
    Mutation(
        "rows",
        "if (u != skip && row[u * stride] > best.score)",
        "if (u != skip && row[u * stride] >= best.score)",
        "scalar best: the last of equal entries",
    ),
    Mutation(
        "rows",
        "if (u != skip && row[u * stride] > best.score)",
        "if (row[u * stride] > best.score)",
        "scalar best: the self arc counts",
    ),
    Mutation(
        "rows",
        "const typename V::Columns better = scores > score;",
        "const typename V::Columns better = scores >= score;",
        "vector best: the last of equal entries",
    ),
    Mutation(
        "rows",
        "return {greatest[0], lowest == none ? NONE : static_cast<int>(lowest)};",
        "return {greatest[0], static_cast<int>(lowest)};",
        "vector best: no NONE",
    ),
    Mutation(
        "rows",
        "score == greatest ? column : typename V::Columns{} + none",
        "column",
        "vector best: the lowest column of all lanes",
    ),
    Mutation(
        "rows",
        "for (; u + V::LANES <= size;",
        "for (; u + V::LANES < size;",
        "vector best: the last full vector is read as the tail",
        "the tail is loaded from size - LANES, which is then that very vector",
    ),
    Mutation("rows", "if (u < size) take(", "if (false) take(", "vector best: no tail"),
    Mutation("rows", "        sum += scores;\n", "", "vector best: NaN and +inf are not noticed"),
    Mutation(
        "rows",
        "if (best.column != skip) return best;",
        "return best;",
        "vector best: the self arc counts",
    ),
    Mutation(
        "rows",
        "return lowest != NONE && total < std::numeric_limits<T>::infinity();",
        "return total < std::numeric_limits<T>::infinity();",
        "vector heads: a token without a head is not noticed",
    ),
    Mutation(
        "rows",
        "return lowest != NONE && total < std::numeric_limits<T>::infinity();",
        "return lowest != NONE;",
        "vector heads: NaN and +inf are not noticed",
    ),
    Mutation(
        "rows",
        "const Columns better = entering > own;",
        "const Columns better = entering >= own;",
        "vector meld: the other row's arc wins a tie",
    ),
    Mutation(
        "rows",
        "const bool better = entering > own;",
        "const bool better = entering >= own;",
        "scalar meld: the other row's arc wins a tie",
    ),
    Mutation(
        "rows",
        "const Scores own = load<Scores>(row + u) - row_best;",
        "const Scores own = load<Scores>(row + u);",
        "vector meld: the row is not shifted",
    ),
    Mutation(
        "rows",
        "better ? entered : load<Columns>(sites + u)",
        "load<Columns>(sites + u)",
        "vector meld: entrance sites are not kept",
    ),
    Mutation(
        "rows",
        "for (int u = 0; u < end; u += V::LANES, columns += V::LANES)",
        "for (int u = 0; u + V::LANES < end; u += V::LANES, columns += V::LANES)",
        "vector meld: a vector before the tail is left out",
    ),
    Mutation(
        "rows",
        "if (better) sites[u] = token == NONE ? other_sites[u] : token;",
        "if (better) sites[u] = token;",
        "scalar meld: entrance sites of contracted nodes are lost",
    ),
    Mutation(
        "rows",
        "std::fabs(row[u]) > bound && std::fabs(row[u]) <= std::numeric_limits<double>::max()",
        "row[u] > bound && std::fabs(row[u]) <= std::numeric_limits<double>::max()",
        "overflow: negative scores do not count",
    ),
    Mutation(
        "rows",
        "std::fabs(row[u]) > bound && std::fabs(row[u]) <= std::numeric_limits<double>::max()",
        "std::fabs(row[u]) > bound",
        "overflow: -inf counts as a large score",
    ),
    # arborescence.hh
    Mutation(
        "arborescence",
        "if (column != token + 1 && !(scores.at(token, column) <= std::numeric_limits<T>::max()))",
        "if (!(scores.at(token, column) <= std::numeric_limits<T>::max()))",
        "greedy graph: a self arc may not be NaN",
    ),
    Mutation(
        "arborescence",
        "if (heads[token] == NONE) return {FaultKind::no_head, token + 1, 0};",
        "if (heads[token] == NONE) return {FaultKind::no_head, token, 0};",
        "greedy graph: another token is named",
    ),
    Mutation("arborescence", "    if (!in_range) return false;\n", "", "is_tree: heads out of range"),
    Mutation(
        "arborescence",
        "if (distance >= n - distance) return false;",
        "if (distance >= n - distance - 1) return false;",
        "is_tree: a round less",
    ),
    Mutation(
        "arborescence",
        "        if (any == 0) return true;\n",
        "        if (any != 0) return true;\n",
        "is_tree: inverted",
    ),
    Mutation("arborescence", "    node.row[token] = DEAD;\n", "", "contraction: the self arc is not dead"),
    Mutation(
        "arborescence", "            first.row[token] = DEAD;\n", "", "contraction: arcs within the cycle live on"
    ),
    Mutation(
        "arborescence",
        "if (tokens(i) > tokens(longest)) longest = i;",
        "",
        "contraction: the row of the first member is taken over",
        "only O(n^2) is lost: any member's row may be taken over",
    ),
    Mutation(
        "arborescence",
        "        last_token_[representative] = last_token_[member];\n",
        "",
        "contraction: the list of tokens is cut",
    ),
    Mutation(
        "arborescence",
        "        tokens_[representative] += tokens_[member];\n",
        "",
        "contraction: tokens are not counted",
        "only O(n^2) is lost: any member's row may be taken over",
    ),
    Mutation(
        "arborescence",
        "if (member.root.score - member.best.score > root.score)",
        "if (member.root.score - member.best.score >= root.score)",
        "contraction: the last of equal root arcs",
    ),
    Mutation(
        "arborescence",
        "if (member.root.score - member.best.score > root.score)",
        "if (member.root.score > root.score)",
        "contraction: root arcs are not shifted",
    ),
    Mutation("arborescence", "        row_best = 0;\n", "", "contraction: the row is shifted again for each member"),
    Mutation(
        "arborescence",
        "contracted.root.score >= contracted.swap.score",
        "contracted.root.score > contracted.swap.score",
        "contraction: a token wins a tie with ROOT",
    ),
    Mutation(
        "arborescence",
        "if (contracted.best.score == FORBIDDEN) return {FaultKind::no_arborescence, first_token(node) + 1, 0};",
        "if (contracted.best.score == FORBIDDEN) return {FaultKind::no_arborescence, node, 0};",
        "contraction: another token is named",
    ),
    Mutation(
        "arborescence",
        "        for (int i = 0; i < length; ++i) nodes_[path_[i]].mark = finished;\n",
        "",
        "contraction: nodes are never finished",
    ),
    Mutation(
        "arborescence",
        "    for (int node = 0; node < size_; ++node) nodes_[node].mark = 0;\n",
        "",
        "expansion: marks of the contraction are left",
    ),
    Mutation(
        "arborescence",
        "        if (nodes_[node].mark) continue;",
        "        if (false) continue;",
        "expansion: nodes that were entered already are broken again",
    ),
    Mutation("arborescence", "return head == node;", "return false;", "no cycle is found"),
    # root_constraint.hh
    Mutation("root_constraint", "while (count > 1)", "while (count > 2)", "constraint: two roots will do"),
    Mutation(
        "root_constraint",
        "node.swap.score - node.root.score",
        "node.swap.score",
        "constraint: the cost of the root arc is left out",
    ),
    Mutation(
        "root_constraint",
        "            child.root.score = FORBIDDEN;\n",
        "",
        "optimisation case: the root arc stays",
    ),
    Mutation(
        "root_constraint",
        "            gains[cheapest] = gains[count];\n",
        "",
        "optimisation case: the gain of another child is kept",
    ),
    Mutation(
        "root_constraint",
        "            gains[cheapest] = gain(graph[node]);\n",
        "",
        "reduction case: the gain is not updated",
    ),
    Mutation(
        "root_constraint",
        "graph[node].best = graph[node].root;",
        "graph[node].best = graph[node].swap;",
        "reduction case: the swap is the best arc",
    ),
    Mutation(
        "root_constraint",
        "std::min(one, other) + 1, std::max(one, other) + 1",
        "one + 1, other + 1",
        "constraint: the two tokens are named in any order",
    ),
    # decode.hh
    Mutation(
        "decode",
        "any_beyond(row + first, last - first, 0x1p960)",
        "any_beyond(row + first, last - first, 0x1p1022)",
        "overflow: bound too high",
    ),
    Mutation(
        "decode",
        "if (too_large(token, 0, token + 1) || too_large(token, token + 2, scores.n + 1)) return 0x1p-64;",
        "if (too_large(token, 0, token + 1) || too_large(token, token + 2, scores.n + 1)) return 1;",
        "overflow: large scores are not scaled",
    ),
    Mutation(
        "decode",
        "if (too_large(token, 0, token + 1) || too_large(token, token + 2, scores.n + 1)) return 0x1p-64;",
        "if (too_large(token, 0, scores.n + 1)) return 0x1p-64;",
        "overflow: self arcs count",
    ),
    Mutation(
        "decode",
        "if (any_beyond(row + column * scores.column_stride, 1, 0x1p960)) return true;",
        "if (any_beyond(row + column * scores.column_stride, 1, 0x1p960)) return false;",
        "overflow: large scores of other layouts are not scaled",
    ),
    Mutation(
        "decode", "= scale * from.at(token, column);", "= from.at(token, column);", "overflow: the copy is not scaled"
    ),
    Mutation(
        "decode",
        "if (scores.column_stride == 1 && scale == 1)",
        "if (scale == 1)",
        "other layouts are read as if they were contiguous",
    ),
    Mutation(
        "decode",
        "if (tree && (!single_root || count_roots(heads, n) == 1)) return {};",
        "if (tree) return {};",
        "the greedy graph is taken with several roots",
    ),
    Mutation(
        "decode",
        "    if (!is_tree)\n",
        "    if (true)\n",
        "contraction of a graph without cycles",
        "only time is lost: there is no cycle to contract",
    ),
    Mutation(
        "decode",
        "        if (workspace_.bytes() > keep) workspace_ = Workspace();\n",
        "",
        "the memory of a long sentence is kept",
    ),
    # parallel.hh
    Mutation("parallel", "if (most <= 1)", "if (most < 1)", "one thread starts another", "only time is lost"),
    Mutation("parallel", "k < std::min(first + few, count)", "k < first + few", "items beyond the last one"),
    Mutation(
        "parallel", "k < std::min(first + few, count)", "k < std::min(first + few - 1, count)", "items are left out"
    ),
    Mutation("parallel", "    take_turns();\n    for", "    for", "the calling thread does not take part"),
    Mutation("parallel", "threads.size() < most - 1", "threads.size() < most", "a thread too many"),
    Mutation("parallel", "std::min(n_threads, count)", "n_threads", "more threads than items"),
    # kbest.hh
    Mutation(
        "kbest",
        "column == dependent + 1 ? FORBIDDEN : scale * from.at(dependent, column)",
        "column == dependent + 1 ? FORBIDDEN : from.at(dependent, column)",
        "overflow: scores of the k best are not scaled",
    ),
    Mutation(
        "kbest",
        "return loss != other.loss ? loss > other.loss : number > other.number;",
        "return loss != other.loss ? loss > other.loss : number < other.number;",
        "the newest of equal candidates comes first",
    ),
    Mutation(
        "kbest", "            if (found + 1 == k) break;\n", "", "candidates after the last tree", "only time is lost"
    ),
    Mutation(
        "kbest",
        "            if (const Fault fault = push(with, next.tree, trees)) return fault;\n",
        "",
        "half of the subspaces are lost",
    ),
    Mutation(
        "kbest",
        "                std::fill(row, row + columns_, FORBIDDEN);\n",
        "",
        "included arcs are not enforced",
    ),
    Mutation("kbest", "if (cost < swap.loss) swap = {cost, root, 0};", "", "trees with another root are left out"),
    Mutation(
        "kbest",
        "if (cost < swap.loss) swap = {cost, root, 0};",
        "if (cost <= swap.loss) swap = {cost, root, 0};",
        "trees with another root come first in a tie",
    ),
    Mutation("kbest", "to[0] = single_root_ ? FORBIDDEN : from[0];", "to[0] = from[0];", "swaps to a second root"),
    Mutation("kbest", "            to[head_[p] + 1] = FORBIDDEN;\n", "", "an arc of the tree replaces itself"),
    Mutation(
        "kbest",
        "for (int p = n_ - 1; p >= (single_root_ ? 1 : 0); --p)",
        "for (int p = n_ - 1; p >= 1; --p)",
        "the first root is never swapped",
    ),
    Mutation(
        "kbest",
        "if (!(best.score > tree_arc_[p])) break;",
        "if (!(best.score >= tree_arc_[p])) break;",
        "equally good arcs from descendants are contracted, too",
        "what this adds was found before, at the same cost, when the arc of the descendant had its turn",
    ),
    Mutation(
        "kbest",
        "std::max(row[column], other[column] - tree_arc_[inner])",
        "std::max(row[column], other[column])",
        "contraction: arcs are not shifted",
    ),
    Mutation(
        "kbest",
        "                    if (node_[q] == p) row[q + 1] = FORBIDDEN;\n",
        "                    ;\n",
        "contraction: arcs within a node live on",
    ),
    Mutation("kbest", "if (cost < cheapest.loss)", "if (cost <= cheapest.loss)", "the last of equally cheap swaps"),
    # projective.hh
    Mutation(
        "projective",
        "if (last[token] - first[token] + 1 != size[token]) return false;",
        "if (last[token] - first[token] + 1 < size[token]) return false;",
        "crossing arcs are not noticed",
    ),
    Mutation(
        "projective",
        "const double scale = safe_scale(scores);",
        "const double scale = 1;",
        "overflow: the chart is not scaled",
    ),
    Mutation(
        "projective",
        "            if (dependent == 0) return FORBIDDEN;\n",
        "            if (dependent == 0) return 0;\n",
        "ROOT has a head",
        "spans in which ROOT is a dependent are part of no tree that is read off the chart",
    ),
    Mutation(
        "projective",
        "first_(single_root ? 1 : 0)",
        "first_(1)",
        "projective trees with several roots are left out",
    ),
    Mutation(
        "projective", "arc_[at(j, i)] = halves + score(i, j);", "arc_[at(j, i)] = halves;", "arcs to the left are free"
    ),
    Mutation("projective", "+ score(root, 0);", ";", "root arcs are free"),
    Mutation(
        "projective",
        "root_ = right_[at(0, nodes_ - 1)] == FORBIDDEN ? NONE : 0;",
        "root_ = 0;",
        "a missing projective tree is not noticed",
    ),
    Mutation(
        "projective",
        "        is_projective(sentence.heads, n))",
        "        true)",
        "the greedy graph is taken with crossing arcs",
    ),
    Mutation(
        "projective",
        "    if (const Fault fault = decode_sentence(sentence, single_root)) return fault;\n",
        "",
        "every fault is one of crossing arcs",
    ),
    # numbers.hh
    Mutation(
        "numbers",
        "return larger - smaller < 40 ?",
        "return larger - smaller < 4 ?",
        "logarithms: small terms are dropped",
    ),
    Mutation("numbers", "larger + std::log1p(std::exp(smaller - larger))", "larger", "logarithms: the greater term"),
    Mutation("numbers", "return a >= 1e-100;", "return a > 0;", "small pivots are safe"),
    Mutation("numbers", "return a <= 1e100;", "return true;", "large numbers are safe"),
    Mutation(
        "numbers",
        "            if (factors[j] == zero) continue;\n",
        "",
        "logarithms: -inf is added",
        "only time is lost: `add` returns the larger weight if the other one is -inf",
    ),
    Mutation(
        "numbers",
        "if (pivots[i] != zero) columns[i]",
        "columns[i]",
        "logarithms: -inf is added in rows",
        "only time is lost: `add` returns the larger weight if the other one is -inf",
    ),
    # matrix_tree.hh
    Mutation("matrix_tree", "if (j > 0 || !light_) pivot", "pivot", "a single root: root arcs count in pivots"),
    Mutation(
        "matrix_tree",
        "if (j > 0 || !light_) pivot",
        "if ((j > 0 || !light_) && j < remaining - 1) pivot",
        "pivots lack a term",
    ),
    Mutation(
        "matrix_tree", "        if (log_pivots) *log_pivots += Numbers::log(pivot);\n", "", "pivots are not multiplied"
    ),
    Mutation(
        "matrix_tree",
        "            next_pivots[token + 1] = factors_[fewer];\n",
        "",
        "two tokens at a time: the first has its old arc into the second",
    ),
    Mutation(
        "matrix_tree",
        "            pivots[token + 1] = Numbers::zero;  // so that the row keeps its factors\n",
        "",
        "two tokens at a time: the first is joined with itself",
    ),
    Mutation(
        "matrix_tree",
        "entry = Numbers::add(entry, Numbers::multiply(pivots[next], factors_[j]));",
        "entry = Numbers::add(entry, Numbers::zero);",
        "two tokens at a time: the second lacks the paths by the first",
    ),
    Mutation(
        "matrix_tree",
        "        if (!Numbers::is_safe_divisor(pivot)) return false;\n",
        "",
        "pivots are not checked",
    ),
    Mutation(
        "matrix_tree",
        "                if (!Numbers::is_safe(columns[i])) return false;\n",
        "                ;\n",
        "results are not checked",
    ),
    Mutation(
        "matrix_tree",
        "            if (!Numbers::is_safe_divisor(columns[first])) return false;\n",
        "",
        "the last divisor is not checked",
    ),
    Mutation(
        "matrix_tree",
        "first == 0 ? &log_product : nullptr",
        "&log_product",
        "pivots of all halves are kept",
        "only the pivots of token 0 are used, and it is in the first half every time",
    ),
    Mutation(
        "matrix_tree",
        "shifts[i] = best == FORBIDDEN ? 0 : best;",
        "shifts[i] = best;",
        "a token with ROOT alone as head",
    ),
    Mutation(
        "matrix_tree",
        "root_shift = std::max(root_shift, score(i, 0) - shifts[i]);",
        "root_shift = 0;",
        "root arcs are not shifted",
    ),
    Mutation("matrix_tree", "row[column] /= sum;", "row[column] /= 1;", "marginals are not normalised"),
    Mutation(
        "matrix_tree",
        "    log_partition += log_product + root_shift;\n",
        "    log_partition += log_product;\n",
        "the shift of root arcs is not undone",
    ),
    Mutation(
        "matrix_tree",
        "part.arc(i, 0) = Numbers::add(part.arc(i, 0), weight(i, head + 1));",
        "part.arc(i, 0) = weight(i, head + 1);",
        "only one head above counts",
    ),
    Mutation(
        "matrix_tree",
        "    std::fill(seen.begin(), seen.end(), false);\n    search(last, up);",
        "    search(last, up);",
        "every token can be the root",
    ),
    Mutation(
        "matrix_tree",
        "const bool remains = head < 0 || (first <= head && head < last);",
        "const bool remains = head < 0 || (first <= head && head <= last);",
        "sampling by halves: an eliminated head is taken for one that remains",
    ),
    Mutation(
        "matrix_tree",
        "    if (all_allowed) return roots;\n",
        "",
        "the roots are always searched for",
        "only time is lost: if all arcs are allowed, all tokens are found",
    ),
    # confidence.hh
    Mutation("confidence", "(row[j] - best) / mixture.temperature", "row[j] - best", "no temperature"),
    Mutation("confidence", "0 : 1.0 / n;", "0 : 1.0 / (n + 1);", "all trees alike: the share of an arc"),
    Mutation("confidence", "(n - 1) * std::log(double(n))", "n * std::log(double(n))", "all trees alike: their number"),
    Mutation("confidence", "std::log1p(-mixture.lapse) + logprob", "logprob", "the lapse adds probability"),
    Mutation(
        "confidence", "all_allowed && !projective) return", "!projective) return", "all trees alike: forbidden arcs"
    ),
    Mutation(
        "confidence", "all_allowed && !projective) return", "all_allowed) return", "all trees alike: crossing arcs"
    ),
    # inside_outside.hh
    Mutation("inside_outside", "of_arc[at(i, j)] + of_arc[at(j, i)]", "of_arc[at(i, j)]", "arcs to the left are lost"),
    Mutation("inside_outside", "return greatest + std::log(sum);", "return std::log(sum);", "sums lack their greatest"),
    Mutation("inside_outside", "            shift_ += best;\n", "", "the shift is not undone"),
    Mutation(
        "inside_outside", "first_(single_root ? 1 : 0)", "first_(1)", "projective trees always have a single root"
    ),
    # sampling.hh
    Mutation("sampling", "if (column != i + 1 && i != root)", "if (i != root)", "samples: self arcs"),
    Mutation(
        "sampling",
        "if (column != i + 1 && i != root)",
        "if (column != i + 1)",
        "samples: the given root keeps its heads",
        "only time is lost: ROOT has no other dependent, so in every tree it is the head of the given root",
    ),
    Mutation("sampling", "column = root == NONE ? 0 : 1;", "column = 0;", "samples: other roots than the given one"),
    Mutation(
        "sampling",
        "in_tree[at] = true;\n        }\n        return true;",
        "in_tree[at] = true;\n        }\n        return false;",
        "every walk is given up",
        "both methods sample from the same distribution; only time is lost",
    ),
    Mutation(
        "sampling",
        "            for (int at = token; !in_tree[at]; at = heads[at - 1]) in_tree[at] = true;\n",
        "            in_tree[token] = true;\n",
        "walks join the tree with one token",
    ),
    Mutation("sampling", "if (--steps < 0) return false;", "if (--steps < 0) steps = 0;", "walks are never given up"),
    Mutation(
        "sampling",
        "std::upper_bound(sums, sums + n_, threshold)",
        "std::lower_bound(sums, sums + n_, threshold)",
        "a threshold that is met exactly",
        "random numbers hit a sum exactly once in 2^53 draws",
    ),
    Mutation("sampling", "row(i)[column] -= best;", "", "weights are not shifted"),
    Mutation(
        "sampling",
        "const double path = column == 0 ? 0 : escape[column - 1];",
        "const double path = 0;",
        "heads are drawn regardless of the paths",
    ),
    Mutation(
        "sampling",
        "if (with_root[root].empty()) continue;",
        "",
        "samplers for roots that were not drawn",
        "only time is lost",
    ),
    Mutation("sampling", "(engine_() >> 11) * 0x1p-53", "(engine_() >> 12) * 0x1p-53", "numbers in [0, 0.5)"),
    # The search under rules
    Mutation(
        "rule_search",
        "if (!found.dependent || loss > found.loss)",
        "if (!found.dependent || loss < found.loss)",
        "crossing arcs: the easiest one divides the node",
    ),
    Mutation(
        "rule_search",
        "if (common < applied_.size()) scores_.undo(applied_[common].before);",
        "if (common < applied_.size()) applied_.resize(common);",
        "edits of another branch stay",
    ),
    Mutation(
        "rule_scores",
        "best_changes |= k == best;",
        "best_changes |= false;",
        "the best label of an arc stays the best when it is forbidden",
    ),
    Mutation(
        "rule_tables",
        "pricing = std::max<std::uint8_t>(pricing, masked);",
        "pricing = masked;",
        "an arc with forbidden and priced labels: prices are dropped",
    ),
    Mutation(
        "rule_scores",
        "if (value > values[where]) values[where] = value, names[where] = k;",
        "if (value >= values[where]) values[where] = value, names[where] = k;",
        "the last of equal labels of a class",
    ),
    Mutation(
        "rule_search",
        "suspects_.unique |= unique & (seen_[head] |",
        "suspects_.unique |= unique & ~(seen_[head] |",
        "unique: the first dependent is suspected, not the second",
    ),
    Mutation(
        "rule_search",
        "if (head != 0) suspects_.leaf |=",
        "if (head > 1) suspects_.leaf |=",
        "leaf: dependents of the first token are not tested",
    ),
    Mutation(
        "rule_search",
        "suspects_.planar |= prepared_->planar[own];",
        "suspects_.planar = prepared_->planar[own];",
        "planar: only the last token counts",
    ),
    Mutation(
        "arcs_on_demand",
        "if (!(best[k] <= arcs_[cells[k]])) return false;",
        "if (best[k] > arcs_[cells[k]] + 1) return false;",
        "labels on demand: scores above 0 are let through",
    ),
    Mutation(
        "arcs_on_demand",
        "if (!(others + rest_[token] >= least)) continue;",
        "if (!(others + rest_[token] > least + 1)) continue;",
        "labels on demand: arcs that could be in a better tree are left out",
    ),
    Mutation(
        "arcs_on_demand",
        "if (arcs_[cell] > FORBIDDEN && others + arcs_[cell] >= least)",
        "if (arcs_[cell] > FORBIDDEN && others + arcs_[cell] >= least + 1)",
        "labels on demand: further arcs are left out",
    ),
    Mutation(
        "arcs_on_demand",
        "for (int token = 0; token < n_; ++token) bound += most[token] = std::max(most[token], rest_[token]);",
        "for (int token = 0; token < n_; ++token) bound += most[token];",
        "labels on demand: the bound leaves out arcs that are not scored",
    ),
]
