"""Files that the report is made of."""
