"""What the root constraint changes on a corpus: measures, pictures and reports. It reads; it never writes a tree."""
