"""The spaCy component `mind_root`: what it reads from a Doc, and how it writes trees back."""
