"""The planning tools of others, called as their own frameworks call them."""
