"""The profile for macOS, as text."""

from __future__ import annotations

from aircoding.workspace.seatbelt import seatbelt_profile

PROFILE = """\
(version 1)
(deny default)
(allow process-exec process-fork)
(allow signal process-info* (target same-sandbox))
(allow sysctl-read)
(allow file-read-metadata)
(allow file-read* (subpath "/Applications/Xcode.app") (subpath "/Library/Developer") (subpath "/Library/Frameworks") \
(subpath "/System") (subpath "/bin") (subpath "/opt") (subpath "/private/etc") (subpath "/private/var/db/timezone") \
(subpath "/private/var/select") (subpath "/sbin") (subpath "/usr") (subpath "/tools") (subpath "/w/a \\"b\\"") \
(subpath "/s/home") (subpath "/cache") (literal "/dev/null") (literal "/dev/random") (literal "/dev/urandom") \
(literal "/dev/zero"))
(allow file-write* (subpath "/s/home") (subpath "/cache") (subpath "/w/a \\"b\\""))
(allow file-write-data (literal "/dev/null") (literal "/dev/random") (literal "/dev/urandom") (literal "/dev/zero"))
(deny file-write* (subpath "/w/a \\"b\\"/.git") (subpath "/w/a \\"b\\"/.air"))
(deny file-read* file-write* (subpath "/w/a \\"b\\"/.air/local"))
(allow network* (local unix-socket) (remote unix-socket (subpath "/s/home")))
"""


def test_the_profile_names_what_is_allowed() -> None:
    def profile(*, writable: bool = True, network: bool = False) -> str:
        return seatbelt_profile(
            root='/w/a "b"', writable=writable, network=network, own=["/s/home"], shown=["/tools"], caches=["/cache"]
        )

    assert profile() == PROFILE
    assert '(subpath "/cache"))\n' in profile(writable=False)
    assert "remote ip" not in profile()
    assert "(allow network* (local ip) (remote ip))" in profile(network=True)
