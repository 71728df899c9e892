"""The table of contigs, references and what reads say where the two differ."""

from __future__ import annotations

from table_text import Result, markdown, section


def agreement(results: list[Result]) -> str:
    """Return a row for each assembly of each set."""
    head = ["reads", "by", "reference covered", "again", "on N", "differing places"]
    head += ["more reads for contig / reference / neither", "differing where all cover"]
    head += ["contigs' bases outvoted by reads", "reference's"]
    parts = []
    for result in results:
        if result["benchmark"] != "agreement":
            continue
        sets = result["parameters"]["sets"]
        rows = [
            [
                sets[row["set"]]["what"] or row["set"],
                row["assembler"],
                *(row[key] for key in ("covered", "covered_again", "on_unknown", "places")),
                " / ".join(str(row[f"for_{side}"]) for side in ("contig", "reference", "neither")),
                f"{row['places_covered_by_all']} in {row['covered_by_all']:,}",
                row["outvoted"],
                row["reference_outvoted"],
            ]
            for row in result["rows"]
        ]
        parts.append(section(result, markdown(head, rows)))
    return "\n\n".join(parts)
