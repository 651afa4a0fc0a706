"""The sections of the report: each file registers one, and nothing else changes when one is added."""
