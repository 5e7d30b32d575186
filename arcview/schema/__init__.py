"""The pydantic models of the formats that arcview writes and promises (see the run format).

Importing this package loads no pydantic: `json_schemas` does, when it is called.
"""

from __future__ import annotations

__all__ = ["json_schemas"]

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schemas() -> dict[str, dict[str, object]]:
    """The JSON Schema of every format by its short name.

    Returns:
        `run` (run.json), `chain` (chain.json), `result` (gate/result.json), `test` (one line of
        gate/tests.jsonl), `show` (the JSON twin), `list` (one line of `arcview list --json`),
        `case` (one exported case), `case-event` (one line of an annotator's file), and by their
        commands `stats`, `agreement`, `audit`, `matrix`, `whatif`, `contract`, `compare` and `find`
        (one line of it).
    """
    # Here and not above: pydantic costs about 100 ms, and no screen needs it.
    from arcview.schema.agreement import AgreementFile
    from arcview.schema.audit import AuditFile
    from arcview.schema.base import Model
    from arcview.schema.case import CaseEventLine, CaseRecord
    from arcview.schema.chain import ChainFile
    from arcview.schema.matrix import MatrixFile, WhatIfFile
    from arcview.schema.reports import CompareReport, ContractReport, FindHit
    from arcview.schema.result import GateResultFile, GateTestLine
    from arcview.schema.run import RunFile
    from arcview.schema.show import ListRow, ShowTwin
    from arcview.schema.stats import StatsFile

    models: dict[str, type[Model]] = {
        "run": RunFile,
        "chain": ChainFile,
        "result": GateResultFile,
        "test": GateTestLine,
        "show": ShowTwin,
        "list": ListRow,
        "contract": ContractReport,
        "compare": CompareReport,
        "find": FindHit,
        "stats": StatsFile,
        "case": CaseRecord,
        "case-event": CaseEventLine,
        "agreement": AgreementFile,
        "audit": AuditFile,
        "matrix": MatrixFile,
        "whatif": WhatIfFile,
    }
    return {
        name: {"$schema": DIALECT, **model.model_json_schema(by_alias=True)}
        for name, model in models.items()
    }
