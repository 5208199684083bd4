"""The façade of a person at a terminal: a window in the normal scrollback, which only draws what a turn tells."""
