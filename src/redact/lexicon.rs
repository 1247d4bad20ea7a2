//! Words that say what a number, a code or an address beside them is, in the languages that messages come in: the only table
//! of them. Names of fields have tables of their own ([`keys`](super::keys)).

use std::sync::LazyLock;

use super::step_counter;

/// What a word or phrase says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sense {
    /// A code that is good once, by itself.
    Once,
    /// A code of whatever kind.
    Code,
    /// Beside a code: it proves who somebody is.
    Proof,
    /// Beside a code: it is of an offer, a place, a parcel, a fault.
    Other,
    /// It is the reader's, or the one that follows.
    Yours,
    /// Asks to type or use it.
    Use,
    /// What is done with it, or with an address: to log in, confirm, reset, join, leave.
    Act,
    /// The key of an authenticator.
    Seed,
    /// Codes for when a device is lost.
    Recovery,
    /// That nobody else may know it.
    Keep,
    /// Words that restore a wallet.
    Phrase,
    /// A password or a login.
    Password,
    /// Between a name and what it names.
    Is,
}

/// `|` separates; a `*` ends a stem.
const WORDS: &[(Sense, &str)] = &[
    (
        Sense::Once,
        "verification code*|one-time code*|one time code*|one-time pass*|one time pass*|onetime pass*|single-use code*|passcode*|otp|totp code|\
        login code*|sign-in code*|sign in code*|signin code*|security code*|access code*|authentication code*|confirmation pin|2fa code*|sms code*|\
        pairing code*|device code*|activation code*|verification number|release code*|unlock code*|puk|puk1|puk2|puk code*|\
        your pin|card pin|sim pin|unlock pin|new pin|pin is|deine pin|ihre pin|neue pin|votre code pin|code pin|tu pin|su pin|código pin|seu pin|tuo pin|codice pin|je pincode|pincode|din pin|kod pin|пин-код|пин код|\
        door code*|gate code*|entry code*|entrance code*|building code|locker code*|lockbox code*|lock box code*|key safe code*|keysafe code*|key box code*|alarm code*|keypad code*|on the keypad|into the keypad|\
        türcode*|torcode*|haustürcode*|tresorcode*|schließfachcode*|alarmcode*|code de la porte|code porte|digicode|code d'entrée|código de la puerta|código da porta|código del portal|codice porta|codice del portone|deurcode*|portkod*|dørkode*|kod do drzwi|kod do bramy|код двери|код домофона|код от двери|\
        freigabecode*|freigabe-code*|entsperrcode*|bestätigungscode*|sicherheitscode*|verifizierungscode*|einmalcode*|einmalpasswort*|einmalkennwort*|anmeldecode*|zugangscode*|freischaltcode*|\
        aktivierungscode*|prüfcode*|authentifizierungscode*|kopplungscode*|sms-code*|tan|mtan|smstan|\
        code de vérification|code de confirmation|code de sécurité|code de connexion|code d'accès|code d’accès|code à usage unique|mot de passe à usage unique|\
        code d'authentification|code d’authentification|code d'activation|code d’activation|\
        código de verificación|código de verificação|código de confirmación|código de confirmação|código de acceso|código de acesso|código de seguridad|\
        código de segurança|código de un solo uso|clave dinámica|clave temporal|clave|código de uso único|código de autenticación|código de autenticação|clave de un solo uso|\
        codice di verifica|codice di conferma|codice di sicurezza|codice di accesso|codice monouso|codice otp|password monouso|codice temporaneo|\
        verificatiecode*|bevestigingscode*|beveiligingscode*|inlogcode*|eenmalige code*|toegangscode*|eenmalig wachtwoord|\
        verifieringskod*|bekräftelsekod*|säkerhetskod*|engångskod*|engångslösen*|inloggningskod*|verifikationskod*|\
        bekreftelseskod*|bekræftelseskod*|sikkerhetskod*|sikkerhedskod*|engangskod*|innloggingskod*|bekreftelseskode*|\
        vahvistuskoodi*|varmistuskoodi*|kertakäyttökoodi*|kertakäyttöi*|turvakoodi*|kirjautumiskoodi*|\
        kod weryfikacyjny|kod jednorazowy|kod potwierdzający|kod bezpieczeństwa|kodu weryfikacyjnego|hasło jednorazowe|kod dostępu|kod logowania|\
        ověřovací kód|jednorázový kód|potvrzovací kód|bezpečnostní kód|overovací kód|jednorazový kód|potvrdzovací kód|přihlašovací kód|\
        ellenőrző kód*|hitelesítő kód*|egyszer használatos|megerősítő kód*|belépési kód*|biztonsági kód*|\
        cod de verificare|codul de verificare|cod de confirmare|codul de confirmare|codul de securitate|cod unic|codul unic|\
        kod za potvrdu|kôd za potvrdu|verifikacijski kod|kontrolni kod|potrditvena koda|enkratna koda|kod za verifikaciju|jednokratni kod|\
        код подтверждения|код проверки|код для входа|одноразовый код|одноразовый пароль|проверочный код|код безопасности|код доступа|код авторизации|\
        код підтвердження|код перевірки|одноразовий код|код для входу|одноразовий пароль|код за потвърждение|еднократен код|код за потврду|\
        κωδικός επαλήθευσης|κωδικός επιβεβαίωσης|κωδικός μίας χρήσης|κωδικός ασφαλείας|κωδικό επαλήθευσης|\
        doğrulama kod*|onay kod*|güvenlik kod*|tek kullanımlık|giriş kod*|onaylama kod*|\
        验证码|校验码|动态密码|一次性密码|动态码|确认码|验证代码|登录码|驗證碼|確認碼|一次性密碼|動態密碼|\
        認証コード|確認コード|検証コード|ワンタイムパスワード|ワンタイムコード|セキュリティコード|ログインコード|認証番号|確認番号|暗証コード|\
        인증번호|인증 번호|인증코드|인증 코드|확인 코드|확인코드|보안 코드|일회용 비밀번호|로그인 코드|\
        رمز التحقق|رمز التأكيد|كود التحقق|رمز الدخول|رمز الأمان|كلمة المرور لمرة واحدة|رمز التفعيل|کد تأیید|کد تایید|رمز یکبار|\
        קוד אימות|קוד האימות|קוד חד פעמי|קוד חד-פעמי|קוד הכניסה|קוד אישור|\
        सत्यापन कोड|ओटीपी|वेरिफिकेशन कोड|যাচাইকরণ কোড|ওটিপি|รหัสยืนยัน|รหัส otp|รหัสผ่านครั้งเดียว|รหัสความปลอดภัย|\
        mã xác nhận|mã xác minh|mã otp|mã xác thực|kode verifikasi|kode konfirmasi|kode otp|kode keamanan|kod pengesahan|",
    ),
    (
        Sense::Code,
        "code|codes|pin|pin-code|kod|kodu|kodun*|koda|kode|koden|kodun|kodunuz|kodas|kods|kód|kódot|kódja|koodi|koodisi|koodin|código|codigo|codice|cod|codul|\
        codi|kôd|код|кода|кодом|κωδικός|κωδικό|コード|代码|代碼|编码|코드|رمز|كود|کد|קוד|कोड|কোড|รหัส|mã|kodi|",
    ),
    (
        Sense::Proof,
        "verif*|verify|verification|one-time|one time|single-use|temporary|security|login|log-in|sign-in|signin|authentic*|authoriz*|authoris*|confirmation|\
        access|pairing|locker*|lockbox|keypad|key safe|doorbell|gate|two-factor|2-step|two-step|2fa|mfa|otp|sms|bestätig*|verifizier*|anmeld*|einmal*|sicherheits*|vérif*|confirmation|connexion|sécurité|\
        usage unique|accès|verificación|verificação|verificacion|verificacao|seguridad|segurança|acceso|acesso|confirmación|confirmação|único uso|un solo uso|uso único|\
        verifica|conferma|sicurezza|accesso|monouso|weryfik*|jednoraz*|potwierdz*|bezpieczeń*|logowan*|dostępu|ověř*|overov*|jednoráz*|potvrz*|potvrd*|\
        ellenőrző|hitelesít*|megerősít*|egyszeri|подтвержд*|проверк*|одноразов*|безопасност*|авториз*|входа|підтвердж*|перевірк*|входу|потвърж*|\
        επαλήθευσης|επιβεβαίωσης|ασφαλείας|doğrulama|onay|güvenlik|giriş|bevestig*|verificatie*|eenmalig*|beveilig*|inlog*|bekräft*|verifier*|engångs*|inlogg*|\
        bekreft*|bekræft*|engangs*|innlogg*|vahvist*|kirjaut*|kertakäyttö*|认证|验证|認証|確認|인증|확인|التحقق|التأكيد|אימות|सत्यापन|ยืนยัน|xác nhận|xác minh|xác thực|verifikasi|konfirmasi|",
    ),
    (
        Sense::Other,
        "promo*|discount*|coupon*|voucher*|gift*|offer*|sale|saving*|off|checkout|zip|postal|post|postcode|area|country|region|dial*|airport|currency|language|\
        error|exit|status|response|http|fault|reason|product|item|article|part|model|sku|order|booking|reservation|tracking|shipment|parcel|invoice|reference|\
        customer|source|qr|bar|color|colour|dress|morse|tax|sort|swift|bank|branch|course|class|building|room|stock|ticker|icd|cpt|hs|diagnos*|game|cheat|referral|affiliate|\
        rabatt*|gutschein*|aktions*|postleit*|plz|vorwahl|fehler*|länder*|artikel*|produkt*|bestell*|buchungs*|sendungs*|kunden*|\
        promotion*|réduction|remise|erreur|produit|commande|pays|postal*|descuento|cupón|promocional|producto|pedido|reserva|país|error|desconto|cupom|produto|\
        sconto|prodotto|ordine|errore|paese|prenotazione|korting*|bestelling*|land*|fout*|rabatow*|produktu|zamówien*|błąd|błędu|pocztow*|slevov*|poštovní|chyb*|objednáv*|\
        kedvezmény*|irányító*|termék*|rendelés*|скидк*|промо*|индекс*|почтов*|ошибк*|товар*|заказ*|страны|знижк*|помилк*|замовлен*|indirim*|posta|hata|ürün|sipariş*|\
        优惠*|折扣*|邮政*|邮编|错误*|订单*|商品*|産品*|割引*|クーポン*|郵便*|エラー*|注文*|商品*|할인*|쿠폰*|우편*|오류*|주문*|",
    ),
    (
        Sense::Yours,
        "your|this|the following|following|here is|here's|dein|deine|deinen|deinem|ihr|ihre|ihren|ihrem|dieser|diesen|dieses|folgenden|folgender|hier ist|votre|ton|ce code|voici|suivant|\
        tu|su|este|siguiente|seu|sua|teu|este|seguinte|tuo|suo|questo|seguente|je|jouw|uw|deze|volgende|din|ditt|denna|följande|dit|følgende|sinun|tämä|\
        twój|twoj|ten|następujący|oto|váš|tvůj|vaš|tvoj|vas|tento|az ön|ez a|codul tău|tău|dvs|acest|ваш|твой|этот|следующий|ваш|твій|цей|вашият|σας|σου|αυτόν|\
        kodunuz|bu|您的|你的|您的|以下|此|あなたの|次の|以下の|この|귀하의|회원님의|아래|다음|الخاص بك|هذا|שלך|הבא|आपका|ของคุณ|của bạn|anda|",
    ),
    (
        Sense::Use,
        "use|enter|open it with|opens with|öffnet mit|type|type in|input|insert|provide|submit|with|gib|geben sie|eingeben|verwende*|nutze*|tippe*|saisissez|saisir|entrez|utilisez|tapez|introduce|introduzca|\
        ingrese|ingresa|usa|use|utilice|utiliza|digite|insira|introduza|utilize|inserisci|inserire|digita|usa|voer|gebruik*|ange|använd|skriv|indtast|brug|bruk|oppgi|angi|\
        syötä|käytä|wpisz|wprowadź|podaj|użyj|zadejte|zadajte|použijte|použite|írja be|adja meg|használja|introduceți|introduceţi|folosiți|utilizați|unesite|upišite|vnesite|\
        введите|используйте|укажите|введіть|використайте|въведете|εισαγάγετε|πληκτρολογήστε|χρησιμοποιήστε|girin|kullanın|giriniz|输入|使用|輸入|入力|使って|입력|사용|أدخل|استخدم|הזן|הקלד|दर्ज|กรอก|ป้อน|nhập|masukkan|gunakan|",
    ),
    (
        Sense::Act,
        "sign in|sign you in|signing in|sign-in|log in|log you in|logging in|log-in|login|verify|confirm*|activate|reset|set a new password|choose a new password|new password|recover*|\
        activat*|approve|personal link|complete your registration|finish your registration|set up your account|get access|join|invit*|accept|unsubscribe|opt out|magic link|one-click|private link|secret link|\
        anmelde*|einloggen|anzumelden|freigabe|persönlichen link|persönlicher link|freischalt*|freizuschalt*|deinem zugang|ihrem zugang|dein zugang|ihr zugang|registrierung|bestätig*|verifizier*|zurücksetz*|zurückzusetz*|neues passwort|einlad*|beitreten|abmelde*|abbestell*|aktivier*|\
        connexion|connecter|connectez|vérifi*|confirm*|réinitialis*|activez|activation|inscription|nouveau mot de passe|rejoindre|désabonn*|désinscri*|activer|\
        iniciar sesión|inicia sesión|entrar|verificar|restablec*|activar|activa tu|registro|nueva contraseña|unirse|únete|cancelar la suscripción|darse de baja|acceder|continuar|\
        iniciar sessão|fazer login|redefinir|nova senha|convite|convid*|cancelar inscrição|\
        accedi|accedere|verifica*|reimposta*|nuova password|invit*|unisciti|disiscriv*|annulla iscrizione|\
        inloggen|aanmelden|bevestig*|herstel*|opnieuw instell*|nieuw wachtwoord|uitnodig*|deelnemen|afmelden|uitschrijven|\
        logga in|bekräfta|återställ*|nytt lösenord|bjud*|inbjud*|avregistrera|avsluta prenumeration|log ind|logg inn|bekræft*|bekreft*|nulstil*|tilbakestill*|invitert|inviteret|afmeld|meld av|avmeld*|\
        kirjaudu|vahvista|palauta|uusi salasana|kutsu*|liity|peruuta tilaus|\
        zaloguj|zalogow*|ustawi*|osobisty link|logowani*|aktywow*|aktywuj|rejestrac*|odzyska*|potwierd*|zresetuj|nowe hasło|zresetow*|zaprosz*|dołącz*|wypis*|\
        přihlá*|prihlá*|potvrd*|obnov*|nové heslo|pozván*|pozvan*|připojit|odhlás*|\
        bejelentkez*|megerősít*|visszaállít*|új jelszó|meghív*|csatlakoz*|leiratkoz*|\
        autentific*|conect*|confirm*|resetare|parolă nouă|invita*|alătur*|dezabon*|prijav*|poništ*|resetir*|nova lozinka|pozivnic*|pridruž*|odjav*|\
        войти|войдите|сменит*|смены пароля|личная ссылка|вход|входа|активир*|активац*|регистрац*|подтвержд*|подтверд*|сбро*|новый пароль|приглаш*|присоедин*|отпис*|восстанов*|увійти|підтверд*|скин*|запрош*|приєдн*|відпис*|\
        σύνδεση|συνδεθείτε|επιβεβαί*|επαναφορά|πρόσκληση|κατάργηση εγγραφής|giriş yap*|oturum aç*|doğrula*|onayla*|sıfırla*|davet*|katıl*|abonelikten|\
        登录|登入|登陆|确认|確認|验证|驗證|重置|重設|邀请|邀請|加入|退订|取消訂閱|ログイン|サインイン|再設定|リセット|招待|参加|配信停止|登録解除|\
        로그인|확인|재설정|초대|참여|수신 거부|구독 취소|تسجيل الدخول|تأكيد|إعادة تعيين|دعوة|انضم|إلغاء الاشتراك|התחבר*|אישור|איפוס|הזמנה|הצטרף|הסרה|\
        साइन इन|लॉग इन|पुष्टि|เข้าสู่ระบบ|ยืนยัน|รีเซ็ต|đăng nhập|xác nhận|đặt lại|mời|hủy đăng ký|masuk|konfirmasi|atur ulang|undang*|berhenti berlangganan|",
    ),
    (
        Sense::Seed,
        "authenticator|base32|zwei faktor*|von hand eintragen|manuell eingeben|manuell eintragen|zahl aus der app|code aus der app|authentication app|authy|totp|otpauth|2fa|two-factor|two factor|2-step|two-step|multi-factor|mfa|setup key|set-up key|secret key|manual entry|\
        enter this key|type this key|enter the key|scan|scanner|scannen|scannez|scansiona|escane*|authentifizierungs-app|authentifizierungsapp|authentificator|zwei-faktor*|zweifaktor*|einrichtungsschlüssel|geheimer schlüssel|\
        authentification|deux facteurs|double authentification|clé secrète|clé de configuration|dos factores|doble factor|autenticación|clave secreta|clave de configuración|\
        dois fatores|dois factores|autenticação|chave secreta|chave de configuração|due fattori|autenticazione|chiave segreta|chiave di configurazione|tweestaps*|twee-factor*|tweefactor*|geheime sleutel|installatiesleutel|\
        tvåfaktor*|tvåstegs*|tofaktor*|totrinns*|to-faktor*|kaksivaihei*|todennussovellu*|dwuskładnikow*|dwuetapow*|uwierzytelni*|klucz konfiguracji|tajny klucz|zeskanuj|dvoufáz*|dvoufaktor*|dvojfaktor*|ověřovací aplikac*|tajný klíč|naskenujte|\
        kétlépcsős|kétfaktor*|hitelesítő alkalmazás|titkos kulcs|doi factori|scanați|двухфактор*|аутентификатор*|секретный ключ|отсканируйте|двофактор*|автентифікатор*|секретний ключ|ключ настройки|\
        δύο παραγόντων|επαλήθευσης ταυτότητας|iki faktör*|iki adım*|kimlik doğrula*|gizli anahtar|kurulum anahtar*|两步验证|双重验证|身份验证器|密钥|扫描|二维码|兩步驟驗證|金鑰|掃描|2段階認証|二段階認証|認証アプリ|セットアップキー|秘密鍵|シークレットキー|スキャン|\
        2단계 인증|인증 앱|설정 키|비밀 키|스캔|المصادقة|مفتاح سري|المفتاح السري|امسح|אימות דו|מפתח סודי|סרוק|xác thực hai|khóa bí mật|autentikasi|kunci rahasia|pindai|",
    ),
    (
        Sense::Recovery,
        "recovery code*|backup code*|back-up code*|scratch code*|emergency code*|rescue code*|recovery key*|restore code*|single-use backup*|\
        wiederherstellungscode*|wiederherstellungsschlüssel*|backup-code*|backupcode*|notfallcode*|ersatzcode*|sicherungscode*|reservecode*|einmalcodes|\
        codes de récupération|codes de secours|code de récupération|code de secours|clé de récupération|clés de récupération|códigos de recuperación|códigos de respaldo|código de recuperación|código de respaldo|códigos de seguridad|códigos de emergencia|clave de recuperación|\
        códigos de recuperação|código de recuperação|códigos de reserva|códigos de backup|códigos de segurança|codici di recupero|codici di backup|codice di recupero|codici di emergenza|codici di riserva|\
        herstelcode*|back-upcode*|noodcode*|återställningskod*|reservkod*|säkerhetskoder|gjenopprettingskod*|reservekod*|gendannelseskod*|nødkod*|sikkerhetskopikod*|palautuskoodi*|varakoodi*|varmuuskoodi*|\
        kody zapasowe|kody odzyskiwania|kody awaryjne|kod odzyskiwania|záložní kód*|obnovovací kód*|kódy pro obnovení|záložné kódy|nouzové kódy|helyreállítási kód*|tartalék kód*|biztonsági kódok|coduri de recuperare|coduri de rezervă|coduri de backup|kodovi za oporavak|rezervni kodovi|sigurnosni kodovi|obnovitvene kode|rezervne kode|\
        резервные коды|коды восстановления|код восстановления|запасные коды|аварийные коды|резервні коди|коди відновлення|резервни кодове|κωδικοί ανάκτησης|εφεδρικοί κωδικοί|κωδικοί ασφαλείας|kurtarma kod*|yedek kod*|\
        恢复代码|恢复码|备用代码|备用验证码|备份码|復原碼|備用碼|備份碼|リカバリーコード|バックアップコード|復旧コード|回復コード|予備コード|복구 코드|백업 코드|복구코드|رموز الاسترداد|رموز الاحتياطية|الرموز الاحتياطية|רموز|קודי שחזור|קודי גיבוי|mã khôi phục|mã dự phòng|kode pemulihan|kode cadangan|รหัสสำรอง|รหัสกู้คืน|",
    ),
    (
        Sense::Keep,
        "do not share|don't share|don’t share|never share|do not disclose|do not forward|do not give|nicht weiter*|nicht teilen|niemals teilen|no compart*|no lo compart*|não compartilh*|\
        não partilh*|ne partagez|ne communiquez|ne jamais partager|non condivider*|deel deze*|deel dit|dela inte|del ikke|nie udostępniaj|nie podawaj|nikomu|nesdílejte|nezdieľajte|никому|не сообщайте|не передавайте|не повідомляйте|\
        paylaşmayın|请勿|切勿|勿泄露|勿告知|勿告訴|請勿|共有しない|教えない|他人に|알려주지|공유하지|لا تشارك|אל תשתף|jangan bagikan|không chia sẻ|",
    ),
    (
        Sense::Phrase,
        "recovery phrase|seed phrase|mnemonic phrase|mnemonic|secret phrase|backup phrase|wallet phrase|secret recovery|wiederherstellungsphrase|seed-phrase|\
        phrase de récupération|phrase secrète|frase de recuperación|frase semilla|frase de recuperação|frase semente|frase di recupero|herstelzin|herstelfrase|återställningsfras|fraza odzyskiwania|сид-фраза|фраза восстановления|секретная фраза|助记词|リカバリーフレーズ|시드 문구|복구 문구|",
    ),
    (
        Sense::Password,
        "password|passwords|log in as|login as|log in with|sign in as|sign in with|anmelden mit|anmelden als|pw|pwd|creds|wifi key|wi-fi key|wlan key|wpa key|network key|wifi pass|wi-fi pass|wifi|wi-fi|wlan-schlüssel|wlan-passwort|wlan|clé wifi|clave wifi|passwd|passphrase|pass phrase|passord*|lösenord*|salasana*|adgangskode*|wachtwoord*|passwort*|kennwort*|contraseña*|hasł*|hesl*|jelsz*|lozink*|парол*|şifre*|login|logins|credential|credentials|passwort|kennwort|zugangsdaten|passwörter|mot de passe|identifiants|contraseña|clave de acceso|credenciales|senha|palavra-passe|\
        password di|parola d'ordine|credenziali|wachtwoord|lösenord|adgangskode|kodeord|passord|salasana|hasło|hasla|heslo|jelszó|jelszava|parola|parolă|lozinka|geslo|šifra|пароль|пароля|парола|κωδικός πρόσβασης|κωδικό πρόσβασης|συνθηματικό|şifre|parolası|şifresi|şifreniz|\
        密码|口令|密碼|パスワード|비밀번호|암호|كلمة المرور|كلمة السر|رمز عبور|סיסמה|הסיסמה|पासवर्ड|পাসওয়ার্ড|รหัสผ่าน|mật khẩu|kata sandi|sandi|kata laluan|token|api key|api-key|apikey|secret|secret key|access key|api-schlüssel|clé api|clave api|chave api|chave de api|chiave api|api-sleutel|klucz api|ключ api|api 密钥|apiキー|",
    ),
    (
        Sense::Is,
        "is|are|was|now|lautet|ist|heißt|sind|est|sont|es|son|é|são|è|sono|jest|brzmi|to|je|sú|jsou|är|er|on|este|sunt|az|это|есть|це|е|είναι|является|是|为|為|は|です|는|은|هو|هي|הוא|היא|है|คือ|là|adalah|ialah|olarak|şu|",
    ),
];

