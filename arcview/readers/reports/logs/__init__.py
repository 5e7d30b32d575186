"""Text that test runners print for people, read as a last resort; one runner a module."""
