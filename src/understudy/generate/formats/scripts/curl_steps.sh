content=$(mktemp) head=$(mktemp)
trap 'rm -f "$body" "$content" "$head"' EXIT
command -v python3 > /dev/null || { echo "sequences need python3, to read JSON" >&2; exit 2; }

step() { # captures and assertions as JSON, then the arguments of try
  shows=$1 output=$content
  shift
  try "$@" --dump-header "$head"
  [ "$result" = ok ] || return 0
  location=$(sed -n 's/^[Ll]ocation: *//p' "$head" | tr -d '\r' | tail -n 1)
  if exports=$(python3 -c "$reader" "$shows" "$content" "$location"); then
    eval "$exports"
  else
    failed=$((failed + 1))
    echo "FAILED     $what: the response does not show that"
  fi
}
