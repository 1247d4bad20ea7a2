"""A collector of OpenTelemetry as `ci/engine dashboard` needs one: says the name of each metric that it is sent, a line each.

    collector.py PORT
"""

import sys
from concurrent import futures

import grpc
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2, metrics_service_pb2_grpc

SEEN = set()


class Service(metrics_service_pb2_grpc.MetricsServiceServicer):
    def Export(self, request, context):  # noqa: N802  the protocol's name
        for resource in request.resource_metrics:
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    if metric.name not in SEEN:
                        SEEN.add(metric.name)
                        print(metric.name, flush=True)
        return metrics_service_pb2.ExportMetricsServiceResponse()


server = grpc.server(futures.ThreadPoolExecutor(2))
metrics_service_pb2_grpc.add_MetricsServiceServicer_to_server(Service(), server)
assert server.add_insecure_port(f"127.0.0.1:{sys.argv[1]}")
server.start()
server.wait_for_termination(600)
