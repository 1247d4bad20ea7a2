//! What a worker counts, beside what the SDK counts of itself: for Prometheus, which asks, or a collector of OpenTelemetry, which
//! is told.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use commis_base::error::{Error, Result};
use commis_batch::remote::TaskOutcome;
use temporalio_common::telemetry::{
    HistogramBucketOverrides, OtelCollectorOptions, PrometheusExporterOptions, TelemetryOptions,
    build_otlp_metric_exporter,
    metrics::{CoreMeter, Counter, HistogramDuration, MetricAttributes, MetricKeyValue},
    start_prometheus_metric_exporter,
};
use temporalio_sdk::runtime::RuntimeOptions;
use url::Url;

use crate::engine;

const SECONDS: &str = "commis_stage_duration";
/// From a pure stage to a recording with a slow site, seconds.
const BUCKETS: [f64; 12] = [0.01, 0.03, 0.1, 0.3, 1.0, 2.0, 5.0, 10.0, 20.0, 60.0, 180.0, 600.0];

#[derive(clap::Args)]
pub struct MetricsArgs {
    /// Give what is counted to whoever asks there, as Prometheus does
    #[arg(long, value_name = "IP:PORT", conflicts_with = "otlp")]
    metrics: Option<SocketAddr>,
    /// Send it to this collector of OpenTelemetry, by gRPC
    #[arg(long, value_name = "URL")]
    otlp: Option<Url>,
}

/// Counters of ours; nothing where nobody wants them.
#[derive(Default)]
pub struct Metrics(Option<Ours>);

struct Ours {
    meter: Arc<dyn CoreMeter>,
    stages: Counter,
    seconds: HistogramDuration,
    tasks: Counter,
}

/// For the SDK, and for ourselves. Fails with `CONNECT_FAILED`.
pub fn begin(args: &MetricsArgs) -> Result<(RuntimeOptions, Metrics)> {
    let told = |err: &dyn std::fmt::Display| -> Error { engine("metrics", err) };
    let overrides = [(SECONDS.to_owned(), BUCKETS.to_vec())].into();
    let buckets = HistogramBucketOverrides { overrides };
    let meter: Option<Arc<dyn CoreMeter>> = if let Some(at) = args.metrics {
        let options = PrometheusExporterOptions::builder()
            .socket_addr(at)
            .counters_total_suffix(true)
            .unit_suffix(true)
            .use_seconds_for_durations(true)
            .histogram_bucket_overrides(buckets)
            .build();
        Some(start_prometheus_metric_exporter(options).map_err(|err| told(&err))?.meter)
    } else if let Some(url) = &args.otlp {
        let options = OtelCollectorOptions::builder()
            .url(url.clone())
            .use_seconds_for_durations(true)
            .histogram_bucket_overrides(buckets)
            .metric_periodicity(Duration::from_secs(10))
            .build();
        Some(Arc::new(build_otlp_metric_exporter(options).map_err(|err| told(&err))?))
    } else {
        None
    };
    let telemetry = TelemetryOptions::builder().maybe_metrics(meter.clone()).build();
    let options = RuntimeOptions::builder().telemetry_options(telemetry).build();
    Ok((options.map_err(|err| told(&err))?, Metrics(meter.map(Ours::new))))
}

impl Ours {
    fn new(meter: Arc<dyn CoreMeter>) -> Self {
        Self {
            stages: meter.counter("commis_stages".into()),
            seconds: meter.histogram_duration(SECONDS.into()),
            tasks: meter.counter("commis_tasks".into()),
            meter,
        }
    }

    fn of(&self, pairs: &[(&str, &str)]) -> MetricAttributes {
        let all: Vec<_> =
            pairs.iter().map(|it| MetricKeyValue::new(it.0, it.1.to_owned())).collect();
        self.meter.new_attributes(all.into())
    }
}

impl Metrics {
    /// An attempt at a task is over.
    pub fn ended(&self, it: &TaskOutcome) {
        let Some(ours) = &self.0 else { return };
        let failed = it.failed.as_ref().map(|it| it.code.as_str());
        for (i, ran) in it.ran.iter().enumerate() {
            let is_last = i + 1 == it.ran.len();
            let how = if failed.is_some() && is_last { "failed" } else { ran.how.as_str() };
            ours.stages.add(1, &ours.of(&[("stage", ran.stage.as_str()), ("how", how)]));
            let of = ours.of(&[("stage", ran.stage.as_str())]);
            ours.seconds.record(Duration::from_millis(ran.ms), &of);
        }
        ours.tasks.add(1, &ours.of(&[("end", failed.unwrap_or("done"))]));
    }
}
