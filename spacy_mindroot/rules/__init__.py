"""Rules for labelled trees: kinds, presets, rules learnt from treebanks, the best valid tree, and mending of trees."""

from .kinds import ROOT_POS, AnyRule, Direction, Forbidden, Leaf, Planar, Unique, Violation
from .labelled import MAX_NODES, LabelledTree, decode_labelled
from .learning import RuleCount, count_rules, learn_rules
from .mending import mend_tree, vote_labelled
from .ruleset import PRESETS, UD, Rules, to_rules

__all__ = [
    "MAX_NODES",
    "PRESETS",
    "ROOT_POS",
    "UD",
    "AnyRule",
    "Direction",
    "Forbidden",
    "LabelledTree",
    "Leaf",
    "Planar",
    "RuleCount",
    "Rules",
    "Unique",
    "Violation",
    "count_rules",
    "decode_labelled",
    "learn_rules",
    "mend_tree",
    "to_rules",
    "vote_labelled",
]
