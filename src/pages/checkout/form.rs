//! The form that the page posts, which works without script.

use till_domain::merchant::PaymentMethod;

/// The beginning of the value of a saved card's radio button, before its id: a radio button has one value, and this one
/// means two fields.
pub(super) const SAVED_CARD: &str = "CARD:";

/// The action that a customer asks for by the form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PostedAct {
    /// The customer pays.
    Pay {
        method: PaymentMethod,
        /// The saved card; none with a method of another kind.
        card_id: Option<String>,
        /// The instalment plan; only with instalments.
        plan_id: Option<String>,
        /// The session that the customer gives up by it.
        replaces: Option<String>,
    },
    /// The customer gives up a payment to pay otherwise.
    AnotherWay {
        /// Its session.
        replaces: String,
    },
}

impl PostedAct {
    /// Reads the form by a function that answers the only value of a field. None when the form asks for nothing that
    /// the page offers, so that the page is only shown again.
    pub(super) fn read<'a>(field: impl Fn(&str) -> Option<&'a str>) -> Option<PostedAct> {
        let given = |name| field(name).filter(|value| !value.is_empty()).map(str::to_owned);
        match field("action")? {
            "pay" => {
                let (method, card_of_radio) = chosen(field("payment_method")?)?;
                let card_id = card_of_radio.or_else(|| given("card_id")).filter(|_| method == PaymentMethod::Card);
                let plan_id = given("installment_plan_id").filter(|_| method == PaymentMethod::Installment);
                Some(PostedAct::Pay { method, card_id, plan_id, replaces: given("replaces") })
            }
            "another_way" => Some(PostedAct::AnotherWay { replaces: given("replaces")? }),
            _ => None,
        }
    }
}

/// The method, and the saved card, that the value of a radio button means.
fn chosen(value: &str) -> Option<(PaymentMethod, Option<String>)> {
    if let Some(card_id) = value.strip_prefix(SAVED_CARD) {
        return Some((PaymentMethod::Card, Some(card_id.to_owned())));
    }
    let method = PaymentMethod::ALL.into_iter().find(|method| method.name() == value)?;
    Some((method, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(fields: &[(&str, &'static str)]) -> Option<PostedAct> {
        PostedAct::read(|name| fields.iter().find(|(known, _)| *known == name).map(|(_, value)| *value))
    }

    fn pay(method: PaymentMethod, card_id: Option<&str>, plan_id: Option<&str>) -> Option<PostedAct> {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Some(PostedAct::Pay { method, card_id: owned(card_id), plan_id: owned(plan_id), replaces: None })
    }

    #[test]
    fn a_saved_card_is_named_by_its_radio_button_or_by_its_own_field() {
        let by_radio = read(&[("action", "pay"), ("payment_method", "CARD:crd_1"), ("installment_plan_id", "p")]);
        assert_eq!(by_radio, pay(PaymentMethod::Card, Some("crd_1"), None));
        let by_field = read(&[("action", "pay"), ("payment_method", "CARD"), ("card_id", "crd_2")]);
        assert_eq!(by_field, pay(PaymentMethod::Card, Some("crd_2"), None));
    }

    #[test]
    fn a_plan_belongs_to_instalments_and_a_card_does_not() {
        let fields =
            [("action", "pay"), ("payment_method", "INSTALLMENT"), ("installment_plan_id", "p"), ("card_id", "c")];
        assert_eq!(read(&fields), pay(PaymentMethod::Installment, None, Some("p")));
        let plain = read(&[("action", "pay"), ("payment_method", "PROMPTPAY"), ("card_id", ""), ("replaces", "")]);
        assert_eq!(plain, pay(PaymentMethod::PromptPay, None, None));
    }

    #[test]
    fn another_way_needs_the_session_that_is_given_up() {
        let expected = Some(PostedAct::AnotherWay { replaces: "pse_1".to_owned() });
        assert_eq!(read(&[("action", "another_way"), ("replaces", "pse_1")]), expected);
        for fields in [&[("action", "another_way")][..], &[("action", "other")], &[("payment_method", "CARD")], &[]] {
            assert_eq!(read(fields), None, "{fields:?}");
        }
        assert_eq!(read(&[("action", "pay"), ("payment_method", "card")]), None);
    }
}
