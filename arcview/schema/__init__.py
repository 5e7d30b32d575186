"""The pydantic models of the formats that arcview writes and promises (see the run format)."""
