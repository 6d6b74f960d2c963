"""Where plans and their journals are kept."""
