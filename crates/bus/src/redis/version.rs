//! Parses and checks what a server reports about itself (`INFO server`).

use super::channels::Channels;
use super::explain::NEEDED;
use crate::failure::Failure;

/// The oldest major version with everything that the scripts use. Valkey reports the Redis version that it is
/// compatible with.
const MAJOR_VERSION_MIN: u32 = 7;

/// Returns the run id of the server, if the server meets the requirements.
pub(crate) fn run_of(info: &str, channels: Channels) -> Result<String, Failure> {
    let field = |name: &str| info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let version = field("redis_version").unwrap_or("0");
    let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
    if major.is_none_or(|major| major < MAJOR_VERSION_MIN) {
        let found = match field("valkey_version") {
            Some(valkey) => format!("it is Valkey {valkey}, which is like Redis {version}"),
            None => format!("it is Redis {version}"),
        };
        return Err(Failure::TooOld { found, needed: NEEDED });
    }
    // The field is named differently in Valkey and Redis.
    let mode = field("server_mode").or_else(|| field("redis_mode"));
    if channels == Channels::Plain && mode == Some("cluster") {
        return Err(Failure::IsCluster);
    }
    Ok(field("run_id").unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const REDIS: &str = "# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\nrun_id:a1\r\n";
    const VALKEY: &str = "# Server\r\nredis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:9.1.2\r\n\
                          server_mode:standalone\r\nrun_id:b2\r\n";

    #[test]
    fn redis_and_valkey_are_known_and_so_are_their_clusters() {
        for (info, run) in [(REDIS, "a1"), (VALKEY, "b2")] {
            assert_eq!(run_of(info, Channels::Plain), Ok(run.to_owned()));
            let cluster = info.replace("standalone", "cluster");
            assert_eq!(run_of(&cluster, Channels::Plain), Err(Failure::IsCluster));
            assert_eq!(run_of(&cluster, Channels::Sharded), Ok(run.to_owned()));
        }
    }

    #[test]
    fn one_that_is_too_old_is_named() {
        let old = |info: &str| run_of(info, Channels::Plain).expect_err("it is too old").to_string();
        let redis = old(&REDIS.replace("7.0.15", "6.2.14"));
        assert!(redis.contains("it is Redis 6.2.14, but Redis 7.0 or Valkey is required"), "{redis}");
        let valkey = old(&VALKEY.replace("7.2.4", "6.2.14"));
        assert!(valkey.contains("it is Valkey 9.1.2, which is like Redis 6.2.14"), "{valkey}");
        old("");
    }
}
