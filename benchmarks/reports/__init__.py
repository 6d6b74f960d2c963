"""The page of tables that a run writes."""
