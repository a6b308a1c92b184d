"""Where rows are counted: in memory, or in a database. An engine is a thin file on `Engine`."""
