"""What commands give: lines and tables on the screen, files, runs in a store, exit codes."""
