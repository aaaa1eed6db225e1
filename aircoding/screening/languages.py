"""Phrases of overriding in languages written in Latin letters: a verb of ignoring near what is to be ignored.

They are written without marks on letters, as the normalised copy has them. Where the verb is also an English word, an
article of the language must follow it. Other scripts are in `scripts`.
"""

from __future__ import annotations

from aircoding.screening.rule_set import override_rule
from aircoding.screening.wording import GAP, any_of, near, phrase, words

__all__ = ["LATIN_RULES"]

_ASIDE = "asks to set earlier instructions aside"
_BETWEEN = 7
"""Most words between the verb and what is to be ignored."""

_VERB_FIRST = (  # language, verbs, articles that must follow them, what is to be ignored
    (
        "French",
        "ignore ignores ignorez ignorer oublie oublies oubliez oublier negligez neglige",
        "toutes? tous tout les tes vos mes ces la le l ce cette",
        r"instructions? consignes? regles? directives? ordres? commandes? invites? precedente?s? dessus avant precede",
    ),
    (
        "Spanish",
        (
            "ignora ignore ignorad ignoren ignorar olvida olvide olvidad olviden olvidate olvidar descarta descarte "
            "omite omita desatiende desobedece"
        ),
        "todas? todos? todo las los tus sus mis la el lo esas estas cualquier",
        (
            r"instrucci\w+ reglas? ordenes orden indicaci\w+ directric\w+ directriz anterior\w* previ[ao]s? arriba "
            "prompts? mensajes? normas?"
        ),
    ),
    (
        "Portuguese",
        "ignore ignora ignorem ignorar esqueca esquece esquecam esquecer desconsidere desconsidera descarte despreze",
        "todas? todos? tudo as os suas seus tuas teus minhas meus a o essas estas qualquer",
        r"instruc\w+ regras? ordens? ordem diretrizes? comandos? orientac\w+ anterior\w* acima previas? prompts? antes",
    ),
    (
        "Italian",
        (
            "ignora ignorate ignori ignorare dimentica dimenticate dimentichi dimenticare scorda trascura trascurate "
            "disattendi"
        ),
        "tutte tutti tutto le gli i tue tuoi mie miei la lo il l quanto cio quello ogni qualsiasi",
        r"istruzion\w+ regol\w+ ordin\w+ direttiv\w+ indicazion\w+ comand\w+ precedent\w+ prima sopra",
    ),
    (
        "Romanian",
        "ignora ignorati uita uitati",
        "toate tot instructiunile regulile orice ce",
        r"instructiun\w+ regul\w+ anterioar\w+ precedent\w+ sus comen\w+",
    ),
)
_ANY_ORDER = (  # language, verbs, what is to be ignored
    (
        "German",
        (
            "ignoriere ignorier ignorieren ignoriert vergiss vergesst vergessen missachte missachten missachtet "
            "verwirf verwerfe ubergehe"
        ),
        (
            r"anweisung\w* instruktion\w* befehl\w* regeln? vorgaben? richtlinien? prompts? obige\w* vorherig\w* "
            r"bisherig\w* "
            r"vorangegangen\w* vorstehend\w* fruhere\w*"
        ),
    ),
    (
        "Dutch",
        "negeer negeren vergeet vergeten",
        r"instructies? opdracht\w* regels aanwijzing\w* richtlijn\w* bovenstaand\w* vorige eerdere",
    ),
    (
        "Polish",
        "zignoruj ignoruj zignorowac zapomnij pomin",
        r"instrukcj\w+ polece\w+ zasad\w* regul\w* wytyczn\w+ poprzedni\w+ powyzsz\w+",
    ),
    (
        "Czech",
        "ignoruj ignorujte zapomen zapomente zabudni",
        r"instrukc\w+ pokyn\w* pravid\w+ prikaz\w* predchoz\w+ predchadz\w+",
    ),
    (
        "Nordic",
        "ignorera ignorer glom glem bortse tilsidesaet asidosatt",
        r"instruktion\w* instruks\w* regler\w* anvisning\w* tidigare tidligere foregaende foregaaende ovan\w* ovenfor",
    ),
    (
        "Turkish",
        r"yoksay yok gormezden ardi unut dikkate bosver umursama",
        r"talimat\w* kural\w* yonerge\w* komut\w* onceki\w* yukaridaki\w*",
    ),
    (
        "Indonesian",
        "abaikan lupakan hiraukan kesampingkan endahkan",
        r"instruksi\w* arahan\w* perintah\w* aturan\w* petunjuk\w* peraturan\w* sebelum\w* atas diatas tadi prompt",
    ),
    (
        "Tagalog",
        "pansinin balewalain kalimutan isantabi",
        r"tagubilin utos panuntunan instruksyon\w* nauna\w* itaas alituntunin sinabi",
    ),
    (
        "Vietnamese",
        "qua quen lo",
        r"huong+dan chi+thi menh+lenh quy+tac chi+dan truoc+do o+tren ben+tren yeu+cau+truoc",
    ),
    ("Hungarian", "hagyd hagyja felejtsd felejtse", r"utasitas\w* szabaly\w* elozo\w* korabbi\w*"),
    ("Finnish", "unohda ohita jata", r"ohje\w* saanno\w* aiem\w* edellis\w*"),
)
_PARTS = {  # what a verb of two words is completed by, so that its first word alone says nothing
    "ardi": phrase("goz ardi"),
    "dikkate": phrase("dikkate alma"),
    "felejtsd": phrase("felejtsd el"),
    "felejtse": phrase("felejtse el"),
    "gormezden": phrase("gormezden gel"),
    "hagyd": phrase("hagyd figyelmen"),
    "hagyja": phrase("hagyja figyelmen"),
    "jata": phrase("jata huomiotta"),
    "lo": phrase("phot lo"),
    "pansinin": phrase("huwag pansinin"),
    "qua": phrase("bo qua"),
    "yok": phrase("yok say"),
}

