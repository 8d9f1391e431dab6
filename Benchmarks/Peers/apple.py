"""Apple's library for one app in production, with online checks as its README shows, or without."""

import json
import pathlib

from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier


def verifier(settings):
    """Returns a verifier. `settings` is a file with bundleId, appAppleId, online, and the path of the root certificate."""
    settings = json.loads(pathlib.Path(settings).read_text())
    root = pathlib.Path(settings["root"]).read_bytes()
    return SignedDataVerifier(
        [root], settings["online"], Environment.PRODUCTION, settings["bundleId"], settings["appAppleId"]
    )


def verify(verifier, signed):
    """Verifies and decodes a notification and the tokens in it. Raises VerificationException."""
    notification = verifier.verify_and_decode_notification(signed)
    if notification.data is not None:
        if notification.data.signedTransactionInfo is not None:
            verifier.verify_and_decode_signed_transaction(notification.data.signedTransactionInfo)
        if notification.data.signedRenewalInfo is not None:
            verifier.verify_and_decode_renewal_info(notification.data.signedRenewalInfo)
    return notification
