"""The screens: the only package that imports textual and rich."""