_PASSWORD = any_of(
    r"passwort\w* kennwort\w* zugangsdaten geheimschlussel mot+de+passe mots+de+passe cle+secrete identifiants "
    r"contrasena\w* "
    "clave+secreta credenciales senhas? chave+secreta credenciais parola+d.ordine chiave+segreta credenziali "
    r"wachtwoord\w* "
    r"haslo hasla sifre\w* parola\w* kata+sandi\w* sandi mat+khau password\w* susi passwords?"
)
_LOGIN_WORDS = (
    "passwort passworter passworts kennwort zugangsdaten passe secrete identifiants contrasena contrasenas clave "
    "credenciales senha senhas chave "
    "credenciais parola parole chiave credenziali wachtwoord wachtwoorden haslo hasla sifre sifresi sifresini "
    "sifreni sifrenizi sifreniz sifreyi sifren "
    "parolayi parolani sandi sandimu sandinya khau password passwords susi"
)
_TELL = any_of(
    "sag nenne nenn verrate verrat gib+mir gib+uns geben+sie+mir teile teil zeig dites dis donnez donne revelez "
    "revele partagez partage "
    "communiquez "
    "dirmi dire dizer-me sagen decirme dime digame dame deme revela revele comparte comparta muestrame "
    "diga-me me+diga diga compartilhe compartilha forneca dimmi mi+dica "
    r"dica condividi condividere condivida partager compartir compartilhar teilen paylasa\w* rivela "
    r"rivelami fornisci soyle\w* ver verin paylas beri+tahu beritahu berikan katakan bagikan cho+toi "
    "cho+biet noi tiet+lo ibigay ibahagi sabihin zeg geef+me geef+mij powiedz zdradz "
    ""
)
_USER = any_of(
    r"utente utilisateur benutzer\w* nutzer\w* usuari[oa] kullanici\w* pengguna gumagamit nguoi+dung gebruiker\w*"
)
_PERSONAL = any_of(
    r"e-?mail\w* e-posta\w* adress?e?\w* indirizzo direccion endereco alamat\w* dia+chi \w*geburt\w* naissance "
    "nacimiento nascimento nascita "
    r"dogum\w* lahir kelahiran kapanganakan sinh telefon\w* telephone telefone telepon wohn\w* lebt vive vit "
    r"habite mora reside abita yasa\w* tinggal "
    r"nakatira song namen? nome nom nombre adi\w* isim\w* nama pangalan ten citta ciudad ville stadt cidade "
    r"sehir\w* kota"
)
_ASKED = rf"(?:was|wie|quel|quelle|cual|qual|quale|apa|apakah|ano|wat|jakie|che)'?{GAP}{words(3)}"
_OUR_SYSTEM = any_of(
    r"unser\w*+system\w* notre+systeme nuestro+sistema nosso+sistema nostro+sistema sistem+(?:kita|kami) "
    r"sistemimiz\w* he+thong+cua+chung"
)
_POEM = any_of(r"haiku gedicht poeme? poema poesia acrosti\w* akrosti\w* siir\w* bai+tho pig+latin puisi tula")
_BIRTH = any_of(
    "geburtsdatum wohnort date+de+naissance ville+de+residence fecha+de+nacimiento data+de+nascimento "
    r"data+di+nascita dogum+tarih\w* tanggal+lahir "
    r"ngay+sinh petsa+ng+kapanganakan"
)


