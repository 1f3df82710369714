"""Writes Paimon tables for tests, told what to do by JSON lines.

    paimon_writer.py WAREHOUSE

One request object a line on stdin, one answer object a line on stdout:
{"id": 7, "op": "append", "table": "ods.orders", "rows": 3}
{"id": 7, "ok": true, "snapshot_id": 4, "committed_at_ms": 1796100416608}
{"id": 8, "ok": false, "error": "TableNotExistException: ..."}

The process lives as long as its stdin, because importing pypaimon takes seconds and a commit
milliseconds. The Java writer beside this one speaks the same language; what only one of the two
can do is refused by the other in plain words.
"""

import datetime
import json
import os
import sys
import time
import traceback
from importlib import metadata

import pyarrow as pa
from pypaimon.catalog.catalog_factory import CatalogFactory
from pypaimon.schema.data_types import DataTypeParser, PyarrowFieldParser
from pypaimon.schema.schema import Schema
from pypaimon.schema.schema_change import SchemaChange

DEFAULT_COLUMNS = [{"name": "id", "type": "BIGINT"}, {"name": "v", "type": "STRING"}]
ROW_KIND_OPTION = "rowkind.field"


class Refused(Exception):
    """The request cannot be done by this library; the message says what to use instead."""


class Writer:
    def __init__(self, warehouse):
        self.catalog = CatalogFactory.create({"warehouse": warehouse})
        self.tables = {}
        # Where `append` goes on counting, by table, so that primary keys do not collide.
        self.next_ids = {}

    # -- the catalog ---------------------------------------------------------------------------

    def hello(self, _):
        return {"library": "pypaimon", "version": metadata.version("pypaimon")}

    def create_database(self, request):
        self.catalog.create_database(request["database"], True)
        return {}

    def drop_database(self, request):
        self.tables.clear()
        self.catalog.drop_database(request["database"], False, cascade=True)
        return {}

    def create_table(self, request):
        name = request["table"]
        primary_keys = request.get("primary_keys") or []
        fields = [
            pa.field(column["name"], arrow_type(column["type"]), column["name"] not in primary_keys)
            for column in request.get("columns") or DEFAULT_COLUMNS
        ]
        options = dict(request.get("options") or {})
        # pypaimon wants a bucket number for primary keys; append tables are bucket-unaware.
        options.setdefault("bucket", "1" if primary_keys else "-1")
        schema = Schema.from_pyarrow_schema(
            pa.schema(fields),
            partition_keys=request.get("partition_keys") or [],
            primary_keys=primary_keys,
            options=options,
        )
        self.catalog.create_database(name.split(".")[0], True)
        self.catalog.create_table(name, schema, False)
        self.forget(name)
        self.next_ids.pop(name, None)
        return {"schema_id": self.table(name).table_schema.id}

    def drop_table(self, request):
        self.catalog.drop_table(request["table"], False)
        self.forget(request["table"])
        return {}

    def add_column(self, request):
        kind = DataTypeParser.parse_data_type(request["type"])
        self.catalog.alter_table(request["table"], [SchemaChange.add_column(request["column"], kind)])
        self.forget(request["table"])
        return {"schema_id": self.table(request["table"]).table_schema.id}

    # -- commits -------------------------------------------------------------------------------

    def append(self, request):
        name = request["table"]
        first = request.get("first_id", self.next_ids.get(name, 1))
        ids = list(range(first, first + request.get("rows", 1)))
        self.next_ids[name] = first + len(ids)
        return self.commit(request, ids)

    def upsert(self, request):
        if not self.table(request["table"]).is_primary_key_table:
            raise Refused("upsert needs a table with primary keys")
        return self.commit(request, request["ids"])

    def delete(self, request):
        if ROW_KIND_OPTION not in self.table(request["table"]).table_schema.options:
            raise Refused(
                "pypaimon deletes rows only through a row kind column: create the table with primary "
                "keys, a STRING column and the option '%s' naming it" % ROW_KIND_OPTION
            )
        return self.commit(request, request["ids"], row_kind="-D")

    def overwrite(self, request):
        name = request["table"]
        first = request.get("first_id", self.next_ids.get(name, 1))
        ids = list(range(first, first + request.get("rows", 1)))
        self.next_ids[name] = first + len(ids)
        return self.commit(request, ids, overwrite=request.get("partition") or {})

    def truncate(self, request):
        table = self.table(request["table"])
        commit = table.new_batch_write_builder().new_commit()
        try:
            commit.truncate_table()
            return committed(table)
        finally:
            commit.close()

    def commit(self, request, ids, row_kind="+I", overwrite=None):
        if request.get("watermark") is not None:
            raise Refused("pypaimon cannot set a watermark: use the Java writer")
        table = self.table(request["table"])
        builder = table.new_batch_write_builder()
        if overwrite is not None:
            builder = builder.overwrite(overwrite)
        write, commit = builder.new_write(), builder.new_commit()
        try:
            write.write_arrow(rows(table, ids, row_kind, request.get("set") or {}))
            commit.commit(write.prepare_commit())
            return committed(table)
        except Exception:
            # Most likely the schema was changed behind this handle.
            self.forget(request["table"])
            raise
        finally:
            write.close()
            commit.close()

    # -- history -------------------------------------------------------------------------------

    def create_tag(self, request):
        self.table(request["table"]).create_tag(request["tag"], request.get("snapshot"))
        return {}

    def delete_tag(self, request):
        return {"deleted": self.table(request["table"]).delete_tag(request["tag"])}

    def rollback(self, request):
        table = self.table(request["table"])
        table.rollback_to(request["snapshot"] if "snapshot" in request else request["tag"])
        return committed(table)

    def create_branch(self, request):
        branches = self.table(request["table"]).branch_manager()
        branches.create_branch(request["branch"], request.get("tag"))
        return {}

    def fast_forward(self, request):
        self.table(request["table"]).branch_manager().fast_forward(request["branch"])
        self.forget(request["table"])
        return committed(self.table(request["table"]))

    def snapshots(self, request):
        found = self.table(request["table"]).snapshot_manager().list_snapshots()
        return {"snapshots": [report(snapshot) for snapshot in found]}

    def tags(self, request):
        table = self.table(request["table"])
        found = {}
        for name in table.list_tags():
            found[name] = table.tag_manager().get(name).trim_to_snapshot().id
        return {"tags": found}

    def expire(self, _):
        raise Refused("pypaimon cannot expire snapshots: use the Java writer")

    def compact(self, _):
        raise Refused("pypaimon cannot compact: use the Java writer")

    # -- table handles -------------------------------------------------------------------------

    def table(self, name):
        """A handle carries its schema, so it is kept until something changes that schema."""
        if name not in self.tables:
            self.tables[name] = self.catalog.get_table(name)
        return self.tables[name]

    def forget(self, name):
        base = name.split("$")[0]
        for known in [known for known in self.tables if known.split("$")[0] == base]:
            del self.tables[known]