/// Where a word stands, and what it says.
#[derive(Clone, Copy, Debug)]
pub struct WordHit {
    pub from: usize,
    pub to: usize,
    pub sense: Sense,
}

/// A phrase in lower case, what it says, and whether it may go on.
type Phrase = (&'static str, Sense, bool);

/// Phrases in the order of their bytes, and where those with the same first two begin.
struct Table {
    phrases: Vec<Phrase>,
    from: Vec<u16>,
}

impl Table {
    fn with(&self, first: u8, second: u8) -> &[Phrase] {
        let at = usize::from(first) << 8 | usize::from(second);
        &self.phrases[usize::from(self.from[at])..usize::from(self.from[at + 1])]
    }
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let of = |(sense, row): &'static (Sense, &'static str)| {
        row.split('|').map(str::trim).filter(|it| it.len() > 1).map(move |it| {
            let (text, stem) = it.strip_suffix('*').map_or((it, false), |it| (it, true));
            (text, *sense, stem)
        })
    };
    let mut phrases: Vec<Phrase> = WORDS.iter().flat_map(of).collect();
    phrases.sort_unstable_by_key(|it| it.0);
    let mut from = vec![0; (1 << 16) + 1];
    for it in &phrases {
        let [first, second] = [0, 1].map(|at| usize::from(it.0.as_bytes()[at]));
        from[(first << 8 | second) + 1] += 1;
    }
    let mut all = 0;
    for it in &mut from {
        all += *it;
        *it = all;
    }
    Table { phrases, from }
});

