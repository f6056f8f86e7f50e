## Every state

pay-merchant = An { $merchant } zahlen
checkout = Bezahlen
sandbox = Testmodus
sandbox-title = Es fließt kein echtes Geld
order = Ihre Bestellung
return-to = Zurück zu { $merchant }
language = Sprache
change-language = Ändern

## The choice

choose = Wählen Sie, wie Sie zahlen
payment-method = Zahlungsart
no-method = Im Moment ist keine Zahlungsart verfügbar.
card = Karte
installment = Ratenzahlung
promptpay = PromptPay QR
mobile-banking = Mobile Banking
promptpay-hint = Sie scannen einen QR-Code mit Ihrer Banking-App.
mobile-banking-hint = Sie bestätigen die Zahlung bei Ihrer Bank und kommen dann hierher zurück.
saved-card = { $scheme } mit Endziffern { $digits }, gültig bis { $expiry }
card-number = Kartennummer
expiry-date = Gültig bis
expiry-form = MM/JJ
security-code = Prüfnummer
name-on-card = Name auf der Karte
save-card = Diese Karte für das nächste Mal speichern
installment-plan = Ratenplan
plan-interest = Zinsen: { $rate } % im Monat.
plan-monthly = Sie zahlen jeden Monat { $amount }.
plan-total = Insgesamt { $amount }.
pay-amount = { $amount } zahlen
cards-need-script = Für die Zahlung mit einer neuen Karte wird JavaScript benötigt. Schalten Sie es ein und laden Sie die Seite neu, oder wählen Sie eine andere Zahlungsart.

## Faults of fields

number-missing = Geben Sie die Kartennummer ein
number-wrong = Prüfen Sie die Kartennummer
expiry-wrong = Prüfen Sie das Ablaufdatum
card-expired = Diese Karte ist abgelaufen
code-missing = Geben Sie die Prüfnummer ein
code-of-four = Geben Sie die Prüfnummer ein: vier Ziffern auf der Vorderseite der Karte
name-missing = Geben Sie den Namen auf der Karte ein

## A payment in progress

processing = Ihre Zahlung wird bearbeitet
processing-text = Das dauert meist nur wenige Sekunden. Die Seite geht von selbst weiter.
confirm = Bestätigen Sie bei Ihrer Bank
confirm-text = Ihre Bank bittet Sie, diese Zahlung zu bestätigen. Danach kommen Sie hierher zurück.
continue-to-bank = Weiter zu Ihrer Bank
another-way = Anders bezahlen
scan = Scannen und zahlen
scan-text = Scannen Sie zum Bezahlen mit Ihrer Banking-App
qr-image = PromptPay-QR-Code
save-qr = QR-Code speichern
qr-text = Text des QR-Codes
copy-qr = Text des QR-Codes kopieren
copied = Kopiert
time-left = Verbleibende Zeit
open-wallet = Sandbox-Wallet öffnen

## The end

successful = Zahlung erfolgreich
going-back = Vielen Dank. Sie kehren jetzt zu { $merchant } zurück.
already-paid = Das ist bezahlt. Hier ist nichts mehr zu tun.
failed = Zahlung fehlgeschlagen
failed-insufficient-funds = Auf dieser Karte oder diesem Konto ist nicht genug Geld.
failed-expired-card = Ihre Bank sagt, dass diese Karte abgelaufen ist.
failed-incorrect-code = Die Prüfnummer ist falsch. Sehen Sie auf Ihrer Karte nach.
failed-incorrect-number = Die Kartennummer ist falsch. Sehen Sie auf Ihrer Karte nach.
failed-not-confirmed = Ihre Bank konnte nicht bestätigen, dass Sie es sind.
failed-unavailable = Diese Zahlung ist im Moment nicht möglich.
failed-declined = Ihre Bank hat diese Zahlung abgelehnt.
failed-canceled = Sie haben diese Zahlung abgebrochen. Es wurde nichts abgebucht.
failed-timed-out = Die Zahlung wurde nicht rechtzeitig bestätigt. Es wurde nichts abgebucht.
try-again = Versuchen Sie es noch einmal, oder wählen Sie eine andere Zahlungsart.
expired = Diese Bezahlseite ist abgelaufen
expired-text = Hier wurde nichts abgebucht. Gehen Sie zurück zum Shop, um noch einmal zu bestellen.
no-more-attempts = Hier ist kein weiterer Versuch möglich, und es wurde nichts abgebucht. Gehen Sie zurück zum Shop, um noch einmal zu bestellen.
suspended = Zahlungen sind im Moment nicht möglich
suspended-text = Bitte fragen Sie den Shop, wie Sie zahlen können.
unknown = Seite nicht gefunden
unknown-text = Prüfen Sie die Adresse, oder gehen Sie zurück zum Shop.

## Troubles of the connection

connection-lost = Die Verbindung ist unterbrochen. Neuer Versuch läuft…
not-reached = Die Zahlung konnte nicht gesendet werden. Versuchen Sie es noch einmal: Sie zahlen nie doppelt.
too-many = Zu viele Versuche. Gleich geht es weiter…

## The form in a frame

payment-form = Zahlungsformular
continue = Weiter
