"""Tokens signed like Apple's, with a chain of a root of our own."""

import base64
import datetime
import json

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.x509.oid import NameOID, ObjectIdentifier

# Apple's marks of the certificates that sign App Store receipts, and of their issuer.
LEAF = ObjectIdentifier("1.2.840.113635.100.6.11.1")
INTERMEDIATE = ObjectIdentifier("1.2.840.113635.100.6.2.1")

USAGES = [
    "digital_signature",
    "content_commitment",
    "key_encipherment",
    "data_encipherment",
    "key_agreement",
    "key_cert_sign",
    "crl_sign",
    "encipher_only",
    "decipher_only",
]


def base64url(content):
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


class Chain:
    """A root, an intermediate and a leaf certificate."""

    def __init__(self, signed):
        self.signed = signed
        root, root_key = self.certificate("Root", None, None, None)
        intermediate, intermediate_key = self.certificate("Intermediate", root, root_key, INTERMEDIATE)
        leaf, self.key = self.certificate("Leaf", intermediate, intermediate_key, LEAF)
        self.certificates = [leaf, intermediate, root]

    def certificate(self, name, issuer, issuer_key, mark):
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer.subject if issuer else subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            # The leaf has expired by now, as Apple's does after two years.
            .not_valid_before(self.signed - datetime.timedelta(days=30))
            .not_valid_after(self.signed + datetime.timedelta(days=30 if mark == LEAF else 3650))
            .add_extension(x509.BasicConstraints(ca=mark != LEAF, path_length=None), critical=True)
        )
        issuer_public = (issuer_key or key).public_key()
        usage = dict.fromkeys(USAGES, False) | {"digital_signature": mark == LEAF, "key_cert_sign": mark != LEAF}
        builder = (
            builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_public), critical=False)
            .add_extension(x509.KeyUsage(**usage), critical=True)
        )
        if mark:
            builder = builder.add_extension(x509.UnrecognizedExtension(mark, b"\x05\x00"), critical=False)
        return builder.sign(issuer_key or key, hashes.SHA256()), key

    @property
    def root(self):
        return self.certificates[2].public_bytes(serialization.Encoding.DER)

    def token(self, payload):
        """A JWS with ES256 and the chain in its header."""
        x5c = [base64.b64encode(each.public_bytes(serialization.Encoding.DER)).decode() for each in self.certificates]
        parts = [json.dumps({"alg": "ES256", "x5c": x5c}), json.dumps(payload)]
        text = ".".join(base64url(part.encode()) for part in parts)
        r, s = decode_dss_signature(self.key.sign(text.encode(), ec.ECDSA(hashes.SHA256())))
        return f"{text}.{base64url(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"
