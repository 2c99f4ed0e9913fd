echo "$ran sent, $failed failed, $limited not judged (rate limit used up)," \
  "$skipped skipped (a secret or an item is missing)"
[ "$failed" -eq 0 ] || exit 1
[ -z "$unset" ] || [ -n "${SKIP:-}" ] || {
  echo "Not set:$unset, so cases were not sent; set them, or SKIP=1 to leave the cases out." >&2
  exit 2
}
