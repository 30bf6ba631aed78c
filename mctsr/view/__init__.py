"""Trees as people read them: the order and shape of the lines, without colours and without a terminal."""
