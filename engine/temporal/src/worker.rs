//! `commis-worker worker`

use std::{sync::Arc, time::Duration};

use commis_base::error::{Error, Result};
use commis_cli::{Global, TaskWorker, WorkerArgs};
use temporalio_client::{
    Client, ClientOptions, Connection, envconfig::LoadClientConfigProfileOptions,
};
use temporalio_sdk::{
    Runtime, Worker, WorkerOptions,
    runtime::worker_tuner::{FixedSizeSlotSupplier, TunerHolder},
};

use crate::{
    engine,
    hosts::{self, Host, Tasks},
    metrics, store,
};

/// The queue of tasks, where no other is named.
pub const QUEUE: &str = "commis";
/// What is in hand when the worker is asked to end may take so long to put down.
const GRACE: Duration = Duration::from_secs(10);

/// Take tasks from Temporal until it is told to end
///
/// Where Temporal is, and with which keys, is read as its own tools read it: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, TEMPORAL_API_KEY,
/// TEMPORAL_TLS_…, or a profile of temporal.toml. No port is opened, but for --metrics.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    station: WorkerArgs,
    /// Tasks at a time: as many browsers may be at work
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=256))]
    slots: u16,
    /// Tasks of this queue alone: those whose artifacts are in this store
    #[arg(long, value_name = "NAME", default_value = QUEUE)]
    queue: String,
    #[command(flatten)]
    metrics: metrics::MetricsArgs,
}

pub async fn client() -> Result<Client> {
    let (connection, options) =
        ClientOptions::load_from_config(LoadClientConfigProfileOptions::default())
            .map_err(|err| engine("cannot read how Temporal is reached", err))?;
    let connection = Connection::connect(connection)
        .await
        .map_err(|err| engine("cannot reach Temporal", err))?;
    Client::new(connection, options).map_err(|err| engine("cannot use Temporal", err))
}

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    let station = Arc::new(TaskWorker::open(global, &args.station, store::open).await?);
    let client = client().await?;
    let internal = |err: &dyn std::fmt::Display| -> Error { engine("the worker", err) };
    let (options, metrics) = metrics::begin(&args.metrics)?;
    let runtime = Runtime::from_current_tokio(options).map_err(|err| internal(&err))?;
    let many = FixedSizeSlotSupplier::new(100);
    let tuner = |slots: FixedSizeSlotSupplier| {
        TunerHolder::builder()
            .workflow_task_slot_supplier(many)
            .activity_task_slot_supplier(slots)
            .local_activity_task_slot_supplier(many)
            .nexus_task_slot_supplier(many)
            .build()
    };
    // Workflows of hosts are for all stores, so any machine carries them on.
    let options = WorkerOptions::new(hosts::QUEUE)
        .tuner(tuner(many))
        .register_workflow::<Host>()
        .map_err(|err| internal(&err))?
        .build();
    let mut carrying =
        Worker::new(&runtime, client.clone(), options).map_err(|err| internal(&err))?;
    let tasks = Tasks { station: Arc::clone(&station), metrics: Arc::new(metrics) };
    let options = WorkerOptions::new(args.queue)
        .tuner(tuner(FixedSizeSlotSupplier::new(args.slots.into())))
        .graceful_shutdown_period(GRACE)
        .register_activities(tasks)
        .build();
    let mut working = Worker::new(&runtime, client, options).map_err(|err| internal(&err))?;
    let ends = (working.shutdown_handle(), carrying.shutdown_handle());
    tokio::spawn(async move {
        let mut terminated =
            tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()).ok();
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = async {
                match &mut terminated {
                    Some(it) => it.recv().await,
                    None => std::future::pending().await,
                }
            } => {}
        }
        ends.0();
        ends.1();
    });
    commis_cli::say("ready");
    let (worked, carried) = tokio::join!(working.run(), carrying.run());
    station.close().await;
    worked.and(carried).map(|()| 0).map_err(|err| internal(&err))
}
