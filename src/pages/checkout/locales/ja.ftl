## Every state

pay-merchant = { $merchant } へのお支払い
checkout = お支払い
sandbox = サンドボックス
sandbox-title = 実際のお金は動きません
order = ご注文内容
return-to = { $merchant } に戻る
language = 言語
change-language = 変更

## The choice

choose = お支払い方法を選択
payment-method = お支払い方法
no-method = 現在ご利用いただけるお支払い方法がありません。
card = カード
installment = 分割払い
promptpay = PromptPay QR
mobile-banking = モバイルバンキング
promptpay-hint = QR コードが表示されます。銀行のアプリで読み取ってください。
mobile-banking-hint = 銀行でお支払いを確認した後、このページに戻ります。
saved-card = { $scheme } 下4桁 { $digits }、有効期限 { $expiry }
card-number = カード番号
expiry-date = 有効期限
expiry-form = 月/年
security-code = セキュリティコード
name-on-card = カード名義人
save-card = 次回のためにこのカードを保存する
installment-plan = 分割払いプラン
plan-interest = 利息は月 { $rate }% です。
plan-monthly = 毎月のお支払いは { $amount } です。
plan-total = お支払い総額は { $amount } です。
pay-amount = { $amount } を支払う
cards-need-script = 新しいカードでのお支払いには JavaScript が必要です。有効にして再読み込みするか、別のお支払い方法を選択してください。

## Faults of fields

number-missing = カード番号を入力してください
number-wrong = カード番号を確認してください
expiry-wrong = 有効期限を確認してください
card-expired = このカードは有効期限が切れています
code-missing = セキュリティコードを入力してください
code-of-four = カード表面にある4桁のセキュリティコードを入力してください
name-missing = カード名義人を入力してください

## A payment in progress

processing = お支払いを処理しています
processing-text = 通常は数秒で完了します。このページは自動的に進みます。
confirm = 銀行での確認
confirm-text = 銀行がこのお支払いの確認を求めています。確認後、このページに戻ります。
continue-to-bank = 銀行のページへ進む
another-way = 別の方法で支払う
scan = スキャンして支払う
scan-text = 銀行のアプリで読み取ってお支払いください
qr-image = PromptPay の QR コード
save-qr = QR コードを保存
qr-text = QR コードの文字列
copy-qr = QR コードの文字列をコピー
copied = コピーしました
time-left = 残り時間
open-wallet = サンドボックスのウォレットを開く

## The end

successful = お支払いが完了しました
going-back = ありがとうございます。{ $merchant } に戻ります。
already-paid = お支払いは済んでいます。この後の操作は必要ありません。
failed = お支払いができませんでした
failed-insufficient-funds = このカードまたは口座の残高が不足しています。
failed-expired-card = このカードは有効期限が切れていると銀行から連絡がありました。
failed-incorrect-code = セキュリティコードが正しくありません。カードをご確認ください。
failed-incorrect-number = カード番号が正しくありません。カードをご確認ください。
failed-not-confirmed = ご本人であることを銀行が確認できませんでした。
failed-unavailable = 現在このお支払いを行うことができません。
failed-declined = 銀行がこのお支払いを承認しませんでした。
failed-canceled = お支払いをキャンセルしました。請求は発生していません。
failed-timed-out = 時間内に確認されませんでした。請求は発生していません。
try-again = もう一度お試しいただくか、別のお支払い方法を選択してください。
expired = このお支払いページは有効期限が切れています
expired-text = 請求は発生していません。ショップに戻ってもう一度ご注文ください。
no-more-attempts = このページではこれ以上お試しいただけません。請求は発生していません。ショップに戻ってもう一度ご注文ください。
suspended = 現在お支払いをご利用いただけません
suspended-text = お支払い方法についてはショップにお問い合わせください。
unknown = ページが見つかりません
unknown-text = アドレスを確認するか、ショップに戻ってください。

## Troubles of the connection

connection-lost = 接続が切れました。再試行しています…
not-reached = お支払いを送信できませんでした。もう一度お試しください。二重に請求されることはありません。
too-many = 試行回数が多すぎます。しばらくして再試行します…

## The form in a frame

payment-form = お支払いフォーム
continue = 続ける
