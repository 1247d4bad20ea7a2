//! How long a connect took, told apart from waiting for the answer.
//!
//! reqwest gives no hook but a layer around its connector. The layer adds to a counter that belongs to the calling task; a
//! request served by a pooled connection adds nothing.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll},
    time::Instant,
};

use tower_service::Service;

tokio::task_local! {
    static CONNECT: Arc<AtomicU64>;
}

/// The future's output, and the microseconds that connects it started took (DNS is not in it: addresses are pinned).
pub async fn measure_connects<F: Future>(future: F) -> (F::Output, u64) {
    let spent = Arc::new(AtomicU64::new(0));
    let out = CONNECT.scope(Arc::clone(&spent), future).await;
    (out, spent.load(Ordering::Relaxed))
}

/// Puts [`TimedService`] around a connector.
#[derive(Clone, Copy)]
pub struct TimingLayer;

impl<S> tower_layer::Layer<S> for TimingLayer {
    type Service = TimedService<S>;
    fn layer(&self, inner: S) -> TimedService<S> {
        TimedService(inner)
    }
}

/// A connector that is timed.
#[derive(Clone)]
pub struct TimedService<S>(S);

impl<S, R> Service<R> for TimedService<S>
where
    S: Service<R>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: R) -> Self::Future {
        let counter = CONNECT.try_with(Arc::clone).ok();
        let connect = self.0.call(request);
        Box::pin(async move {
            let start = Instant::now();
            let out = connect.await;
            if let Some(it) = counter {
                it.fetch_add(start.elapsed().as_micros() as u64, Ordering::Relaxed);
            }
            out
        })
    }
}
