"""An assistant with a skill that pays once a person or an operator approves, and its charges."""

from pathlib import Path

FILE = """\
skills:
  payments:
    call: three_payments:pay
    acts: true
    approve: APPROVER
    preview: three_payments:preview
    timeout: 20
deadline: 30
"""

CODE = """\
from pathlib import Path

def preview(request):
    said = request["utterances"][-1]["text"].split()
    if said[0] != "pay":
        return None
    return {"title": f"Pay {said[-1]}", "fields": {"amount": int(said[1]), "to": said[-1]}}

def pay(request):
    fields = request["effect"]["fields"]
    with (Path(__file__).parent / "charges").open("a") as charges:
        charges.write(f"{fields['amount']} {fields['to']}\\n")
    return {"text": f"Paid {fields['amount']}.", "confidence": 0.9}
"""


def written(folder: Path, approver: str) -> Path:
    """Write the assistant's file and its skill."""
    file = folder / "assistant.yaml"
    file.write_text(FILE.replace("APPROVER", approver))
    (folder / "three_payments.py").write_text(CODE)
    return file


def charges(file: Path) -> list[str]:
    return (file.parent / "charges").read_text().splitlines()
