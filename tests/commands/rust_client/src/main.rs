//! The published Rust client, unmodified: writes the bytes of each record that it has decoded to standard output,
//! until the gateway ends the session.
//!
//!     rust_client ADDRESS KEY SCHEMA SYMBOL_TYPE SYMBOL[,SYMBOL...] [OPTION...]
//!
//! Options: `zstd`, `send_times`, `snapshot`, `all_state` (start at time 0), `unsubscribe` (after the first record of
//! the schema), `reconnect` (once, after the first end of the session).

use std::collections::HashSet;
use std::error::Error;
use std::io::Write;

use databento::dbn::{Compression, PitSymbolMap, RecordRef, SType, Schema, SystemCode, SystemMsg};
use databento::live::{Client, Subscription};
use databento::{LiveClient, Symbols};

fn is_about_the_session(record: &RecordRef) -> bool {
    use databento::dbn::rtype::{ERROR, SYMBOL_MAPPING, SYSTEM};
    [ERROR, SYMBOL_MAPPING, SYSTEM].contains(&record.header().rtype)
}

/// Reads to the end of the session. Each record of a series must have a symbol.
async fn read_session(client: &mut Client, unsubscribe: bool) -> Result<(), Box<dyn Error>> {
    let mut symbols = PitSymbolMap::new();
    let mut output = std::io::stdout().lock();
    let mut is_subscribed = unsubscribe;
    loop {
        let mut is_first = false;
        let Some(record) = client.next_record().await? else {
            return Ok(());
        };
        symbols.on_record(record)?;
        if !is_about_the_session(&record) {
            if symbols.get(record.header().instrument_id).is_none() {
                return Err(format!("no symbol for {:?}", record.header()).into());
            }
            is_first = std::mem::take(&mut is_subscribed);
        }
        output.write_all(record.as_ref())?;
        output.flush()?;
        let code = record.get::<SystemMsg>().and_then(|system| system.code().ok());
        if code == Some(SystemCode::UnsubscribeAck) {
            client.close().await?;
        } else if is_first {
            let request = client.subscriptions()[0].to_unsubscription();
            client.unsubscribe(request).await?;
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, address, key, schema, symbol_type, names, options @ ..] = &arguments[..] else {
        return Err("rust_client ADDRESS KEY SCHEMA SYMBOL_TYPE SYMBOLS [OPTION...]".into());
    };
    let options: HashSet<&str> = options.iter().map(String::as_str).collect();
    let mut client = LiveClient::builder()
        .addr(address.as_str())
        .await?
        .key(key)?
        .dataset("OPRA.PILLAR")
        .send_ts_out(options.contains("send_times"))
        .compression(if options.contains("zstd") { Compression::Zstd } else { Compression::None })
        .build()
        .await?;
    let symbols = match names.as_str() {
        "ALL_SYMBOLS" => Symbols::All,
        names => Symbols::Symbols(names.split(',').map(str::to_owned).collect()),
    };
    let mut subscription = Subscription::builder()
        .symbols(symbols)
        .schema(schema.parse::<Schema>()?)
        .stype_in(symbol_type.parse::<SType>()?)
        .use_snapshot(options.contains("snapshot"))
        .build();
    if options.contains("all_state") {
        subscription.start = Some(time::OffsetDateTime::UNIX_EPOCH);
    }
    client.subscribe(subscription).await?;
    client.start().await?;
    read_session(&mut client, options.contains("unsubscribe")).await?;
    if options.contains("reconnect") {
        client.reconnect().await?;
        client.resubscribe().await?;
        client.start().await?;
        read_session(&mut client, false).await?;
    }
    Ok(())
}
