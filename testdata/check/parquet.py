#!/usr/bin/env python3
"""Shows that the data sets of `perfdata export --to parquet` are what other engines read, and that all give one answer.

    parquet.py PERFDATA [NUMBER]

Makes a fleet of NUMBER captures (200 if it is not given) from those in ../captures, exports it, with one process, and asks
all questions in perf-export/queries on DuckDB, DataFusion, Polars and Spark. All rows of all answers must be equal. Then:

- a fleet that several processes export at the same time, some captures twice, is the same files;
- the sums of each table are those of the accounts of `perfdata dump`, and functions have the periods of `perfdata report`.

    duckdb, polars, datafusion, pyspark    of the folder $PARQUET_ENGINES, into which pip installed them, or of Python's path
    java                                   of PATH, for Spark: a cluster of two workers on this machine

$PARQUET_WITHOUT names engines to leave out, separated by commas.

Exits with 0 if all agrees, with 1 if not, and with 3 if a program is not there.
"""
import collections
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import fleet

HERE = pathlib.Path(__file__).resolve().parent
QUERIES = sorted((HERE.parent.parent / "perf-export" / "queries").glob("*.sql"))
TABLES = "samples stacks frames dsos mmaps processes threads events counts switches spe runs waits wakeups losses captures".split()
BASES = ["everything.data", "callchain.data", "switch.data", "system_wide.data", "lost.data", "group_read.data", "mem.data",
         "dwarf.data", "cgroups.data", "perf_stat.data"]
# Questions that have no answer on a machine without the files that have the names or the lines.
NEED = {"02_top_inclusive": "function", "11_regressions": "function", "13_hot_lines": "line", "14_roots": "function"}
# What Polars' SQL does not have; all other questions run unchanged.
NOT_IN_POLARS = {
    "09_scheduling_latency": "percentile_cont",
}

sys.path[:0] = filter(None, [os.environ.get("PARQUET_ENGINES")])


def run(*words, ok=(0,)):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode not in ok:
        raise AssertionError(f"{' '.join(map(str, words[:6]))}: {done.returncode}: {done.stderr[-1000:]}")
    return done.stdout


def export(perfdata, captures, folder, *options):
    # 3: a capture is damaged, and was exported.
    run(perfdata, "export", "--to", "parquet", "--kallsyms", "/dev/null", *options, *captures, "-o", folder, ok=(0, 3))


def plain(row):
    """A row as values that compare equal in all engines."""

    def one(value):
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, bool):
            return int(value)
        return int(value)

    return tuple(one(value) for value in row)


class DuckDb:
    name = "DuckDB"

    def __init__(self, folder):
        import duckdb

        self.connection = duckdb.connect()
        for table in TABLES:
            self.connection.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet('{folder}/{table}/*/*/*.parquet')")

    def ask(self, name, sql):
        return self.connection.execute(sql).fetchall()


class DataFusion:
    name = "DataFusion"

    def __init__(self, folder):
        import datafusion

        # Identifiers are in lower case anyway.
        self.context = datafusion.SessionContext()
        for table in TABLES:
            self.context.register_parquet(table, f"{folder}/{table}/")

    def ask(self, name, sql):
        return [tuple(row.values()) for batch in self.context.sql(sql).collect() for row in batch.to_pylist()]


class Polars:
    name = "Polars"

    def __init__(self, folder):
        import polars

        self.context = polars.SQLContext()
        for table in TABLES:
            self.context.register(table, polars.scan_parquet(f"{folder}/{table}/*/*/*.parquet"))

    def ask(self, name, sql):
        if name in NOT_IN_POLARS:
            return None
        return self.context.execute(sql).collect().rows()


class Spark:
    name = "Spark"

    def __init__(self, folder):
        import pyspark
        from pyspark.sql import SparkSession

        os.environ.setdefault("SPARK_HOME", str(pathlib.Path(pyspark.__file__).parent))
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("perfdata")
        settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "4", "spark.driver.host": "127.0.0.1",
                    "spark.driver.bindAddress": "127.0.0.1", "spark.log.level": "ERROR", "spark.ui.showConsoleProgress": "false"}
        for key, value in settings.items():
            builder = builder.config(key, value)
        self.session = builder.getOrCreate()
        for table in TABLES:
            self.session.read.parquet(f"{folder}/{table}").createOrReplaceTempView(table)

    def close(self):
        self.session.stop()

    def ask(self, name, sql):
        # The one difference: Spark calls it explode.
        return [tuple(row) for row in self.session.sql(sql.replace("unnest(", "explode(")).collect()]


def same_answers(folder):
    """Asks all engines, and returns DuckDB's answers."""
    without = os.environ.get("PARQUET_WITHOUT", "").split(",")
    engines = [engine(folder) for engine in (DuckDb, DataFusion, Polars, Spark) if engine.name not in without]
    answers = {}
    asked = collections.Counter()
    faults = []
    for query in QUERIES:
        sql = query.read_text()
        expected = None
        for engine in engines:
            try:
                rows = engine.ask(query.stem, sql)
            except Exception as error:
                faults.append(f"{engine.name}: {query.stem}: {str(error)[:300]}")
                continue
            if rows is None:
                continue
            rows = collections.Counter(map(plain, rows))
            asked[engine.name] += 1
            if expected is None:
                expected = answers[query.stem] = rows
            elif rows != expected:
                more, less = list((rows - expected).items())[:3], list((expected - rows).items())[:3]
                faults.append(f"{engine.name}: {query.stem}: {more} not {less}")
    assert not faults, "\n".join(faults)
    known = {column: engines[0].ask("", f"SELECT count({column}) FROM frames")[0][0] for column in set(NEED.values())}
    empty = [name for name, rows in answers.items() if not rows and known.get(NEED.get(name), 1)]
    assert not empty, f"questions without an answer: {empty}"
    print(f"{len(QUERIES)} questions, the same answers: " + ", ".join(f"{name} {count}" for name, count in asked.items()))
    return answers, engines


