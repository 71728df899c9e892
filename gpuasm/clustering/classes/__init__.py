"""Maps and classes: units labelled by their rows, and classification by learning vector quantisation."""
