"""The de Bruijn graph of one k, its unitigs, and changes of it."""
