//! Calls with one answer.

use std::pin::pin;

use asset_proto::v1::{
    AcknowledgeWaitRequest, AssetEvent, AssetState, EventOutcome, GetAssetRequest, GetAssetResponse,
    ListAssetsRequest, ListEventsRequest, RegisterAssetRequest, RegisterAssetResponse, ReportEventsRequest,
    ReportedEvent, RewindAssetRequest, RewindAssetResponse, asset_service_client::AssetServiceClient,
    dependency_service_client::DependencyServiceClient, event_service_client::EventServiceClient,
};
use tokio::time::{Instant, sleep, timeout};
use tonic::{Response, Status, transport::Channel};

use crate::{
    attempts::{Attempts, in_time},
    client::Client,
    deadline::Deadline,
    error::{Error, Fault},
    stream::until,
};

const PAGE_SIZE: i32 = 500;

impl Client {
    /// Tells the agent that READY of a wait was taken up. Tried until it succeeds or the deadline has
    /// passed; doing it twice does no harm.
    pub async fn acknowledge(&self, wait_id: &str, deadline: Deadline) -> Result<(), Error> {
        let request = AcknowledgeWaitRequest { wait_id: wait_id.to_owned() };
        let mut attempts = self.attempts();
        self.call(&mut attempts, Some(deadline.steady()), |channel| {
            let request = request.clone();
            async move { DependencyServiceClient::new(channel).acknowledge_wait(request).await }
        })
        .await?;
        Ok(())
    }

    /// The states of all assets, ordered by key.
    pub async fn list_assets(&self) -> Result<Vec<AssetState>, Error> {
        let mut attempts = self.attempts();
        let mut assets = Vec::new();
        let mut page_token = String::new();
        loop {
            let request = ListAssetsRequest { page_size: PAGE_SIZE, page_token: page_token.clone() };
            let page = self
                .call(&mut attempts, None, |channel| {
                    let request = request.clone();
                    async move { AssetServiceClient::new(channel).list_assets(request).await }
                })
                .await?;
            assets.extend(page.assets);
            // A page that leads to itself would never end.
            if page.next_page_token.is_empty() || page.next_page_token == page_token {
                return Ok(assets);
            }
            page_token = page.next_page_token;
        }
    }

    /// The state of one asset, and how reading its table goes.
    pub async fn get_asset(&self, asset_key: &str) -> Result<GetAssetResponse, Error> {
        let request = GetAssetRequest { asset_key: asset_key.to_owned() };
        let mut attempts = self.attempts();
        self.call(&mut attempts, None, |channel| {
            let request = request.clone();
            async move { AssetServiceClient::new(channel).get_asset(request).await }
        })
        .await
    }

    /// Registers an asset that no catalog of the agent has. Answers its state, and whether it was not there.
    pub async fn register_asset(
        &self,
        request: RegisterAssetRequest,
    ) -> Result<RegisterAssetResponse, Error> {
        let mut attempts = self.attempts();
        self.call(&mut attempts, None, |channel| {
            let request = request.clone();
            async move { AssetServiceClient::new(channel).register_asset(request).await }
        })
        .await
    }

    /// Takes an asset that lives by reports back to one of its snapshots. Tried again where the answer was
    /// lost: doing it twice begins two histories with one head, which starts nobody.
    pub async fn rewind_asset(&self, request: RewindAssetRequest) -> Result<RewindAssetResponse, Error> {
        let mut attempts = self.attempts();
        self.call(&mut attempts, None, |channel| {
            let request = request.clone();
            async move { AssetServiceClient::new(channel).rewind_asset(request).await }
        })
        .await
    }

    /// Reports events; answers what became of each, in order, when they are on disk. Tried again as they
    /// are: an event that was stored already is a duplicate then.
    pub async fn report_events(&self, events: Vec<ReportedEvent>) -> Result<Vec<EventOutcome>, Error> {
        let request = ReportEventsRequest { events };
        let mut attempts = self.attempts();
        let answer = self
            .call(&mut attempts, None, |channel| {
                let request = request.clone();
                async move { EventServiceClient::new(channel).report_events(request).await }
            })
            .await?;
        Ok(answer.outcomes)
    }

    /// Events, the newest first, `limit` at most.
    pub async fn list_events(
        &self,
        query: ListEventsRequest,
        limit: usize,
    ) -> Result<Vec<AssetEvent>, Error> {
        let mut attempts = self.attempts();
        let mut events: Vec<AssetEvent> = Vec::new();
        let mut request = query;
        while events.len() < limit {
            let rest = i32::try_from(limit - events.len()).unwrap_or(i32::MAX);
            request.page_size = rest.min(PAGE_SIZE);
            let page = self
                .call(&mut attempts, None, |channel| {
                    let request = request.clone();
                    async move { EventServiceClient::new(channel).list_events(request).await }
                })
                .await?;
            events.extend(page.events);
            if page.next_page_token.is_empty() || page.next_page_token == request.page_token {
                break;
            }
            request.page_token = page.next_page_token;
        }
        events.truncate(limit);
        Ok(events)
    }

    /// Tries a call until it has an answer that stays, or until `give_up` (else: the connect
    /// timeout) has passed.
    async fn call<T, F>(
        &self,
        attempts: &mut Attempts,
        give_up: Option<Instant>,
        call: impl Fn(Channel) -> F,
    ) -> Result<T, Error>
    where
        F: Future<Output = Result<Response<T>, Status>>,
    {
        let began = Instant::now();
        let give_up = give_up.or_else(|| began.checked_add(self.settings.connect_timeout));
        let within = give_up.map_or(self.settings.connect_timeout, |at| at - began);
        loop {
            let connection = attempts.connection();
            let patience = self.settings.answer_timeout;
            let answer = timeout(patience, call(connection.channel.clone()));
            let fault = match until(give_up, pin!(answer)).await {
                Some(Ok(Ok(response))) => return Ok(response.into_inner()),
                Some(Ok(Err(status))) => Fault::of(&connection.endpoint, &status),
                Some(Err(_)) => Fault::no_answer(&connection.endpoint, patience),
                None => {
                    attempts.cut_off(&connection);
                    return Err(attempts.no_agent(within).into());
                }
            };
            match fault {
                Fault::Final(refusal) => return Err(refusal.into()),
                Fault::Passing(trouble) => {
                    let pause = in_time(attempts.failed(&connection, trouble.clone()), give_up);
                    if give_up.is_some_and(|at| at <= Instant::now() + pause) {
                        return Err(attempts.no_agent(within).into());
                    }
                    self.tell(&trouble);
                    sleep(pause).await;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
