## Every state

pay-merchant = Pay { $merchant }
checkout = Checkout
sandbox = Sandbox
sandbox-title = No real money moves
order = Your order
return-to = Return to { $merchant }
language = Language
change-language = Change

## The choice

choose = Choose how to pay
payment-method = Payment method
no-method = No payment method is available at the moment.
card = Card
installment = Instalments
promptpay = PromptPay QR
mobile-banking = Mobile banking
promptpay-hint = A QR code is shown, which you scan with your banking app.
mobile-banking-hint = You confirm the payment with your bank, and then come back here.
saved-card = { $scheme } ending in { $digits }, expires { $expiry }
card-number = Card number
expiry-date = Expiry date
expiry-form = MM/YY
security-code = Security code
name-on-card = Name on card
save-card = Save this card for next time
installment-plan = Instalment plan
plan-interest = Interest: { $rate }% a month.
plan-monthly = You pay { $amount } each month.
plan-total = In total { $amount }.
pay-amount = Pay { $amount }
cards-need-script = Paying by a new card needs JavaScript. Turn it on and load this page again, or choose another way to pay.

## Faults of fields

number-missing = Enter the card number
number-wrong = Check the card number
expiry-wrong = Check the expiry date
card-expired = This card has expired
code-missing = Enter the security code
code-of-four = Enter the security code: four digits on the front of the card
name-missing = Enter the name on the card

## A payment in progress

processing = Processing your payment
processing-text = This usually takes a few seconds. The page goes on by itself.
confirm = Confirm with your bank
confirm-text = Your bank asks you to confirm this payment. Afterwards you come back here.
continue-to-bank = Continue to your bank
another-way = Pay another way
scan = Scan to pay
scan-text = Scan with your banking app to pay
qr-image = PromptPay QR code
save-qr = Save QR code
qr-text = QR code text
copy-qr = Copy QR code text
copied = Copied
time-left = Time left
open-wallet = Open the sandbox wallet

## The end

successful = Payment successful
going-back = Thank you. You are going back to { $merchant } now.
already-paid = This has been paid. There is nothing left to do here.
failed = Payment failed
failed-insufficient-funds = There is not enough money on this card or account.
failed-expired-card = Your bank says that this card has expired.
failed-incorrect-code = The security code is wrong. Check it on your card.
failed-incorrect-number = The card number is wrong. Check it on your card.
failed-not-confirmed = Your bank could not confirm that it is you.
failed-unavailable = This payment cannot be made at the moment.
failed-declined = Your bank declined this payment.
failed-canceled = You cancelled this payment. Nothing was charged.
failed-timed-out = There was no confirmation in time. Nothing was charged.
try-again = Try again, or choose another way to pay.
expired = This checkout has expired
expired-text = Nothing was charged here. Go back to the shop to order again.
no-more-attempts = No further attempt is possible here, and nothing was charged. Go back to the shop to order again.
suspended = Payments are not possible at the moment
suspended-text = Please ask the shop how you can pay.
unknown = Page not found
unknown-text = Check the address, or go back to the shop.

## Troubles of the connection

connection-lost = The connection is lost. Trying again…
not-reached = The payment could not be sent. Try again: you never pay twice.
too-many = Too many attempts. Trying again in a moment…

## The form in a frame

payment-form = Payment form
continue = Continue
