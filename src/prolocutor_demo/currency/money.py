"""The currencies that people name: code, name, spellings and signs."""

from typing import NamedTuple


class Currency(NamedTuple):
    """A currency with its ISO 4217 code and its name for one and for many."""

    code: str
    one: str
    many: str

    def named(self, shown: str) -> str:
        """The name after a number, as in "1 euro" or "2 euros"."""
        return self.one if shown == "1" else self.many


# code | one/many | other spellings in lower case; a spelling given twice is the first one's.
_CURRENCIES = """
EUR | euro/euros | €, eur, eurs, euros', eu money
USD | US dollar/US dollars | $, usd, us$, dollar, dollars, dolar, dolars, doller, dollers, buck, \
bucks, greenback, greenbacks, american dollar, american dollars, us money, us currency, u.s. dollars
GBP | British pound/British pounds | £, gbp, pound, pounds, ponds, quid, quids, sterling, \
pound sterling, pounds sterling, uk pounds, uk pound, english pounds, british money
JPY | Japanese yen/Japanese yen | ¥, jpy, yen, yens, jp¥, japanese money
CHF | Swiss franc/Swiss francs | chf, franc, francs, sfr, fr, swissie, swiss money
AUD | Australian dollar/Australian dollars | aud, a$, au$, aussie dollar, aussie dollars, \
aussie, australian
CAD | Canadian dollar/Canadian dollars | cad, c$, ca$, loonie, loonies, canadian bucks
NZD | New Zealand dollar/New Zealand dollars | nzd, nz$, kiwi dollar, kiwi dollars, nz dollars, \
nz dollar
SEK | Swedish krona/Swedish kronor | sek, kr, krona, kronor, swedish crown, swedish crowns, \
swedish krone, swedish kroner, swedish kronas
NOK | Norwegian krone/Norwegian kroner | nok, norwegian crown, norwegian crowns, \
norwegian krona, norwegian kronor
DKK | Danish krone/Danish kroner | dkk, krone, kroner, danish crown, danish crowns, danish kronor
ISK | Icelandic króna/Icelandic krónur | isk, icelandic krona, icelandic kronur, \
icelandic crowns, icelandic krone, icelandic kronas
CZK | Czech koruna/Czech korunas | czk, kč, koruna, korunas, koruny, czech crown, czech crowns
PLN | Polish złoty/Polish zlotys | pln, zł, zloty, zlotys, zlotych, zloties, polish zloty, złoty
HUF | Hungarian forint/Hungarian forints | huf, forint, forints
RON | Romanian leu/Romanian lei | ron, leu, lei
BGN | Bulgarian lev/Bulgarian leva | bgn, lev, leva, levs
TRY | Turkish lira/Turkish lira | ₺, try, lira, liras, turkish liras
RUB | Russian ruble/Russian rubles | ₽, rub, ruble, rubles, rouble, roubles
CNY | Chinese yuan/Chinese yuan | cny, rmb, yuan, yuans, renminbi, cn¥, chinese money
HKD | Hong Kong dollar/Hong Kong dollars | hkd, hk$
SGD | Singapore dollar/Singapore dollars | sgd, s$, singaporean dollars, singaporean dollar
KRW | South Korean won/South Korean won | ₩, krw, won, korean won
INR | Indian rupee/Indian rupees | ₹, inr, rupee, rupees, rs
IDR | Indonesian rupiah/Indonesian rupiah | idr, rupiah, rupiahs, rp
MYR | Malaysian ringgit/Malaysian ringgit | myr, ringgit, ringgits, rm
PHP | Philippine peso/Philippine pesos | ₱, php, filipino peso, filipino pesos
THB | Thai baht/Thai baht | ฿, thb, baht, bahts
ILS | Israeli shekel/Israeli shekels | ₪, ils, nis, shekel, shekels, sheqel, sheqels
ZAR | South African rand/South African rand | zar, rand, rands
BRL | Brazilian real/Brazilian reais | r$, brl, reais, reals, brazilian reals
MXN | Mexican peso/Mexican pesos | mxn, peso, pesos, mex$
HRK | Croatian kuna/Croatian kuna | hrk, kuna, kunas
"""


def _table() -> dict[str, Currency]:
    """Every spelling, in lower case, to its currency."""
    spellings: dict[str, Currency] = {}
    for line in _CURRENCIES.strip().splitlines():
        code, names, others = (part.strip() for part in line.split("|"))
        one, many = names.split("/")
        currency = Currency(code, one, many)
        for spelling in [one, many, *others.split(",")]:
            spellings.setdefault(spelling.strip().lower(), currency)
    return spellings


CURRENCIES = _table()
