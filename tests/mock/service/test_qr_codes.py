from understudy.verify.pictures import decoded


def test_an_address_that_no_qr_code_holds_is_refused(ask):
    refused = ask("GET", "/v3/qr-code/ada", params={"utm_campaign": "a" * 5000})
    assert refused.status_code == 400
    assert refused.json()["code"] == "qr_code_too_long"


def test_the_address_of_an_unknown_identifier_keeps_its_campaign(ask):
    drawn = ask("GET", "/v3/qr-code/%23%3F", params={"size": "400", "utm_campaign": "spring"})
    assert decoded(drawn.content).text == "http://127.0.0.1:8080/%23%3F?utm_campaign=spring"
