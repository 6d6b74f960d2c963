"""Plans for people: text, Markdown, Mermaid, DOT and HTML, all from one outline."""
