"""Single people compared with those like them, or with themselves in another group."""
