"""Maps and classes: units labelled by their rows, and units that learn."""
