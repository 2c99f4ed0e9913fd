const CLIENT_ID = "browser-app";
const SCOPES = ["auth", "avatar-profile:read", "avatar-profile:manage"];
const HERE = `${location.origin}/`;

/** What a redirect from the authorization server brought. */
export interface SignedIn {
  token?: string;
  failure?: string;
}

/** Leaves the page for the authorization server; a token comes back in the fragment. */
export function signIn(): void {
  const state = crypto.randomUUID();
  sessionStorage.setItem("state", state);
  const query = new URLSearchParams({ client_id: CLIENT_ID, redirect_uri: HERE, response_type: "token", state });
  SCOPES.forEach((scope, index) => query.set(`scope[${index}]`, scope));
  location.assign(`${import.meta.env.VITE_UNDERSTUDY_AUTH_URL}/oauth2/authorize?${query}`);
}

/** Takes the token out of the address, so that it does not stay in the history. */
export function tokenFromRedirect(): SignedIn {
  const fragment = new URLSearchParams(location.hash.slice(1) || location.search);
  const expected = sessionStorage.getItem("state");
  if (!fragment.has("state")) return {};
  history.replaceState(null, "", HERE);
  if (fragment.get("state") !== expected) return { failure: "This sign-in did not begin here." };
  if (fragment.has("error")) return { failure: "You did not let this page in." };
  const token = fragment.get("access_token");
  return token === null ? {} : { token };
}
