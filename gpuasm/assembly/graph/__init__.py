"""The graph of one k: solid k-mers, unitigs, their order, and k-mers numbered along them."""
