"""The planning tools of other projects, called as their own frameworks call them."""