def report_agrees(perfdata, capture, scratch):
    """Compares the functions of a capture with the report's, self and children. Returns how many."""
    folder = scratch / "alone"
    shutil.rmtree(folder, ignore_errors=True)
    export(perfdata, [capture], folder, "--no-inline")
    engine = DuckDb(folder)
    words = ("--no-group", "--no-branch-stack", "--format", "json", "--sort", "sym", "-g", "none", "--percent-limit", "0")
    document = json.loads(run(perfdata, "report", *words, "--no-inline", "--kallsyms", "/dev/null", capture, ok=(0, 3)))
    functions = 0
    for table in document["tables"]:
        name = table["name"].replace("'", "''")
        total = engine.ask("", f"SELECT sum(period) FROM samples WHERE event = '{name}'")[0][0] or 0
        assert total == table["totals"][0]["period"], (capture, name, total, table["totals"])
        query = next(query for query in QUERIES if query.stem == "02_top_inclusive").read_text()
        whole = {row[1]: row[2] for row in engine.ask("", query.replace("LIMIT 30", "")) if row[0] == table["name"]}
        query = next(query for query in QUERIES if query.stem == "01_top_self").read_text()
        own = collections.Counter()
        for row in engine.ask("", query.replace("LIMIT 30", "")):
            if row[0] == table["name"]:
                own[row[1]] += row[3]
        expected = collections.defaultdict(lambda: [0, []])
        for row in table["rows"]:
            expected[row["symbol"]][0] += row["self"][0]["period"]
            expected[row["symbol"]][1].append(row.get("children", row["self"])[0]["period"])
        for symbol, (self_period, children) in expected.items():
            # Without a name the report prints the address.
            if symbol not in whole:
                continue
            functions += 1
            assert own[symbol] == self_period, (capture, symbol, own[symbol], self_period)
            if len(children) == 1:
                assert whole[symbol] == children[0], (capture, symbol, whole[symbol], children)
    return functions


def contents(folder):
    files = [path for path in pathlib.Path(folder).rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def sums(perfdata, captures, engine):
    """Compares the sums of the data set with the accounts of the captures."""
    totals = collections.Counter()
    for capture in captures:
        lines = run(perfdata, "dump", "--format", "jsonl", capture, ok=(0, 3)).splitlines()
        account = json.loads(lines[-1])["account"]
        totals.update({name: account[name] for name in ("records", "lost", "lost_samples", "bytes_skipped")})
    ask = lambda sql: engine.ask("", sql)[0][0] or 0
    for name in totals:
        assert ask(f"SELECT sum({name}) FROM captures") == totals[name], (name, totals[name])
    for what in ("lost", "lost_samples"):
        assert ask(f"SELECT sum(count) FROM losses WHERE what = '{what}'") == totals[what], what
    assert ask("SELECT sum(samples) FROM captures") == ask("SELECT count(*) FROM samples")
    return totals


def main():
    perfdata, number = pathlib.Path(sys.argv[1]).resolve(), int((sys.argv[2:] or [200])[0])
    try:
        import datafusion, duckdb, polars, pyspark  # noqa: F401
    except ImportError as error:
        print(f"parquet.py: {error}; install it with pip --target, and set PARQUET_ENGINES", file=sys.stderr)
        sys.exit(3)
    if not shutil.which("java"):
        print("parquet.py: java is not there", file=sys.stderr)
        sys.exit(3)
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        captures = scratch / "captures"
        captures.mkdir()
        made = fleet.make(captures, number, [HERE.parent / "captures" / name for name in BASES])
        export(perfdata, made, scratch / "fleet")
        before = contents(scratch / "fleet")
        assert len(before) == number * len(TABLES), len(before)
        # Three processes, and a third of the captures again.
        words = [perfdata, "export", "--to", "parquet", "--kallsyms", "/dev/null", "-o", scratch / "again"]
        parts = [made[::2], made[1::2], made[::3]]
        processes = [subprocess.Popen([*map(str, words), *map(str, part)], stderr=subprocess.DEVNULL) for part in parts]
        assert all(process.wait() in (0, 3) for process in processes)
        after = contents(scratch / "again")
        assert after == before, sorted(set(before.items()) ^ set(after.items()))[:4]
        print(f"{number} captures: {len(before)} files, the same from several processes")
        answers, engines = same_answers(scratch / "fleet")
        engine = engines[0]
        for other in engines[1:]:
            if isinstance(other, Spark):
                other.close()
        assert all(answers[query.stem] or query.stem in NEED for query in QUERIES)
        totals = sums(perfdata, made[: len(BASES)], Sub(engine, made[: len(BASES)], perfdata, scratch))
        print("sums of the tables are those of the accounts:", dict(totals))
        functions = sum(report_agrees(perfdata, made[at], scratch) for at in (1, 3, 7))
        assert functions or not engine.ask("", "SELECT count(function) FROM frames")[0][0]
        print(f"functions have the periods of perfdata report: {functions}")


class Sub(DuckDb):
    """The data set of some captures."""

    def __init__(self, _, captures, perfdata, scratch):
        export(perfdata, captures, scratch / "some")
        super().__init__(scratch / "some")


main()
