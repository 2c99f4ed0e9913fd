ran=0 failed=0 skipped=0 limited=0 unset= output=/dev/null
body=$(mktemp)
trap 'rm -f "$body"' EXIT

call() { # arguments of curl
  curl --disable --proto '=http,https' --silent --show-error --max-time 60 --path-as-is \
    --globoff "$@"
}

try() { # title, expected statuses, expected location, then arguments of curl
  what=$1 expected=$2 location=$3
  shift 3
  ran=$((ran + 1)) result=FAILED
  response=$(call --output "$output" --write-out '%{http_code} %{redirect_url}' "$@")
  status=${response%% *}
  for one in $expected; do case $status in $one) result=ok ;; esac; done
  case "$status $location $response" in
    3*"with error "*[?\&#]error=*) ;;
    3*"without error "*[?\&#]error=*) result=FAILED ;;
    3*"with error "*) result=FAILED ;;
  esac
  [ "$result $status" = 'FAILED 429' ] && result=limit limited=$((limited + 1))
  [ $result = FAILED ] && failed=$((failed + 1))
  printf '%-6s %s %s\n' "$result" "$status" "$what"
}

set_up() { # variable, name of its value in the response, then arguments of curl
  variable=$1 member=$2
  shift 2
  value=$(call --write-out '\n%{redirect_url}\n' "$@" | sed -n \
    -e 's/.*"'"$member"'" *: *"\([^"]*\)".*/\1/p' -e 's/.*[?\&]'"$member"'=\([^\&#]*\).*/\1/p')
  [ -n "$value" ] || echo "the set-up obtained no $variable, so the next cases fail" >&2
  eval "$variable=\$value ${variable}_ENCODED=\$(encoded \"\$value\")"
}

encoded() { # a text, for a query or a form
  printf %s "$1" | od -An -v -tx1 | tr -d ' \n' | sed 's/../%&/g'
}

has() { # names of secrets, and of items that earlier steps create
  for one in "$@"; do
    eval "[ -n \"\${$one:-}\" ]" && continue
    skipped=$((skipped + 1))
    case $one in ITEM_*) ;; *) case " $unset " in *" $one "*) ;; *) unset="$unset $one" ;; esac ;; esac
    return 1
  done
}
