"""Forms of the input screens. They read what was typed and name what is wrong; services write."""
