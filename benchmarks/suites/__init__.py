"""The suites of measurements, one in each module."""
