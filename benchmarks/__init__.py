"""How fast, and how equal: Isonomia against other libraries, in one run, results compared first."""
