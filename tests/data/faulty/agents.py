"""Two agents that the faulty files name."""


async def weather(request):
    return [{"text": "Sunny.", "confidence": 0.6}]


async def jokes(request):
    return [{"text": "A man walks into a bar.", "confidence": 0.4}]
