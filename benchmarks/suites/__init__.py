"""What is measured: each module gives one suite."""
