"""The currencies that the money changer knows: code, CLDR's name, spellings and signs."""

from functools import cache
from typing import NamedTuple

from babel.numbers import get_currency_name


class Currency(NamedTuple):
    """A currency with its ISO 4217 code and its name in the singular and the plural."""

    code: str
    one: str
    many: str

    def named(self, shown: str) -> str:
        """Return the name after a number, as in "1 euro" or "2 euros"."""
        return self.one if shown == "1" else self.many


# code | spellings in lower case besides the code and CLDR's names; plurals in -s are added to
# spellings of four letters and more. A spelling given twice belongs to the first line.
_CURRENCIES = """
EUR | €, eurs, euros', eu money
USD | $, us$, dollar, dolar, doller, buck, greenback, american dollar, us money, us currency, \
u.s. dollars
GBP | £, pound, ponds, quid, sterling, pound sterling, pounds sterling, uk pound, \
english pounds, british money
JPY | ¥, yen, yens, jp¥, japanese money
CHF | franc, sfr, fr, swissie, swiss money
AUD | a$, au$, aussie dollar, aussie, australian
CAD | c$, ca$, loonie, canadian bucks, canadian
NZD | nz$, kiwi dollar, nz dollar
SEK | kr, krona, kronor, swedish crown, swedish krone, swedish kroner
NOK | norwegian crown, norwegian krona, norwegian kronor
DKK | krone, kroner, danish crown, danish kronor
ISK | icelandic krona, icelandic kronur, icelandic crowns, icelandic krone
CZK | kč, koruna, koruny, czech crown
PLN | zł, zloty, zlotych, zloties, złoty, polish złoty
HUF | forint
RON | leu, lei
BGN | lev, leva, levs
TRY | ₺, lira
RUB | ₽, ruble, rouble
CNY | rmb, yuan, renminbi, cn¥, chinese money
HKD | hk$
SGD | s$, singaporean dollar
KRW | ₩, won, korean won
INR | ₹, rupee, rs
IDR | rupiah, rp
MYR | ringgit, rm
PHP | ₱, filipino peso
THB | ฿, baht
ILS | ₪, nis, shekel, sheqel, israeli shekel
ZAR | rand
BRL | r$, reais, reals, brazilian reais
MXN | peso, mex$
HRK | kuna
"""
_SHORTEST_WITH_PLURAL = 4


@cache
def currencies() -> dict[str, Currency]:
    """Return every spelling, in lower case, with its currency."""
    spellings: dict[str, Currency] = {}
    for line in _CURRENCIES.strip().splitlines():
        code, _, others = (part.strip() for part in line.partition("|"))
        one, many = (get_currency_name(code, count, "en") for count in (1, 2))
        currency = Currency(code, one, many)
        own = [currency.one, currency.many, code, *filter(None, others.split(", "))]
        for spelling in [*own, *map(_plural, own)]:
            spellings.setdefault(spelling.lower(), currency)
    return spellings


def _plural(spelling: str) -> str:
    has_plural = len(spelling) >= _SHORTEST_WITH_PLURAL and spelling[-1].isalpha()
    return f"{spelling}s" if has_plural and not spelling.endswith("s") else spelling
