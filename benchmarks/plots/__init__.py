"""The main comparisons as one SVG, legible on light and dark pages."""
