def test_an_address_that_no_qr_code_holds_is_refused(ask):
    refused = ask("GET", "/v3/qr-code/ada", params={"utm_campaign": "a" * 5000})
    assert refused.status_code == 400
    assert refused.json()["code"] == "qr_code_too_long"
