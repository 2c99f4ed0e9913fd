"""The target of the mock in this process: people, tokens and applications of the bundled fixtures."""

from understudy.verify.target import Credentials, Known, Permit, Target, TargetApplication

SITE = "http://127.0.0.1:8080"
AUTHORIZATION = "http://127.0.0.1:8081"
CALLBACK = "http://127.0.0.1:5000/callback"

TARGET = Target(
    base_url=f"{SITE}/v3",
    auth_url=AUTHORIZATION,
    mode="full",
    is_mock=True,
    credentials=Credentials(
        access_token="ada-full",
        read_only_token="ada-read-only",
        auth_only_token="ada-auth-only",
        no_auth_token="ada-no-auth",
        expired_token="ada-expired",
        other_access_token="olu-full",
        private_access_token="hush-full",
        disabled_access_token="gone-full",
        api_key="ada-api-key",
    ),
    application=TargetApplication(
        client_id="server-app",
        client_secret="server-app-secret",
        redirect_uri=CALLBACK,
        name="Trail Journal",
        username="ada",
        password="ada-password",
        approve="mock_approve=ada",
        deny="mock_deny=1",
    ),
    other_application=TargetApplication(
        client_id="two-redirects",
        client_secret="two-redirects-secret",
        redirect_uri="http://127.0.0.1:3000/callback",
        username="ben",
        password="ben-password",
    ),
    two_step=TargetApplication(
        client_id="two-step",
        client_secret="two-step-secret",
        redirect_uri=CALLBACK,
        username="tova",
        password="tova-password",
        application_password="hbtq rvxk 29fd zmwp",
    ),
    known=Known(
        slug="ada",
        emails=("ada@example.com", "ada.merrowdale@example.org"),
        other_slug="olu",
        other_emails=("olu@example.com", "Olu.Work@Example.com", "olu@example.net"),
        people=("nora", "greta", "tomas"),
        private_slug="hush",
        disabled_slug="gone",
        hidden_contact_slug="mei",
    ),
    permit=Permit(
        uploads=True, fill_account=True, long_texts=True, tokens=True, exhaust_rate_limit=True
    ),
)
"""The people, tokens and applications of the bundled fixtures."""
