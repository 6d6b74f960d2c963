"""The main comparisons as one SVG, readable on light and dark pages."""
