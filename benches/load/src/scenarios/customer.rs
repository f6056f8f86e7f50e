//! The customer's part of a payment, as a browser without script carries it out: the page that the payment asks for,
//! its form, the way back to the shop, and the outcome.

use std::time::{Duration, Instant};

use till_domain::ids::PaymentId;
use url::Url;
use url::form_urlencoded::Serializer;

use super::amounts::INITIATED_MINOR;
use super::asking::{AskingMethod, CustomerRequests};
use super::load_client::LoadClient;
use super::sessions::AskingPayment;
use super::world::RunContext;
use crate::client::{HttpAnswer, Template, form_request, page_request};
use crate::recording::{MeasuredStep, Trouble};
use crate::target::ServerAddress;

/// The longest time for which a customer waits for what is asked, and for the outcome.
const PATIENCE: Duration = Duration::from_secs(30);

/// The first pause between two questions. Each pause is twice as long as the one before, up to [`PAUSE_MAX`].
const PAUSE_MIN: Duration = Duration::from_millis(2);

/// The longest pause between two questions: some 500 of them fill [`PATIENCE`].
const PAUSE_MAX: Duration = Duration::from_millis(64);

/// The form of a page whose button succeeds.
const SUCCEED: &str = "outcome=succeed";

/// The sandbox's page that stands for the camera of a phone.
const SCAN: &str = "/sandbox/scan";

/// A word that is waited for.
struct AwaitedWord {
    request: fn(&CustomerRequests) -> &Template,
    /// The answer until then.
    waiting: &'static str,
    reached: &'static str,
    step: MeasuredStep,
}

/// The customer of one payment.
struct ActingCustomer<'a> {
    server: &'a ServerAddress,
    requests: &'a CustomerRequests,
    payment: &'a AskingPayment,
    client: &'a mut LoadClient,
}

/// Acts as the customer of a payment, on the connection that initiated it, until the payment is successful.
pub(super) async fn act(world: &RunContext, client: &mut LoadClient, payment: &AskingPayment) -> Result<(), Trouble> {
    client.recorder.borrow_mut().asked();
    let start = Instant::now();
    let requests = world.stock.shops[payment.shop].customers.as_ref().expect("the merchant's payments ask");
    let mut customer = ActingCustomer { server: world.public(), requests, payment, client };
    customer.act().await?;
    client.step(MeasuredStep::CustomerPart, start.elapsed());
    client.recorder.borrow_mut().completed(Instant::now());
    Ok(())
}

