"""The checks, one file each, in a folder named after the room that they ask: a file that is put there is a check."""
