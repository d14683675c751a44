"""Rules for labelled trees: kinds, presets, rules learnt from treebanks, the best valid tree, and mending of trees."""

from .kinds import Direction, Forbidden, Leaf, Planar, Unique, Violation
from .labelled import LabelledTree
from .labelled import decode_labelled as decode_labelled  # public at the top level, as the others that are so named
from .learning import learn_rules as learn_rules
from .mending import mend_tree, vote_labelled
from .ruleset import UD
from .ruleset import Rules as Rules
from .ruleset import to_rules as to_rules

__all__ = [
    "UD",
    "Direction",
    "Forbidden",
    "LabelledTree",
    "Leaf",
    "Planar",
    "Unique",
    "Violation",
    "mend_tree",
    "vote_labelled",
]
