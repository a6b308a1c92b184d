"""How is it shown: figures, HTML, Markdown, JSON."""
