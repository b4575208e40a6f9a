"""Runs Airflow's KubernetesPodOperator with the arguments that argv[1] has as JSON, and prints what it returns as JSON."""

import json
import sys
from types import SimpleNamespace

from airflow.providers.cncf.kubernetes.operators.pod import KubernetesPodOperator

operator = KubernetesPodOperator(**json.loads(sys.argv[1]))
task = SimpleNamespace(
    dag_id="sales", task_id=operator.task_id, run_id="today", map_index=-1, try_number=1, xcom_push=lambda **_: None
)
context = {"ti": task, "task_instance": task, "run_id": "today", "dag": SimpleNamespace(), "try_number": 1}
print("returned", json.dumps(operator.execute(context)))
