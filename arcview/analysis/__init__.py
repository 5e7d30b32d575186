"""Pure functions over the model. No I/O: what they need of files or states is handed to them."""
