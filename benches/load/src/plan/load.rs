//! The distribution of calls over merchants, and the parameter that a sweep varies.

use std::fmt;
use std::str::FromStr;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// The distribution of the calls over the merchants.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Skew {
    /// All merchants are called equally often.
    Uniform,
    /// The n-th merchant is called in proportion to 1/n to this power.
    Zipf(f64),
    /// The first merchant takes this share, the others share the rest.
    Hot(f64),
}

impl FromStr for Skew {
    type Err = String;

    fn from_str(text: &str) -> Result<Skew, String> {
        let wrong = || format!("{text}: write uniform, zipf:EXPONENT (0 to 10) or hot:SHARE (0 to 1)");
        let number = |text: &str, max: f64| text.parse::<f64>().ok().filter(|number| (0.0..=max).contains(number));
        match text.split_once(':') {
            None if text == "uniform" => Ok(Skew::Uniform),
            Some(("zipf", exponent)) => number(exponent, 10.0).map(Skew::Zipf).ok_or_else(wrong),
            Some(("hot", share)) => number(share, 1.0).map(Skew::Hot).ok_or_else(wrong),
            Some(_) | None => Err(wrong()),
        }
    }
}

impl fmt::Display for Skew {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Skew::Uniform => formatter.write_str("uniform"),
            Skew::Zipf(exponent) => write!(formatter, "zipf:{exponent}"),
            Skew::Hot(share) => write!(formatter, "hot:{share}"),
        }
    }
}

impl From<Skew> for String {
    fn from(skew: Skew) -> String {
        skew.to_string()
    }
}

impl TryFrom<String> for Skew {
    type Error = String;

    fn try_from(text: String) -> Result<Skew, String> {
        text.parse()
    }
}

/// The parameter that a sweep varies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Knob {
    /// The number of merchants.
    Merchants,
    /// The number of connections.
    Connections,
}

impl fmt::Display for Knob {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.to_possible_value().expect("no knob is hidden").get_name())
    }
}

/// The same run for several values of one knob.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sweep {
    /// The parameter that varies.
    pub knob: Knob,
    /// Its values, each above 0, in the order in which they are run.
    pub values: Vec<usize>,
}

impl FromStr for Sweep {
    type Err = String;

    fn from_str(text: &str) -> Result<Sweep, String> {
        let wrong = || format!("{text}: write merchants=1,4,16 or connections=1,8,64");
        let (word, values) = text.split_once('=').ok_or_else(wrong)?;
        let value = |text: &str| text.parse::<usize>().ok().filter(|value| *value > 0);
        let values: Option<Vec<usize>> = values.split(',').map(value).collect();
        Ok(Sweep { knob: Knob::from_str(word, false).map_err(|_| wrong())?, values: values.ok_or_else(wrong)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skews_and_sweeps_are_read_as_they_are_written() {
        for text in ["uniform", "zipf:1.1", "hot:0.8"] {
            assert_eq!(text.parse::<Skew>().map(|skew| skew.to_string()), Ok(text.to_owned()));
        }
        let sweep = Sweep { knob: Knob::Merchants, values: vec![1, 4, 16] };
        assert_eq!("merchants=1,4,16".parse::<Sweep>(), Ok(sweep));
    }

    #[test]
    fn an_invalid_skew_or_sweep_is_refused() {
        for text in ["", "zipf", "zipf:-1", "hot:2", "cold:1"] {
            assert!(text.parse::<Skew>().is_err(), "{text}");
        }
        for text in ["", "merchants", "merchants=", "merchants=0", "threads=1,2", "merchants=1,,2"] {
            assert!(text.parse::<Sweep>().is_err(), "{text}");
        }
    }
}
