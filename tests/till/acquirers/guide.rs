//! The five commands of `docs/acquirers.md`, pasted from an empty directory on, beside the fake.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use super::fake::StripeFake;
use crate::harness::{KilledOnDrop, PATIENCE, Wire, directory, first_answer};

const GUIDE: &str = include_str!("../../../docs/acquirers.md");
/// The address of the guide's server, in whose place a free port is used.
const DEFAULT_URL: &str = "http://127.0.0.1:8080";
/// The variables that a block of commands leaves to the next.
const VARIABLES: &str = "variables";

/// The blocks of commands of a section.
fn commands(section: &str) -> Vec<&'static str> {
    let (_, text) = GUIDE.split_once(&format!("\n## {section}\n")).expect("the guide has the section");
    let text = text.split("\n## ").next().expect("a text has a beginning");
    text.split("```sh\n").skip(1).map(|block| block.split("```").next().expect("it ends")).collect()
}

fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").expect("a port is free").local_addr().expect("it has an address").to_string()
}

/// A shell of a reader whose Till and Stripe are those of the test.
struct Reader<'t> {
    place: &'t Path,
    listen: String,
    admin_listen: String,
    fake: &'t StripeFake,
}

impl Reader<'_> {
    fn shell(&self, commands: &str) -> Command {
        let program = Path::new(env!("CARGO_BIN_EXE_till")).parent().expect("it is in a directory");
        let path = format!("{}:{}", program.display(), std::env::var("PATH").expect("there is a path"));
        let mut shell = Command::new("bash");
        shell.args(["-euo", "pipefail", "-c"]).arg(commands.replace(DEFAULT_URL, &format!("http://{}", self.listen)));
        shell.current_dir(self.place).env("PATH", path).env("TILL_STRIPE_URL", self.fake.url());
        shell.env("TILL_LISTEN", &self.listen).env("TILL_ADMIN_LISTEN", &self.admin_listen);
        shell
    }

    /// The output of commands, which have the variables of those before and leave theirs.
    #[track_caller]
    fn paste(&self, commands: &str) -> String {
        let script = format!("touch {VARIABLES}; source ./{VARIABLES}\n{commands}\ndeclare -p MERCHANT > {VARIABLES}");
        let output = self.shell(&script).output().expect("bash can be started");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && errors.is_empty(), "{commands}{errors}");
        String::from_utf8(output.stdout).expect("it is text")
    }

    /// Runs the server, and answers it with the address of the checkout that it prints.
    fn serve(&self, command: &str) -> (KilledOnDrop, String) {
        let mut shell = self.shell(&command.replace("till serve", "exec till serve"));
        let mut server = KilledOnDrop(shell.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("bash"));
        let mut lines = BufReader::new(server.stdout.take().expect("it is piped")).lines().map_while(Result::ok);
        let checkout = lines.find(|line| line.contains("/pay/")).expect("it prints a checkout");
        std::thread::spawn(move || lines.for_each(drop));
        (server, checkout.trim().to_owned())
    }

    /// Pays a checkout by a card at Stripe's page, without script.
    fn pay(&self, checkout: &str) {
        let path = checkout.strip_prefix(&format!("http://{}", self.listen)).expect("it is this server's");
        let wire = Wire::new(&format!("http://{}", self.listen));
        let form = [("Content-Type", "application/x-www-form-urlencoded")];
        assert_eq!(wire.receive("POST", path, &form, b"action=pay&payment_method=CARD").status, 303);
        let look = || String::from_utf8(wire.receive("GET", path, &[], b"").body).expect("it is text");
        let beginning = format!("{}/c/pay/", self.fake.url());
        let page = first_answer(PATIENCE, "no way to Stripe is shown", look, |page| page.contains(&beginning));
        let (_, address) = page.split_once(&beginning).expect("it is there");
        let id = address.split('"').next().expect("a text has a beginning");
        let answer = self.fake.remote().enter_card(&format!("{beginning}{id}"), "4242424242424242");
        let back = answer.header("location").and_then(|at| at.strip_prefix(&format!("http://{}", self.listen)));
        wire.receive("GET", back.expect("it leads back"), &[], b"");
    }
}

#[test]
fn the_commands_of_the_guide_lead_to_a_payment_at_a_test_account() {
    let (place, fake) = (directory(), StripeFake::start());
    let made = fake.control("POST", "accounts", &json!({ "livemode": false }));
    let secret = made["secret"].as_str().expect("a text");
    std::fs::write(place.path().join("stripe.key"), format!("{secret}\n")).expect("a file can be written");
    let reader = Reader { place: place.path(), listen: free_address(), admin_listen: free_address(), fake: &fake };
    let blocks = commands("Five commands");
    let [serve, configure, find] = blocks[..] else { panic!("three blocks: {blocks:?}") };
    let (_server, checkout) = reader.serve(serve);
    assert_eq!(reader.paste(configure).trim(), "true");
    reader.pay(&checkout);
    first_answer(PATIENCE, "it is not paid", || reader.paste(find), |shown| shown.contains("SUCCESSFUL"));
}