impl ActingCustomer<'_> {
    async fn act(&mut self) -> Result<(), Trouble> {
        let is_scanned = self.payment.method == AskingMethod::PromptPay;
        self.wait_for(&AwaitedWord {
            request: |requests| &requests.discover,
            waiting: "WAIT",
            reached: if is_scanned { "DISPLAY_QR" } else { "REDIRECT" },
            step: MeasuredStep::UntilAsked,
        })
        .await?;
        if is_scanned {
            let page = self.page_of_qr_code().await?;
            self.send_form(&page, 200).await?;
        } else {
            let page = self.page_of_redirect().await?;
            let back = self.send_form(&page, 303).await?;
            self.come_back(&back).await?;
        }
        self.wait_for(&AwaitedWord {
            request: |requests| &requests.check_status,
            waiting: "INITIATED",
            reached: "SUCCESSFUL",
            step: MeasuredStep::UntilSuccessful,
        })
        .await
    }

    /// Makes a call about the payment's session.
    async fn ask(&mut self, request: &Template) -> Result<HttpAnswer<'_>, Trouble> {
        request.write(&self.payment.session, &mut self.client.request);
        Trouble::unless_accepted(self.client.connection.call(&self.client.request).await)
    }

    /// Asks until the answer is the word that is waited for.
    async fn wait_for(&mut self, word: &AwaitedWord) -> Result<(), Trouble> {
        let (start, mut pause) = (Instant::now(), PAUSE_MIN);
        loop {
            let answer = self.ask((word.request)(self.requests)).await?;
            match answer.id() {
                Some(reached) if reached == word.reached => break,
                Some(waiting) if waiting == word.waiting && start.elapsed() < PATIENCE => {}
                Some(_) | None => return Err(Trouble::wrong(&format!("{} in time", word.reached), &answer)),
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
        self.client.step(word.step, start.elapsed());
        Ok(())
    }

    /// The path of the page that the customer is sent to.
    async fn page_of_redirect(&mut self) -> Result<String, Trouble> {
        let start = Instant::now();
        let (requests, server) = (self.requests, self.server);
        let answer = self.ask(&requests.redirect_url).await?;
        let address = text_of(&answer).and_then(|address| path_on(server, &address, "/sandbox/"));
        let address = address.ok_or_else(|| Trouble::wrong("the address of a page of the sandbox", &answer))?;
        self.client.step(MeasuredStep::GetRedirectUrl, start.elapsed());
        Ok(address)
    }

    /// The path of the page to which the QR code leads.
    async fn page_of_qr_code(&mut self) -> Result<String, Trouble> {
        let start = Instant::now();
        let (requests, server) = (self.requests, self.server);
        let answer = self.ask(&requests.qr_data).await?;
        let text = text_of(&answer).ok_or_else(|| Trouble::wrong("the text of a QR code", &answer))?;
        self.client.step(MeasuredStep::RetrieveQrData, start.elapsed());
        let form = Serializer::new(String::new()).append_pair("text", &text).finish();
        let start = Instant::now();
        let answer = self.open(&form_request(server, SCAN, &form), 303).await?;
        let page = answer.location().and_then(|location| path_on(server, location, "/sandbox/wallet/"));
        let page = page.ok_or_else(|| Trouble::wrong("the way to a page of the wallet", &answer))?;
        self.client.step(MeasuredStep::ScanQrCode, start.elapsed());
        Ok(page)
    }

    /// Sends the form of the page, and returns the path to which the answer leads; empty when it leads nowhere.
    async fn send_form(&mut self, page: &str, status: u16) -> Result<String, Trouble> {
        let start = Instant::now();
        let server = self.server;
        let answer = self.open(&form_request(server, page, SUCCEED), status).await?;
        let back = match answer.location() {
            Some(location) => path_on(server, location, "/return/"),
            None => (status == 200).then(String::new),
        };
        let back = back.ok_or_else(|| Trouble::wrong("the way back from a page", &answer))?;
        self.client.recorder.borrow_mut().paid(INITIATED_MINOR);
        self.client.step(MeasuredStep::SendForm, start.elapsed());
        Ok(back)
    }

    /// Comes back from the page once: to the shop, or to a page that waits for the outcome.
    async fn come_back(&mut self, path: &str) -> Result<(), Trouble> {
        let start = Instant::now();
        let payment = self.payment.id;
        let answer = self.page(&page_request(self.server, path)).await?;
        let is_right = match answer.status {
            200 => true,
            303 => answer.location().is_some_and(|location| is_of_payment(location, payment)),
            _ => false,
        };
        if !is_right {
            return Err(Trouble::wrong("the way to the shop, or a page that waits", &answer));
        }
        self.client.step(MeasuredStep::ComeBack, start.elapsed());
        Ok(())
    }

    /// Opens a page whose answer has this status.
    async fn open(&mut self, request: &[u8], status: u16) -> Result<HttpAnswer<'_>, Trouble> {
        let answer = self.page(request).await?;
        if answer.status == status {
            return Ok(answer);
        }
        Err(Trouble::wrong(&format!("a page with status {status}"), &answer))
    }

    /// Opens a page that the server does not refuse for its load.
    async fn page(&mut self, request: &[u8]) -> Result<HttpAnswer<'_>, Trouble> {
        let answer = self.client.connection.call(request).await.map_err(Trouble::of_failure)?;
        match answer.status {
            429 | 503 => Err(Trouble::Failed { code: answer.error_code(), excerpt: answer.excerpt() }),
            _ => Ok(answer),
        }
    }
}

/// The text of an answer.
pub(super) fn text_of(answer: &HttpAnswer<'_>) -> Option<String> {
    serde_json::from_slice(answer.body).ok()
}

/// The path of an address, which begins with `prefix`: absolute, or a path of this server. An absolute one may name
/// another host, by which customers reach the server.
fn path_on(server: &ServerAddress, address: &str, prefix: &str) -> Option<String> {
    let base = Url::parse(&server.to_string()).ok()?;
    let address = base.join(address).ok()?;
    Some(address.path().to_owned()).filter(|path| path.starts_with(prefix))
}

/// True when the query of the shop's page names the payment.
fn is_of_payment(address: &str, payment: PaymentId) -> bool {
    let Ok(address) = Url::parse(address) else { return false };
    address.query_pairs().any(|(name, value)| name == "payment_id" && value == payment.to_string())
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;

    #[test]
    fn the_page_of_an_address_is_asked_of_the_measured_server() {
        let server = ServerAddress::without_tls(SocketAddr::from(([127, 0, 0, 1], 80)));
        let path = |address: &str| path_on(&server, address, "/sandbox/");
        let page = Some("/sandbox/bank/act_1".to_owned());
        for address in
            ["/sandbox/bank/act_1", "http://127.0.0.1:80/sandbox/bank/act_1", "https://a.example/sandbox/bank/act_1"]
        {
            assert_eq!(path(address), page);
        }
        for address in ["https://bank.example/pay", "/return/a/b", "", "http://["] {
            assert_eq!(path(address), None, "{address}");
        }
    }

    #[test]
    fn customers_come_back_with_their_payment() {
        let (payment, other) = (PaymentId::from_bytes([7; 16]), PaymentId::from_bytes([8; 16]));
        let address = format!("https://shop.example/done?a=1&payment_id={payment}");
        assert!(is_of_payment(&address, payment) && !is_of_payment(&address, other));
        assert!(!is_of_payment("https://shop.example/done", payment) && !is_of_payment("/done", payment));
    }
}
