#!/bin/sh
# A world of one's own with nothing but curl: understudy exec -- examples/steer.sh
set -eu

mock=${UNDERSTUDY_URL:-http://127.0.0.1:8080}
world=$mock/__world/from-a-shell
json='Content-Type: application/json'

post() { curl --silent --show-error --fail --header "$json" --data "$2" "$1"; }

post "$mock/__admin/worlds" '{"name": "from-a-shell", "people": ["ada"]}' >/dev/null
trap 'curl --silent --request DELETE "$mock/__admin/worlds/from-a-shell"' EXIT

echo "the first look-up fails, and the second one finds somebody:"
post "$world/__admin/faults" '{"operation": "getProfile", "status": 503, "times": 1}' >/dev/null
for _ in 1 2; do
  curl --silent --output /dev/null --write-out '%{http_code}\n' "$world/v3/profiles/ada"
done

echo "a token counts for an hour of the world's clock:"
token=$(post "$world/__admin/tokens" '{"person": "ada", "expires_in": 3600}' |
  sed 's/.*"token":"\([^"]*\)".*/\1/')
me() {
  curl --silent --output /dev/null --write-out '%{http_code}\n' \
    --header "Authorization: Bearer $token" "$world/v3/me/profile"
}
me
post "$world/__admin/clock/advance" '{"seconds": 3600}' >/dev/null
me

echo "and that is what was asked:"
post "$world/__admin/requests/count" '{"operation": "getProfile"}'
echo
