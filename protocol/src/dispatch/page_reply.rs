//! A page's answer, and the files that pages load.

use actix_web::web::Bytes;

use super::request_id::RequestId;
use crate::api_error::{ApiError, Code};

/// The part of a page's answer that its listener decides.
#[derive(Clone, Copy)]
pub(super) struct PageFrame {
    /// Makes the page of a refusal.
    pub(super) refusal: fn(&ApiError, &RequestId) -> String,
    /// True when the browser came by TLS.
    pub(super) is_secure: bool,
    /// True where visitors sign in.
    pub(super) has_session: bool,
}

/// A file that pages load.
#[derive(Debug)]
pub struct PageAsset {
    /// Its path, with a hash of the content.
    pub path: fn() -> &'static str,
    /// Its content.
    pub bytes: fn() -> &'static [u8],
    /// Its media type.
    pub media_type: &'static str,
    /// True when pages of every origin may load it.
    pub is_shared: bool,
}

/// The content of a page's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PageContent {
    /// A page.
    Html(String),
    /// The browser is sent to this address, which it gets.
    SeeOther(String),
    /// A file that pages load.
    Asset(Bytes, &'static str),
    /// Another content, with its media type.
    Other(Bytes, &'static str),
}

/// A page's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageReply {
    pub(super) content: PageContent,
    /// The refusal that the page tells; None on success.
    pub(super) code: Option<Code>,
    /// The other origins to which its form may lead.
    pub(super) form_targets: Vec<String>,
    /// The origin whose pages may show it in a frame.
    pub(super) framed_by: Option<String>,
    /// True when pages of every origin may load it.
    pub(super) is_shared: bool,
    /// True when browsers may keep it for a while.
    pub(super) is_kept: bool,
    /// The cookie that it sets: the value of its header.
    pub(super) cookie: Option<String>,
}

impl PageReply {
    fn of(content: PageContent) -> PageReply {
        PageReply {
            content,
            code: None,
            form_targets: Vec::new(),
            framed_by: None,
            is_shared: false,
            is_kept: false,
            cookie: None,
        }
    }

    /// A page of this text.
    #[must_use]
    pub fn html(text: String) -> PageReply {
        PageReply::of(PageContent::Html(text))
    }

    /// Sends the browser to an address, which is ASCII, or a path of this server.
    #[must_use]
    pub fn see_other(address: String) -> PageReply {
        PageReply::of(PageContent::SeeOther(address))
    }

    pub(super) fn asset(asset: &PageAsset) -> PageReply {
        let content = PageContent::Asset(Bytes::from_static((asset.bytes)()), asset.media_type);
        PageReply { is_shared: asset.is_shared, ..PageReply::of(content) }
    }

    /// A text of this media type.
    #[must_use]
    pub fn text(text: String, media_type: &'static str) -> PageReply {
        PageReply::bytes(text.into_bytes(), media_type)
    }

    /// Bytes of this media type.
    #[must_use]
    pub fn bytes(bytes: Vec<u8>, media_type: &'static str) -> PageReply {
        PageReply::of(PageContent::Other(Bytes::from(bytes), media_type))
    }

    /// The same, which browsers may keep for five minutes.
    #[must_use]
    pub fn with_caching(self) -> PageReply {
        PageReply { is_kept: true, ..self }
    }

    /// The same for pages of every origin.
    #[must_use]
    pub fn shared(self) -> PageReply {
        PageReply { is_shared: true, ..self }
    }

    /// The same in a frame of pages of this origin.
    #[must_use]
    pub fn framed_by(self, origin: String) -> PageReply {
        PageReply { framed_by: Some(origin), is_shared: true, ..self }
    }

    /// The same with the status of a refusal.
    #[must_use]
    pub fn with_refusal(self, code: Code) -> PageReply {
        PageReply { code: Some(code), ..self }
    }

    /// The same page; the answer to its form may redirect the browser to these origins.
    #[must_use]
    pub fn with_form_targets(self, origins: Vec<String>) -> PageReply {
        PageReply { form_targets: origins, ..self }
    }
}