/// Letters that are written without spaces between words.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{e7f}' | '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}')
}

fn is_letter(c: char) -> bool {
    c == '_' || c.is_alphanumeric() && !is_unspaced(c)
}

/// In lower case, each character where it was.
fn lowered(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let mut lower = c.to_lowercase();
        match (lower.next(), lower.next()) {
            (Some(it), None) if it.len_utf8() == c.len_utf8() => out.push(it),
            _ => out.push(c),
        }
    }
    out
}

/// All words of the table in a text, in the order in which they begin.
pub fn senses(text: &str) -> Vec<WordHit> {
    let text = lowered(text);
    let bytes = text.as_bytes();
    let table = &*TABLE;
    let mut out = Vec::new();
    let mut is_word = false;
    let mut from = 0;
    step_counter::record_bytes(bytes.len());
    while from + 1 < bytes.len() {
        let (begins, len) = match bytes[from] {
            b if b.is_ascii_alphanumeric() || b == b'_' => {
                (!std::mem::replace(&mut is_word, true), 1)
            }
            b if b.is_ascii() => {
                is_word = false;
                (false, 1)
            }
            _ => {
                let c = text[from..].chars().next().unwrap_or(' ');
                let was = std::mem::replace(&mut is_word, is_letter(c));
                (c.is_alphanumeric() && (is_unspaced(c) || !was), c.len_utf8())
            }
        };
        if begins {
            for (phrase, sense, stem) in table.with(bytes[from], bytes[from + 1]) {
                step_counter::record_bytes(1);
                if !bytes[from..].starts_with(phrase.as_bytes()) {
                    continue;
                }
                let to = from + phrase.len();
                let goes_on = text[to..].chars().next().is_some_and(is_letter)
                    && phrase.chars().next_back().is_some_and(is_letter);
                if *stem || !goes_on {
                    out.push(WordHit { from, to, sense: *sense });
                }
            }
        }
        from += len;
    }
    out
}

