"""How much Throng carries: a search for the largest load that holds, in each of many configurations."""
