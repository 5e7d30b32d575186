"""Foreign files → model. One module a layout or format; found through `registry`."""
