"""Tokens that their own prefix gives away, as their issuers document them (read 2026-11).

One row a kind: its name, the pattern of the whole token, and the fixed parts of which every match holds one.
"""

from __future__ import annotations

__all__ = ["TOKEN_FORMATS", "TokenFormat"]

TokenFormat = tuple[str, str, tuple[str, ...]]

_GITHUB = ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_")
_SLACK_HOOK = r"https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9_/-]{20,200}+"
_DISCORD_HOOK = r"https://(?:canary\.|ptb\.)?discord(?:app)?\.com/api/webhooks/[0-9]{15,22}/[A-Za-z0-9_-]{50,100}+"
_TEAMS_HOOK = r"https://[a-z0-9-]{1,60}\.webhook\.office\.com/webhookb2/[A-Za-z0-9@/-]{60,300}+"

TOKEN_FORMATS: tuple[TokenFormat, ...] = (
    ("anthropic_key", r"sk-ant-[A-Za-z0-9_-]{20,}+", ("sk-ant-",)),
    ("github_token", r"gh[pousr]_[A-Za-z0-9]{36,255}+|github_pat_[A-Za-z0-9_]{40,255}+", _GITHUB),
    ("gitlab_token", r"gl(?:pat|ptt|dt|rt|cbt|ft|imt|agent|soat|oas)-[A-Za-z0-9_.-]{20,}+", ("gl",)),
    ("bitbucket_token", r"AT(?:ATT3|CTT3|BB)[A-Za-z0-9_=-]{28,}+", ("att3", "ctt3", "atbb")),
    ("aws_key_id", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}", ("akia", "asia", "abia", "acca")),
    ("google_key", r"AIza[A-Za-z0-9_-]{35}", ("aiza",)),
    ("google_token", r"ya29\.[A-Za-z0-9_-]{30,}+|GOCSPX-[A-Za-z0-9_-]{28}", ("ya29.", "gocspx-")),
    ("slack_token", r"xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}+|xapp-1-[A-Za-z0-9-]{20,}+", ("xox", "xapp-")),
    ("webhook", rf"{_SLACK_HOOK}|{_DISCORD_HOOK}|{_TEAMS_HOOK}", ("hooks.slack.com", "/api/webhooks/", "webhookb2")),
    (
        "stripe_key",
        r"(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,}+|whsec_[A-Za-z0-9+/]{24,}+=*+",
        ("k_live_", "k_test_", "whsec_"),
    ),
    (
        "package_token",
        r"npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{60,}+|rubygems_[0-9a-f]{48}",
        ("npm_", "pypi-", "rubygems_"),
    ),
    (
        "package_token",
        r"cio[A-Za-z0-9]{32}|oy2[a-z0-9]{43}|dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}+",
        ("cio", "oy2", "dckr_"),
    ),
    ("sendgrid_key", r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}+", ("sg.",)),
    (
        "mail_key",
        r"key-[0-9a-f]{32}|[0-9a-f]{32}-us[0-9]{1,2}|xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}",
        ("key-", "-us", "xkeysib-"),
    ),
    ("twilio_key", r"(?:SK|AC)[0-9a-f]{32}", ("sk", "ac")),
    ("telegram_token", r"[0-9]{8,10}:AA[A-Za-z0-9_-]{33}", (":aa",)),
    ("discord_token", r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}+", (".",)),
    ("huggingface_token", r"(?:hf|api_org)_[A-Za-z]{34}", ("hf_", "api_org_")),
    (
        "model_key",
        r"gsk_[A-Za-z0-9]{40,}+|xai-[A-Za-z0-9]{60,}+|pplx-[A-Za-z0-9]{40,}+|r8_[A-Za-z0-9]{37}",
        ("gsk_", "xai-", "pplx-", "r8_"),
    ),
    (
        "model_key",
        r"nvapi-[A-Za-z0-9_-]{60,}+|sk-or-v1-[0-9a-f]{64}|lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}",
        ("nvapi-", "sk-or-v1-", "lsv2_"),
    ),
    (
        "cloud_token",
        r"do[opr]_v1_[0-9a-f]{64}|dapi[0-9a-f]{32}(?:-[0-9])?|HRKU-[A-Za-z0-9_-]{36,}+",
        ("_v1_", "dapi", "hrku-"),
    ),
    (
        "cloud_token",
        r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{32,}+|fo1_[A-Za-z0-9_-]{43}|fm[12][ar]?_[A-Za-z0-9+/=_-]{100,}+",
        ("pscale_", "fo1_", "fm1", "fm2"),
    ),
    (
        "cloud_token",
        r"LTAI[A-Za-z0-9]{20}|sbp_[0-9a-f]{40}|v1\.0-[0-9a-f]{24}-[0-9a-f]{146}",
        ("ltai", "sbp_", "v1.0-"),
    ),
    (
        "vault_token",
        r"hv[bs]\.[A-Za-z0-9_-]{24,}+|dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{40,}+|ops_eyJ[A-Za-z0-9+/=_-]{100,}+",
        ("hvs.", "hvb.", "dp.", "ops_eyj"),
    ),
    ("terraform_token", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}+", (".atlasv1.",)),
    ("pulumi_token", r"pul-[0-9a-f]{40}", ("pul-",)),
    ("shop_token", r"shp(?:at|ca|pa|ss|ua)_[0-9A-Fa-f]{32}|sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,43}+", ("shp", "sq0")),
    (
        "monitoring_key",
        r"NRAK-[A-Z0-9]{27}|NRJS-[0-9a-f]{19}|gl(?:sa|c)_[A-Za-z0-9+/=_]{32,}+|sntry[su]_[A-Za-z0-9+/=_]{60,}+",
        ("nrak-", "nrjs-", "glsa_", "glc_", "sntrys_", "sntryu_"),
    ),
    (
        "work_token",
        r"lin_(?:api|oauth)_[A-Za-z0-9]{40,64}|ntn_[A-Za-z0-9]{40,}+|secret_[A-Za-z0-9]{43}|figd_[A-Za-z0-9_-]{40,}+",
        ("lin_", "ntn_", "secret_", "figd_"),
    ),
    (
        "work_token",
        r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}|pat[A-Za-z0-9]{14}\.[0-9a-f]{64}|pat-(?:na|eu)1-[0-9a-f-]{36}",
        ("pmak-", "pat"),
    ),
    (
        "network_key",
        r"tskey-[a-z]{3,10}-[A-Za-z0-9]{8,}-[A-Za-z0-9]{16,}+|AGE-SECRET-KEY-1[A-Z0-9]{58}",
        ("tskey-", "age-secret-key"),
    ),
    ("jwt", r"eyJ[A-Za-z0-9_-]{10,}+\.eyJ[A-Za-z0-9_-]{10,}+\.[A-Za-z0-9_-]{10,}+", ("eyj",)),
)
