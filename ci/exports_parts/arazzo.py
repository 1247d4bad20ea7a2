"""Runs exported workflows with a runner that knows nothing of commis: `arazzo.py < calls`, each {file, workflow, inputs}."""

import json
import logging
import os
import socket
import sys
import time

import urllib3.util.connection
from arazzo_runner import ArazzoRunner
from arazzo_runner.models import WorkflowExecutionStatus

port = os.environ.get("COMMIS_TEST_WEB")
connect = urllib3.util.connection.create_connection


def to_test_web(address, *args, **more):
    if port and address[0].endswith(".test"):
        address = ("127.0.0.1", int(port))
    return connect(address, *args, **more)


urllib3.util.connection.create_connection = to_test_web
class Runner(ArazzoRunner):
    """The runner says that a step is to be repeated, and then goes on to the next one."""

    def execute_next_step(self, execution_id):
        done = super().execute_next_step(execution_id)
        if done["status"] == WorkflowExecutionStatus.RETRY:
            time.sleep(done.get("retry_after") or 0)
            self.execution_states[execution_id].goto_step_id = done["step_id"]
        return done


logging.disable(logging.CRITICAL)
socket.setdefaulttimeout(60)
out = []
stdout, sys.stdout = sys.stdout, sys.stderr
for it in json.load(sys.stdin):
    try:
        done = Runner.from_arazzo_path(it["file"]).execute_workflow(it["workflow"], it["inputs"])
        out.append({"data": done.outputs.get("data")} if str(done.status).endswith("workflow_complete") else {"error": str(done)[:300]})
    except Exception as err:
        out.append({"error": f"{type(err).__name__}: {err}"})
json.dump(out, stdout)
