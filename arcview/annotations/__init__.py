"""Cases as annotators make them: label scheme, append-only store, export. Knows no screen."""
