"""The page of tables that a run leaves behind."""