def _in_any_order(verbs: str, objects: str) -> str:
    forms = "|".join(_PARTS.get(verb, verb) for verb in verbs.split())
    return rf"\b{near(f'(?:{forms})', any_of(objects), _BETWEEN)}\b"


LATIN_RULES = (
    *(
        override_rule(
            "other_language",
            verbs,
            rf"\b{any_of(verbs)}{GAP}{any_of(articles)}{GAP}{words(_BETWEEN)}{any_of(objects)}\b",
            f"{_ASIDE}, in {language}",
        )
        for language, verbs, articles, objects in _VERB_FIRST
    ),
    override_rule(
        "other_language",
        " ".join(verbs for _, verbs, _ in _ANY_ORDER),
        _in_any_order(" ".join(verbs for _, verbs, _ in _ANY_ORDER), " ".join(objects for _, _, objects in _ANY_ORDER)),
        _ASIDE,
    ),
    override_rule(
        "other_language",
        "tiens tenez tenga tener abstraction caso kasaba keine",
        phrase(
            r"\b(?:ne (?:tiens|tenez) pas compte|(?:fais|faites) abstraction|(?:haz|haga) caso omiso|no (?:hagas|"
            "haga) caso|no (?:tengas|tenga) en cuenta|non tener conto|non tenere conto) "
        )
        + words(4)
        + any_of(r"instruc\w+ consigne\w* regles? reglas? istruzion\w+ precede\w* anterior\w* ordenes"),
        _ASIDE,
    ),
    override_rule(
        "other_language",
        "neue neuen nouvelles nuevas novas nuove",
        phrase(
            r"\b(?:neuen? anweisung(?:en)?|nouvelles? (?:instructions?|consignes?)|nuevas? (?:instrucciones|"
            r"ordenes)|novas? (?:instrucoes|ordens)|nuove istruzioni)\s*:"
        ),
        "claims that other instructions hold now",
    ),
    override_rule(
        "other_language",
        "sans sin sem senza ohne zonder tanpa",
        phrase(
            r"\b(?:sans|sin|sem|senza|ohne|zonder|tanpa) (?:aucune? |ninguna? |nenhuma? |alcuna? |jegliche "
            ")?(?:restriction|restriccion|restricao|restrizion|einschrank|einschraenk|limitation|limitacion|"
            r"limitac|filtre|filtro|filter|beschrank|beperking|batasan)\w*"
        ),
        "asks for an agent without limits",
    ),
    override_rule(
        "credential",
        _LOGIN_WORDS,
        rf"\b{_TELL}{GAP}{words(6)}{_PASSWORD}|{_PASSWORD}{GAP}{words(4)}{_TELL}\b|\b{_ASKED}{_PASSWORD}[^\n.!]*\?"
        rf"|{_PASSWORD}{GAP}{words(4)}(?:la{GAP}gi|nedir|apa|ist|est)\b[^\n.!]*\?"
        rf"|\b{near(_PASSWORD, _OUR_SYSTEM, 4)}|\b{near(_POEM, _PASSWORD, 5)}",
        "asks for a password",
        unless=(
            r"\b(?:niemals|nie|nicht|keine?|jamais|pas|nunca|no|nao|mai|non|nooit|niet|nigdy|asla|jangan|dung|"
            r"khong|huwag|never|not)\b"
        ),
    ),
    override_rule(
        "personal",
        "geburtsdatum wohnort naissance residence nacimiento nascimento nascita dogum lahir sinh kapanganakan",
        rf"\b{near(_TELL, _BIRTH, 6)}\b",
        "asks for personal data",
    ),
    override_rule(
        "personal",
        "utente utilisateur utilisateurs benutzer benutzers benutzern nutzer nutzers usuario usuaria usuarios "
        "kullanici kullanicinin "
        "kullaniciyi pengguna gumagamit dung gebruiker gebruikers",
        rf"\b(?:{_USER}{GAP}{words(6)}{_PERSONAL}|{_PERSONAL}{GAP}{words(6)}{_USER})\b[^.!?\n]*\?",
        "asks for personal data of the user",
        unless=phrase(
            "nom d.utilisateur|nombre de usuario|nome (?:de )?(?:usuario|utente)|benutzernam|kullanici ad|nama "
            "pengguna|"
            r"gebruikersnaam|ten (?:nguoi dung|dang nhap)"
        ),
    ),
)
