"""What commands take: options declared once, and how their texts are read."""
