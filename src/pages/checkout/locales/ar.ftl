## Every state

pay-merchant = ادفع إلى { $merchant }
checkout = الدفع
sandbox = وضع الاختبار
sandbox-title = لا تتحرك أي أموال حقيقية
order = طلبك
return-to = العودة إلى { $merchant }
language = اللغة
change-language = تغيير

## The choice

choose = اختر طريقة الدفع
payment-method = طريقة الدفع
no-method = لا تتوفر أي طريقة دفع في الوقت الحالي.
card = بطاقة
installment = أقساط
promptpay = رمز PromptPay
mobile-banking = الخدمات المصرفية عبر الجوال
promptpay-hint = يظهر رمز QR لتمسحه بتطبيق البنك.
mobile-banking-hint = تؤكد الدفع لدى بنكك ثم تعود إلى هنا.
saved-card = { $scheme } تنتهي بالأرقام { $digits }، صالحة حتى { $expiry }
card-number = رقم البطاقة
expiry-date = تاريخ الانتهاء
expiry-form = شهر/سنة
security-code = رمز الأمان
name-on-card = الاسم على البطاقة
save-card = احفظ هذه البطاقة للمرة القادمة
installment-plan = خطة التقسيط
plan-interest = الفائدة: { $rate }% شهريًا.
plan-monthly = تدفع { $amount } كل شهر.
plan-total = المجموع { $amount }.
pay-amount = ادفع { $amount }
cards-need-script = يتطلب الدفع ببطاقة جديدة تفعيل JavaScript. فعّله وأعد تحميل الصفحة، أو اختر طريقة دفع أخرى.

## Faults of fields

number-missing = أدخل رقم البطاقة
number-wrong = تحقق من رقم البطاقة
expiry-wrong = تحقق من تاريخ الانتهاء
card-expired = انتهت صلاحية هذه البطاقة
code-missing = أدخل رمز الأمان
code-of-four = أدخل رمز الأمان: أربعة أرقام على وجه البطاقة
name-missing = أدخل الاسم الموجود على البطاقة

## A payment in progress

processing = جارٍ معالجة الدفع
processing-text = يستغرق ذلك عادة بضع ثوانٍ. تنتقل الصفحة تلقائيًا.
confirm = أكّد لدى بنكك
confirm-text = يطلب منك بنكك تأكيد هذه الدفعة، ثم تعود إلى هنا.
continue-to-bank = المتابعة إلى بنكك
another-way = ادفع بطريقة أخرى
scan = امسح للدفع
scan-text = امسح الرمز بتطبيق البنك للدفع
qr-image = رمز PromptPay المربع
save-qr = احفظ رمز QR
qr-text = نص رمز QR
copy-qr = نسخ نص رمز QR
copied = تم النسخ
time-left = الوقت المتبقي
open-wallet = افتح محفظة الاختبار

## The end

successful = تم الدفع بنجاح
going-back = شكرًا لك. ستعود الآن إلى { $merchant }.
already-paid = تم الدفع، ولا يلزم أي إجراء آخر هنا.
failed = فشل الدفع
failed-insufficient-funds = الرصيد في هذه البطاقة أو الحساب غير كافٍ.
failed-expired-card = يفيد بنكك بأن صلاحية هذه البطاقة قد انتهت.
failed-incorrect-code = رمز الأمان غير صحيح. تحقق منه على بطاقتك.
failed-incorrect-number = رقم البطاقة غير صحيح. تحقق منه على بطاقتك.
failed-not-confirmed = لم يتمكن بنكك من التأكد من هويتك.
failed-unavailable = لا يمكن إتمام هذه الدفعة في الوقت الحالي.
failed-declined = رفض بنكك هذه الدفعة.
failed-canceled = لقد ألغيت هذه الدفعة. لم يُخصم أي مبلغ.
failed-timed-out = لم يصل التأكيد في الوقت المحدد. لم يُخصم أي مبلغ.
try-again = حاول مرة أخرى أو اختر طريقة دفع أخرى.
expired = انتهت صلاحية صفحة الدفع هذه
expired-text = لم يُخصم أي مبلغ هنا. عد إلى المتجر للطلب مرة أخرى.
no-more-attempts = لا يمكن إجراء محاولة أخرى هنا، ولم يُخصم أي مبلغ. عد إلى المتجر للطلب مرة أخرى.
suspended = لا يمكن الدفع في الوقت الحالي
suspended-text = يُرجى سؤال المتجر عن كيفية الدفع.
unknown = الصفحة غير موجودة
unknown-text = تحقق من العنوان أو عد إلى المتجر.

## Troubles of the connection

connection-lost = انقطع الاتصال. جارٍ إعادة المحاولة…
not-reached = تعذر إرسال الدفعة. حاول مرة أخرى: لن تدفع مرتين أبدًا.
too-many = محاولات كثيرة جدًا. ستُعاد المحاولة بعد قليل…

## The form in a frame

payment-form = نموذج الدفع
continue = متابعة
