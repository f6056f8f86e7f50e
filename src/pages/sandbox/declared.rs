//! The list of the sandbox's pages.

use std::sync::Arc;

use till_protocol::dispatch::{BrowserPage, PageDeclaration, browser_page};
use till_sandbox::ActionPage;

use super::{action, scan};
use crate::access::MerchantCaller;

static CHALLENGE: PageDeclaration = PageDeclaration { pattern: "/sandbox/challenge/{action}", has_form: true };
static BANK: PageDeclaration = PageDeclaration { pattern: "/sandbox/bank/{action}", has_form: true };
static WALLET: PageDeclaration = PageDeclaration { pattern: "/sandbox/wallet/{action}", has_form: true };
static SCAN: PageDeclaration = PageDeclaration { pattern: "/sandbox/scan", has_form: true };

/// The pages.
pub(in crate::pages) fn pages() -> Vec<Arc<dyn BrowserPage<MerchantCaller>>> {
    let of_action = |page: ActionPage| {
        let declaration = match page {
            ActionPage::Challenge => &CHALLENGE,
            ActionPage::Bank => &BANK,
            ActionPage::Wallet => &WALLET,
        };
        browser_page(declaration, page, action::open)
    };
    let mut pages: Vec<_> = ActionPage::ALL.into_iter().map(of_action).collect();
    pages.push(browser_page(&SCAN, (), scan::open));
    pages
}
