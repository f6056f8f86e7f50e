//! The server of a measurement: one that runs, or one of our own.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use clap::Args;
use secrecy::SecretString;

use crate::target::{
    Access, ExistingMerchant, OperatorAccess, OwnServer, ServerAddress, ServerSetting, TargetServer, Trust,
    server_address,
};
use till::{Configuration, Secrets};

/// The server.
#[derive(Debug, Clone, Args)]
pub struct ServerArguments {
    /// The server to be measured, as http://HOST:PORT or https://HOST:PORT; without it, one is started for the run and
    /// removed again
    #[arg(long, value_name = "URL")]
    pub target: Option<String>,
    /// Its admin listener, as http://HOST:PORT or https://HOST:PORT [default: where --admin-listen says]
    #[arg(long, value_name = "URL", requires = "target")]
    pub admin: Option<String>,
    /// A file with the key of a merchant that exists already: it is called, none is made, and no admin token is needed
    #[arg(long, value_name = "FILE", requires = "target", conflicts_with_all = ["admin", "webhooks", "merchants"])]
    pub key: Option<PathBuf>,
    /// The id of the merchant of --key, where its customers pay
    #[arg(long, value_name = "ID", requires = "key", requires = "installation")]
    pub merchant: Option<String>,
    /// The id of one of its installations
    #[arg(long, value_name = "ID", requires = "merchant")]
    pub installation: Option<String>,
    /// The certificates, in PEM form, to trust a server with TLS by [default: those that the system trusts]
    #[arg(long, value_name = "FILE")]
    pub ca_file: Option<PathBuf>,
    /// Allow a server on another machine
    #[arg(long)]
    pub allow_remote: bool,
    /// The parent of the directory of a server of our own [default: the system's temporary directory]
    #[arg(long, value_name = "DIR", conflicts_with = "target")]
    pub server_directory: Option<PathBuf>,
    /// A setting of a server of our own, as archive_directory=DIR; may be repeated
    #[arg(long, value_name = "KEY=VALUE", conflicts_with = "target")]
    pub server_setting: Vec<ServerSetting>,
}

impl ServerArguments {
    /// The server to be measured, and the process of our own server, which must be kept alive meanwhile.
    pub(super) fn find(
        &self,
        configuration: &Configuration,
        has_webhooks: bool,
    ) -> anyhow::Result<(Option<OwnServer>, TargetServer)> {
        let trust = self.ca_file.clone().map_or(Trust::System, Trust::File);
        let (own, server) = match &self.target {
            Some(target) => (None, self.running(configuration, target, &trust)?),
            None => {
                let parent = self.server_directory.clone().unwrap_or_else(std::env::temp_dir);
                let (own, server) = OwnServer::start(&parent, &self.own_settings(has_webhooks), &trust)?;
                (Some(own), server)
            }
        };
        let is_tls = |address: &ServerAddress| address.tls().is_some();
        let has_tls = is_tls(&server.public)
            || matches!(&server.access, Access::Operator(OperatorAccess { admin, .. }) if is_tls(admin));
        ensure!(has_tls || self.ca_file.is_none(), "--ca-file: needs a server with TLS, as --target https://HOST:PORT");
        ensure!(
            server.is_on_this_machine() || !has_webhooks,
            "--webhooks: needs a server on this machine, since the webhooks lead to 127.0.0.1"
        );
        Ok((own, server))
    }

    /// A server that runs.
    fn running(&self, configuration: &Configuration, target: &str, trust: &Trust) -> anyhow::Result<TargetServer> {
        let public = server_address(target, self.allow_remote, trust)?;
        let access = match &self.key {
            Some(file) => Access::Merchant(self.merchant(file)?),
            None => Access::Operator(OperatorAccess {
                admin: self.admin_address(configuration, trust)?,
                token: Secrets::find_admin_token(configuration)?,
            }),
        };
        Ok(TargetServer::running(public, access))
    }

    fn merchant(&self, file: &Path) -> anyhow::Result<ExistingMerchant> {
        let key = std::fs::read_to_string(file).with_context(|| format!("failed to read {}", file.display()))?;
        let key = SecretString::from(key.trim());
        Ok(ExistingMerchant { key, ids: self.merchant.clone().zip(self.installation.clone()) })
    }

    /// The admin listener. The certificates that the operator's commands trust it by count before `trust`; with them,
    /// the listener that the configuration describes speaks TLS.
    fn admin_address(&self, configuration: &Configuration, trust: &Trust) -> anyhow::Result<ServerAddress> {
        let own = configuration.admin_tls.as_ref().map(|files| &files.certificate);
        let certificates = configuration.admin_ca_file.as_ref().or(own).cloned();
        let of_configuration = certificates.map(Trust::File);
        Ok(match (&self.admin, of_configuration) {
            (Some(admin), of_configuration) => {
                server_address(admin, self.allow_remote, of_configuration.as_ref().unwrap_or(trust))?
            }
            (None, Some(of_configuration)) => {
                let text = format!("https://{}:{}", configuration.admin_host, configuration.admin_listen.port());
                server_address(&text, true, &of_configuration)?
            }
            (None, None) => ServerAddress::without_tls(configuration.admin_listen),
        })
    }

    /// The settings of a server of our own: it calls webhooks on this machine only when it is told to.
    fn own_settings(&self, has_webhooks: bool) -> Vec<ServerSetting> {
        let mut settings = self.server_setting.clone();
        let calls_this_machine = ServerSetting::webhooks_to_this_machine();
        let is_given = settings.iter().any(|setting| setting.has_key_of(&calls_this_machine));
        if has_webhooks && !is_given {
            settings.push(calls_this_machine);
        }
        settings
    }
}
