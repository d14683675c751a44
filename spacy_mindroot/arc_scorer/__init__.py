"""The trainable scorer: arc scores for `mind_root`, in thinc."""
