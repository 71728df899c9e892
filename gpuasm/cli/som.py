"""``gpuasm som``: train self-organising maps of tables, map other tables, draw them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gpuasm.cli.options import CommonOptions, common_options
from gpuasm.cli.paths import INPUT, OUTPUT, OutputFolder
from gpuasm.cli.ranges import SEED, Finite, Whole
from gpuasm.errors import DataError, UsageError
from gpuasm.io.numbers import whole_number

if TYPE_CHECKING:
    from gpuasm.cli.run_folder import RunFolder
    from gpuasm.cli.session import Session
    from gpuasm.cli.som_file import TrainedMap
    from gpuasm.io.matrices import Matrix

_LOG = logging.getLogger(__name__)
_PAIR: dict[str, Any] = {"nargs": 2, "type": Finite(), "metavar": "FIRST LAST"}
_PICTURES = ("png", "svg", "pdf")
_WHAT = ("overview", "umatrix", "density", "ustar", "hits", "clusters", "classes", "planes", "training")
_FOLDER = OutputFolder("map.npz", "map.tsv", "rows.tsv", "training.tsv", "run.json")


@click.group(name="som")
def command() -> None:
    """Train self-organising maps of tables, map other tables to them, and draw them.

    TABLE is text with tabs, commas or blanks between fields, with or without a header and a column of names; .npy or
    .npz; or .lrn of Databionic ESOM. Its content determines the format. Missing values are empty, NA or nan.

    \b
    gpuasm som train measured.tsv -o map
    gpuasm som map map/map.npz others.tsv -o places.tsv
    gpuasm som draw map/map.npz -o map.svg
    """


def _choice(name: str, known: tuple[str, ...], default: str, text: str) -> Callable[..., Any]:
    return click.option(name, type=click.Choice(known), default=default, show_default=True, help=text)


def _column_options(function: Callable[..., Any]) -> Callable[..., Any]:
    function = click.option(
        "--class-column", metavar="NAME", help="Header of the column that holds the classes of rows."
    )(function)
    return click.option(
        "--name-column", metavar="NAME", help="Header of the column of names.  [default: the first, if it is no number]"
    )(function)


@command.command()
@click.argument("table", type=INPUT)
@click.option("-o", "--output", type=_FOLDER, required=True, metavar="DIR", help="Folder for results.")
@_column_options
@click.option("--classes", "classes_path", type=INPUT, metavar="FILE", help="Names and classes of rows; or .cls.")
@click.option("--size", metavar="RxC", help="Units, as 30x45.  [default: one for each row, from 20x30 to 164x246]")
@_choice("--normalise", ("none", "minmax", "zscore", "robust"), "zscore", "How columns are brought to one scale.")
@_choice("--topology", ("planar", "toroidal"), "planar", "Whether opposite edges of the map are joined.")
@_choice("--lattice", ("rectangular", "hexagonal"), "rectangular", "Units with eight neighbours, or six.")
@_choice(
    "--neighbourhood", ("gaussian", "bubble", "triangle", "mexican_hat"), "gaussian", "What a row does to units around."
)
@_choice("--metric", ("euclidean", "cosine", "manhattan", "chebyshev"), "euclidean", "How rows are compared.")
@_choice("--training", ("batch", "online"), "batch", "All rows at once, or one after another.")
@click.option("--epochs", type=Whole(1), default=20, show_default=True, metavar="N")
@_choice("--start", ("pca", "linear", "random"), "pca", "Weights to start from.")
@click.option("--radius", **_PAIR, help="Of the neighbourhood.  [default: a quarter of the shorter side, and 0.5]")
@_choice("--decay", ("linear", "exponential"), "linear", "How radius and rate fall.")
@click.option("--rate", **_PAIR, default=(0.5, 0.02), show_default=True, help="Of learning, in online training.")
@click.option("--seed", type=SEED, default=0, show_default=True, metavar="N", help="Of all random.")
@_choice("--clusters", ("watershed", "ustar", "none"), "watershed", "How the map is cut: valleys of its walls, or U*C.")
@click.option(
    "--depth", type=Finite(0, 1), default=0.2, show_default=True, metavar="X",
    help="Share of the walls' height below which valleys are joined.",
)  # fmt: skip
@click.option(
    "--lvq", type=Whole(0), default=0, show_default=True, metavar="N",
    help="Epochs in which labelled units learn to separate classes.",
)  # fmt: skip
@click.option("--esom", is_flag=True, help="Also write map.lrn, .wts, .bm, .umx, .names and .cls of Databionic ESOM.")
@common_options
def train(*, table: Path, output: Path, common: CommonOptions, **options: Any) -> None:
    """Train a map of TABLE.

    DIR receives map.npz, map.tsv (units), rows.tsv (where each row lies), training.tsv and run.json. All of them are
    always written; where there is no map they are empty, and run.json contains the reason.

    \b
    Examples:
      gpuasm som train measured.tsv -o map
      gpuasm som train iris.csv --class-column species --topology toroidal --size 30x40 -o map
    """
    from gpuasm.cli.file_uses import note_folder
    from gpuasm.cli.run_folder import RunFolder
    from gpuasm.cli.session import run_session
    from gpuasm.io.esom import SUFFIXES

    if options["lvq"] and not (options["class_column"] or options["classes_path"] or _may_hold_classes(table)):
        raise UsageError("classes to learn, for --lvq", "none", "add --class-column or --classes")
    size = _parse_size(options["size"])
    if options["esom"]:
        note_folder(output, [f"map{suffix}" for suffix in SUFFIXES])
    with run_session(common) as session, RunFolder(output, "som train") as folder:
        status = _Training(folder, session, options, size).work(table)
    click.echo(f"{output / 'map.npz'}: {status}")


def _may_hold_classes(table: Path) -> bool:
    return table.suffix in (".npz", ".lrn")


def _parse_size(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    parts = text.lower().partition("x")
    rows, columns = whole_number(parts[0]), whole_number(parts[2])
    if not (rows and columns):
        raise UsageError("rows and columns, as --size 30x45", repr(text), "give two whole numbers with x between")
    return rows, columns


def size_for(n: int) -> tuple[int, int]:
    """Return rows and columns, two to three, of a map with about a unit for each of n rows; 20 x 30 to 164 x 246."""
    half = min(82, max(10, round((n / 6) ** 0.5)))  # even rows suit a hexagonal torus
    return 2 * half, 3 * half


class _Training:
    """One training into one folder."""

    def __init__(
        self, folder: RunFolder, session: Session, options: dict[str, Any], size: tuple[int, int] | None
    ) -> None:
        self.folder, self.session, self.options, self.size = folder, session, options, size
        self.classes: list[str] = []

    def work(self, table: Path) -> str:
        """Read, train and write; return how it went."""
        matrix: Matrix | None = None
        trained: TrainedMap | None = None
        try:
            matrix = self._read(table)
            trained = self._train(matrix)
        except DataError as error:
            located = error.of_file(table)
            self._write(table, None, None, str(located))
            raise located from error
        return self._write(table, trained, matrix, "done")

    def _read(self, table: Path) -> Matrix:
        from gpuasm.cli.som_outputs import checked_table, constant_columns
        from gpuasm.io.matrices import read_classes, read_matrix

        names = {key: self.options[key] for key in ("name_column", "class_column")}
        with self.session.stages.stage("read table") as stage:
            matrix = read_matrix(table, **names)
            checked_table(matrix, table, is_training=True)
            stage.note(rows=matrix.values.shape[0], columns=matrix.values.shape[1])
        path = self.options["classes_path"]
        self.classes = read_classes(path, matrix.names) if path else matrix.classes
        if self.options["lvq"] and not any(self.classes):
            raise DataError("classes to learn, for --lvq", "none", "add --class-column or --classes", path=table)
        constant = [matrix.columns[c] for c in constant_columns(matrix)]
        if constant:
            shown = ", ".join(constant[:5]) + (" and others" if len(constant) > 5 else "")
            _LOG.warning("%d columns are constant and change nothing: %s", len(constant), shown)
        return matrix

    def _train(self, matrix: Matrix) -> TrainedMap:
        from gpuasm.arrays import to_namespace
        from gpuasm.cli.som_file import TrainedMap
        from gpuasm.clustering import SelfOrganisingMap

        n, d = matrix.values.shape
        rows, columns = self.size or size_for(n)
        names = (
            "topology lattice neighbourhood metric training epochs start radius decay rate normalise seed"  # of the map
        ).split()
        som = SelfOrganisingMap(rows, columns, **{name: self.options[name] for name in names})
        self._require_memory(rows * columns, n, d)
        if self.size and rows * columns > n:
            _LOG.warning("%d rows for %d units: units between rows are interpolated", n, rows * columns)
        values = to_namespace(self.session.xp, matrix.values)
        with self.session.stages.stage("train map", total=som.epochs, unit="epochs") as stage:
            som.fit(values, progress=stage.advance)
            stage.note(rows=rows, columns=columns, quantisation=som.history_[-1].quantisation)
        trained = TrainedMap(som, matrix.columns if matrix.has_header else [])
        self._look(trained, values)
        return trained

    def _require_memory(self, n_units: int, n: int, d: int) -> None:
        from gpuasm.clustering.grid import MapGrid
        from gpuasm.clustering.memory import bytes_for_map
        from gpuasm.resources import require_memory

        if self.session.device == "cpu":
            grid = MapGrid(1, n_units, lattice=self.options["lattice"])
            require_memory(bytes_for_map(n, d, grid), self.session.memory, f"a map of {n_units:,} units and {n:,} rows")

    def _look(self, trained: TrainedMap, values: Any) -> None:
        """Find density, clusters and labels."""
        from gpuasm.arrays import to_host
        from gpuasm.clustering import MapClassifier, label_units

        som, method = trained.som, self.options["clusters"]
        with self.session.stages.stage("analyse map"):
            trained.density = som.p_matrix(values)
            if method != "none":
                trained.cluster = som.clusters(method, values, depth=self.options["depth"])
            if any(self.classes):
                trained.labels = label_units(to_host(som.labels_), self.classes, som.grid_.n_units)
        if self.options["lvq"] and trained.labels:
            with self.session.stages.stage("learn classes") as stage:
                trained.classifier = MapClassifier(som, epochs=self.options["lvq"], seed=self.options["seed"])
                trained.classifier.fit(values, self.classes)
                stage.note(accuracy=max(trained.classifier.history_))

    def _write(self, table: Path, trained: TrainedMap | None, matrix: Matrix | None, status: str) -> str:
        from gpuasm.cli.som_outputs import write_esom, write_trained

        with self.session.stages.stage("write results"):
            write_trained(self.folder.files, trained, matrix)
            if self.options["esom"]:
                write_esom(self.folder.files, trained, matrix, self.classes if any(self.classes) else [])
        described = _describe(trained)
        self.session.write_manifest(
            self.folder.files / "run.json",
            command="som train",
            parameters=self.options | {"size": self.size},
            inputs=[{"path": str(path)} for path in (table, self.options["classes_path"]) if path],
            results=described,
            status=status,
        )
        self.folder.replace()
        if trained is None:
            return status
        text = f"{described['rows']} x {described['columns']} units, quantisation error {described['quantisation']:.4g}"
        text += f", topographic error {described['topographic']:.1%}"
        if trained.cluster is not None:
            text += f", {described['clusters']} clusters"
        return text if trained.labels is None else text + f", {described['accuracy']:.1%} of classes correct"


def _describe(trained: TrainedMap | None) -> dict[str, Any]:
    """Return the figures of a map, for run.json."""
    import numpy as np

    from gpuasm.arrays import to_host

    if trained is None:
        return {}
    som, units = trained.som, to_host(trained.som.labels_)
    described: dict[str, Any] = {
        "rows": som.rows,
        "columns": som.columns,
        "quantisation": som.history_[-1].quantisation,
        "topographic": som.history_[-1].topographic,
    }
    if trained.cluster is not None:
        described["clusters"] = len(np.unique(trained.cluster[units]))
    if trained.labels is not None:
        labels, hits = trained.labels, np.bincount(units, minlength=som.grid_.n_units)
        weight = hits[labels.labelled]
        share = float((labels.share[labels.labelled] * weight).sum() / weight.sum())
        described |= {"classes": labels.classes, "labelled_units": labels.labelled.size}
        described["accuracy"] = max(trained.classifier.history_) if trained.classifier else share
    return described


@command.command(name="map")
@click.argument("map_path", metavar="MAP", type=INPUT)
@click.argument("table", type=INPUT)
@click.option("-o", "--output", type=OUTPUT, default="-", metavar="FILE", help="The table.  [default: standard output]")
@_column_options
@common_options
def map_(*, map_path: Path, table: Path, output: Path, common: CommonOptions, **columns: str | None) -> None:
    """Map the rows of TABLE to MAP: the two nearest units of each, their distances, cluster and class.

    Columns are taken by name if both tables have names, else in their order.

    \b
    Example:
      gpuasm som map map/map.npz others.tsv -o places.tsv
    """
    from gpuasm.cli.session import run_session
    from gpuasm.cli.som_file import load_trained_map
    from gpuasm.cli.som_outputs import checked_table, row_table
    from gpuasm.io import write_tsv
    from gpuasm.io.matrices import read_matrix

    with run_session(common) as session:
        trained = load_trained_map(map_path, session.xp)
        matrix = read_matrix(table, **columns)
        try:
            matrix = matrix.with_columns(trained.columns)
            checked_table(matrix, table, is_training=False)
            with session.stages.stage("find units"):
                found = row_table(trained, matrix)
        except DataError as error:
            raise error.of_file(table) from error
        write_tsv(output, found)


@command.command()
@click.argument("map_path", metavar="MAP", type=INPUT)
@click.option("-o", "--output", type=OUTPUT, required=True, metavar="FILE", help="The picture: .png .svg .pdf.")
@_choice("--what", _WHAT, "overview", "What to draw.")
@click.option("--column", "columns", multiple=True, metavar="NAME", help="Planes of these columns only; repeatable.")
def draw(*, map_path: Path, output: Path, what: str, columns: tuple[str, ...]) -> None:
    """Draw MAP: its U-matrix, density, hits, clusters, classes, component planes, and how it was trained.

    \b
    Examples:
      gpuasm som draw map/map.npz -o map.svg
      gpuasm som draw map/map.npz --what planes --column length --column width -o planes.png
    """
    import numpy as np

    from gpuasm.cli.som_file import load_trained_map
    from gpuasm.cli.som_pictures import panels_of
    from gpuasm.io import atomic_output
    from gpuasm.report.som_figures import draw_map

    kind = output.suffix.lower().removeprefix(".")
    if kind not in _PICTURES:
        raise UsageError(f"a picture: .{', .'.join(_PICTURES)}", repr(output.name), "choose one of these suffixes")
    trained = load_trained_map(map_path, np)
    picture = draw_map(panels_of(trained, what, columns), kind=kind, is_hexagonal=trained.som.lattice == "hexagonal")
    with atomic_output(output, "wb") as file:
        file.write(picture)