/// Parts of a path after which something stands that is good for its bearer: to log in, to reset, to join, to confirm, to leave.
pub fn is_grant(segment: &str) -> bool {
    const PARTS: &str = "signin login logon reset verify verification confirm confirmation activate activation invite invitation invites join magic magiclink \
        unsubscribe recover recovery passwordless password setpassword forgot forgotten passwort kennwort wachtwoord mdp motdepasse contrasena contraseña senha haslo hasło heslo losenord lösenord parol parole onetime onboard signup claim optout optin approve accept \
        anmelden anmeldung bestaetigen bestätigen bestaetigung bestätigung zuruecksetzen zurücksetzen einladung einladen beitreten abmelden abmeldung abbestellen aktivieren freischalten passwortreset \
        connexion connecter verifier vérifier confirmer reinitialiser réinitialiser reinitialisation réinitialisation invitation rejoindre desabonner désabonner desinscription désinscription activer \
        ingresar iniciar entrar acceso acceder verificar confirmar restablecer invitacion invitación unirse baja cancelar activar redefinir convite convidar desinscrever desinscrição recuperar \
        accedi accesso conferma verifica reimposta ripristina invito partecipa disiscrizione disiscriviti attiva aanmelden inloggen bevestigen bevestig herstel herstellen uitnodiging deelnemen afmelden uitschrijven activeren \
        logga bekrafta bekräfta aterstall återställ inbjudan avregistrera aktivera bekraeft bekræft bekreft nulstil tilbakestill indbydelse invitasjon afmeld avmeld kirjaudu vahvista palauta kutsu liity \
        zaloguj logowanie potwierdz potwierdź resetuj zaproszenie dolacz dołącz wypisz aktywuj prihlasit přihlásit potvrdit obnova pozvanka pozvánka odhlasit odhlásit \
        belepes belépés megerosites megerősítés visszaallitas visszaállítás meghivo meghívó leiratkozas leiratkozás autentificare confirmare resetare invitatie invitație dezabonare prijava potvrda pozivnica odjava \
        vhod voyti vojti podtverdit sbros priglashenie otpiska giris giriş dogrula doğrula sifirla sıfırla davet katil katıl ayril \
        登录 确认 重置 邀请 退订 ログイン 確認 招待 로그인 초대 dang-nhap xac-nhan";
    static ALL: LazyLock<std::collections::BTreeSet<&str>> =
        LazyLock::new(|| PARTS.split_ascii_whitespace().collect());
    if segment.len() > 40 {
        return false;
    }
    let lower = segment.to_lowercase();
    lower.split(['-', '_', '.', '+']).any(|it| ALL.contains(it)) || ALL.contains(lower.as_str())
}
