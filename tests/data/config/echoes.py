"""The functions that the files beside this one name."""


async def echo(request):
    return [{"text": request["utterances"][-1]["text"], "confidence": 0.5}]


def plain_echo(request):
    return [{"text": request["utterances"][-1]["text"], "confidence": 0.5}]


async def annotate(request):
    return {}


def select(request):
    return None


async def choose(request):
    return request["hypotheses"][0]


async def polish(request):
    return "polished"


def formatter(state):
    return [state]


NOT_A_FUNCTION = "sorry"
