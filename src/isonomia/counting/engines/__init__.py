"""Where rows are counted: in memory, or by a database that holds them. An engine is a thin file on `Engine`."""
