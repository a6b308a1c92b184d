"""The kinds of pictures that come with the package, one file each; every module here registers its kind."""
