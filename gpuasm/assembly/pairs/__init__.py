"""Insert sizes, fragments and discordant pairs, and the links between unitigs that pairs support."""
