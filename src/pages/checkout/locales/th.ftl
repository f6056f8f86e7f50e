## Every state

pay-merchant = ชำระเงินให้ { $merchant }
checkout = ชำระเงิน
sandbox = โหมดทดสอบ
sandbox-title = ไม่มีการเคลื่อนไหวของเงินจริง
order = รายการสั่งซื้อของคุณ
return-to = กลับไปที่ { $merchant }
language = ภาษา
change-language = เปลี่ยน

## The choice

choose = เลือกวิธีชำระเงิน
payment-method = วิธีชำระเงิน
no-method = ขณะนี้ไม่มีวิธีชำระเงินที่ใช้ได้
card = บัตร
installment = ผ่อนชำระ
promptpay = พร้อมเพย์ QR
mobile-banking = โมบายแบงก์กิ้ง
promptpay-hint = ระบบจะแสดงคิวอาร์โค้ดให้คุณสแกนด้วยแอปธนาคาร
mobile-banking-hint = คุณยืนยันการชำระเงินกับธนาคาร แล้วกลับมาที่หน้านี้
saved-card = { $scheme } ลงท้ายด้วย { $digits } หมดอายุ { $expiry }
card-number = หมายเลขบัตร
expiry-date = วันหมดอายุ
expiry-form = ดด/ปป (ค.ศ.)
security-code = รหัสความปลอดภัย
name-on-card = ชื่อบนบัตร
save-card = บันทึกบัตรนี้ไว้ใช้ครั้งต่อไป
installment-plan = แผนการผ่อนชำระ
plan-interest = ดอกเบี้ย { $rate }% ต่อเดือน
plan-monthly = คุณจ่ายเดือนละ { $amount }
plan-total = รวมทั้งหมด { $amount }
pay-amount = ชำระ { $amount }
cards-need-script = การชำระด้วยบัตรใหม่ต้องใช้ JavaScript โปรดเปิดใช้งานแล้วโหลดหน้านี้ใหม่ หรือเลือกวิธีอื่น

## Faults of fields

number-missing = กรอกหมายเลขบัตร
number-wrong = ตรวจสอบหมายเลขบัตร
expiry-wrong = ตรวจสอบวันหมดอายุ
card-expired = บัตรนี้หมดอายุแล้ว
code-missing = กรอกรหัสความปลอดภัย
code-of-four = กรอกรหัสความปลอดภัย 4 หลักที่ด้านหน้าบัตร
name-missing = กรอกชื่อบนบัตร

## A payment in progress

processing = กำลังดำเนินการชำระเงินของคุณ
processing-text = โดยทั่วไปใช้เวลาไม่กี่วินาที หน้านี้จะดำเนินการต่อเอง
confirm = ยืนยันกับธนาคารของคุณ
confirm-text = ธนาคารของคุณขอให้ยืนยันการชำระเงินนี้ จากนั้นคุณจะกลับมาที่หน้านี้
continue-to-bank = ไปที่ธนาคารของคุณ
another-way = ชำระด้วยวิธีอื่น
scan = สแกนเพื่อชำระเงิน
scan-text = สแกนด้วยแอปธนาคารของคุณเพื่อชำระเงิน
qr-image = คิวอาร์โค้ดพร้อมเพย์
save-qr = บันทึกคิวอาร์โค้ด
qr-text = ข้อความของคิวอาร์โค้ด
copy-qr = คัดลอกข้อความของคิวอาร์โค้ด
copied = คัดลอกแล้ว
time-left = เวลาที่เหลือ
open-wallet = เปิดกระเป๋าเงินแซนด์บ็อกซ์

## The end

successful = ชำระเงินสำเร็จ
going-back = ขอบคุณ กำลังพาคุณกลับไปที่ { $merchant }
already-paid = ชำระเงินเรียบร้อยแล้ว คุณไม่ต้องดำเนินการใด ๆ อีก
failed = ชำระเงินไม่สำเร็จ
failed-insufficient-funds = ยอดเงินในบัตรหรือบัญชีนี้ไม่เพียงพอ
failed-expired-card = ธนาคารแจ้งว่าบัตรนี้หมดอายุแล้ว
failed-incorrect-code = รหัสความปลอดภัยไม่ถูกต้อง โปรดตรวจสอบบนบัตร
failed-incorrect-number = หมายเลขบัตรไม่ถูกต้อง โปรดตรวจสอบบนบัตร
failed-not-confirmed = ธนาคารของคุณไม่สามารถยืนยันได้ว่าเป็นคุณ
failed-unavailable = ไม่สามารถชำระรายการนี้ได้ในขณะนี้
failed-declined = ธนาคารของคุณปฏิเสธการชำระเงินนี้
failed-canceled = คุณยกเลิกการชำระเงินนี้ ไม่มีการเรียกเก็บเงิน
failed-timed-out = ไม่ได้รับการยืนยันภายในเวลาที่กำหนด ไม่มีการเรียกเก็บเงิน
try-again = โปรดลองอีกครั้ง หรือเลือกวิธีชำระเงินอื่น
expired = หน้าชำระเงินนี้หมดอายุแล้ว
expired-text = ไม่มีการเรียกเก็บเงินที่นี่ โปรดกลับไปที่ร้านค้าเพื่อสั่งซื้ออีกครั้ง
no-more-attempts = ไม่สามารถลองอีกครั้งที่หน้านี้ได้ และไม่มีการเรียกเก็บเงิน โปรดกลับไปที่ร้านค้าเพื่อสั่งซื้ออีกครั้ง
suspended = ขณะนี้ไม่สามารถชำระเงินได้
suspended-text = โปรดสอบถามร้านค้าเกี่ยวกับวิธีชำระเงิน
unknown = ไม่พบหน้านี้
unknown-text = โปรดตรวจสอบที่อยู่ หรือกลับไปที่ร้านค้า

## Troubles of the connection

connection-lost = การเชื่อมต่อขาดหาย กำลังลองใหม่…
not-reached = ไม่สามารถส่งการชำระเงินได้ โปรดลองอีกครั้ง คุณจะไม่ถูกเรียกเก็บเงินซ้ำ
too-many = มีการลองมากเกินไป จะลองใหม่ในอีกสักครู่…

## The form in a frame

payment-form = แบบฟอร์มชำระเงิน
continue = ดำเนินการต่อ
