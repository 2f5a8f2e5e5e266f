"""Certificates for the TLS scenarios, made with openssl: a CA, another one, and a server's own, good and expired."""

import os
import subprocess


def openssl(*arguments, folder):
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)


def make(folder):
    """Files in `folder`: ca.crt, other.crt (a CA that has signed nothing), good.crt, expired.crt, server.key."""
    os.makedirs(folder, exist_ok=True)
    for name in ("ca", "other"):
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
                "-keyout", f"{name}.key", "-out", f"{name}.crt", "-subj", f"/CN=Check {name}", folder=folder)
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "server.key",
            "-out", "server.csr", "-subj", "/CN=127.0.0.1", folder=folder)
    with open(os.path.join(folder, "names"), "w", encoding="utf-8") as file:
        file.write("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
    for name, days in (("good", "30"), ("expired", "-1")):
        openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial",
                "-days", days, "-extfile", "names", "-out", f"{name}.crt", folder=folder)
    for name, code in (("good", 0), ("expired", 1)):
        done = subprocess.run(["openssl", "x509", "-checkend", "0", "-noout", "-in", f"{name}.crt"], cwd=folder,
                              capture_output=True, check=False)
        if done.returncode != code:
            raise RuntimeError(f"the certificate that is to be {name} is not")
    return folder
