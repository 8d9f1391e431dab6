"""Signs tokens for Amazon MSK with AWS's own library, for fixed times and credentials.

msk_tokens.py FILE          writes them to the file that the test of MSKToken reads
msk_tokens.py --check FILE  exits with 1 if the file has other tokens
"""

import base64
import datetime
import json
import pathlib
import re
import sys

import botocore.auth
from aws_msk_iam_sasl_signer import MSKAuthTokenProvider
from botocore.credentials import CredentialProvider, Credentials

KEY = ("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
CASES = [
    ("2026-01-31T12:00:05", "eu-central-1", *KEY, None),
    ("2026-12-31T23:59:59", "us-east-1", *KEY, "session/+=token%"),
    ("2024-02-29T00:00:00", "ap-southeast-2", "ASIA1", "secret", "FwoGZXIvYXdzE" * 40),
]


class Fixed(CredentialProvider):
    def __init__(self, *credentials):
        super().__init__()
        self.credentials = credentials

    def load(self):
        return Credentials(*self.credentials)


def token(time, region, *credentials):
    """A signed URL without the user agent, which is not signed, and the end of its validity."""
    botocore.auth.get_current_datetime = lambda: datetime.datetime.fromisoformat(time)
    text, end = MSKAuthTokenProvider.generate_auth_token_from_credentials_provider(region, Fixed(*credentials))
    url = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()
    return re.sub(r"&User-Agent=[^&]*", "", url), end


def main():
    vectors = []
    for time, region, key, secret, session in CASES:
        url, end = token(time, region, key, secret, session)
        vectors.append(
            {
                "time": f"{time}Z",
                "region": region,
                "accessKeyId": key,
                "secretAccessKey": secret,
                "sessionToken": session,
                "url": url,
                "expiresAt": end,
            }
        )
    text = json.dumps(vectors, indent=2) + "\n"
    file = pathlib.Path(sys.argv[-1])
    if sys.argv[1] != "--check":
        file.write_text(text)
    elif file.read_text() != text:
        sys.exit(f"{file} differs from the tokens of AWS's library")


if __name__ == "__main__":
    main()
