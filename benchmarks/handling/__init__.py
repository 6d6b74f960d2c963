"""How planning tools treat what models send: cases as data, an entry for each implementation."""