def committed(table):
    """Called directly after the commit: the clock is read before the new snapshot is looked up."""
    now = int(time.time() * 1000)
    latest = table.snapshot_manager().get_latest_snapshot()
    return {"snapshot_id": latest.id if latest else None, "committed_at_ms": now}


def report(snapshot):
    return {
        "id": snapshot.id,
        "kind": snapshot.commit_kind,
        "schema_id": snapshot.schema_id,
        "commit_user": snapshot.commit_user,
        "commit_identifier": snapshot.commit_identifier,
        "time_ms": snapshot.time_millis,
        "watermark": snapshot.watermark,
        "uuid": snapshot.uuid,
        "delta_manifest_list": snapshot.delta_manifest_list,
        "total_records": snapshot.total_record_count,
        "delta_records": snapshot.delta_record_count,
    }


def arrow_type(name):
    return PyarrowFieldParser.from_paimon_type(DataTypeParser.parse_data_type(name))


def rows(table, ids, row_kind, fixed):
    """One row an id; every column gets a value made from the id, unless `fixed` names one."""
    schema = PyarrowFieldParser.from_paimon_schema(table.table_schema.fields)
    kind_column = table.table_schema.options.get(ROW_KIND_OPTION)
    arrays = []
    for field in schema:
        if field.name == kind_column:
            values = [row_kind] * len(ids)
        elif field.name in fixed:
            values = [fixed[field.name]] * len(ids)
        else:
            values = [value(field.type, number) for number in ids]
        arrays.append(pa.array(values, type=field.type))
    return pa.table(arrays, schema=schema)


def value(kind, number):
    if pa.types.is_integer(kind):
        return number
    if pa.types.is_floating(kind):
        return float(number)
    if pa.types.is_boolean(kind):
        return number % 2 == 0
    if pa.types.is_date(kind):
        return datetime.date(2026, 1, 1) + datetime.timedelta(days=number)
    if pa.types.is_timestamp(kind):
        return datetime.datetime(2026, 1, 1) + datetime.timedelta(seconds=number)
    if pa.types.is_string(kind):
        return "v%d" % number
    raise Refused("no value is made for columns of type %s" % kind)


def answer(writer, line):
    request = {}
    try:
        request = json.loads(line)
        op = request["op"]
        if op not in OPS:
            raise Refused("this writer has no operation %r" % op)
        return {"id": request.get("id"), "ok": True, **getattr(writer, op)(request)}
    except Exception as error:  # noqa: BLE001 - every failure is an answer, the process goes on
        if not isinstance(error, Refused):
            traceback.print_exc()
        return {"id": request.get("id"), "ok": False, "error": "%s: %s" % (type(error).__name__, error)}


OPS = frozenset(
    "hello create_database drop_database create_table drop_table add_column append upsert delete "
    "overwrite truncate create_tag delete_tag rollback create_branch fast_forward snapshots tags "
    "expire compact".split()
)


def main():
    # The library may print: file descriptor 1 is kept for answers, prints go to stderr.
    answers = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)
    writer = Writer(sys.argv[1])
    for line in sys.stdin:
        answers.write(json.dumps(answer(writer, line)) + "\n")


if __name__ == "__main__":
    main()
