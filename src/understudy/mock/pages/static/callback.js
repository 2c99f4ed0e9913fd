// Shows what the implicit flow puts into the fragment, which no server sees.
const received = document.querySelector("#received");
const members = new URLSearchParams(location.hash.slice(1));
for (const [name, text] of members) {
  const row = document.createElement("div");
  const term = row.appendChild(document.createElement("dt"));
  const value = row.appendChild(document.createElement("dd")).appendChild(document.createElement("code"));
  term.textContent = name;
  value.textContent = text;
  received.append(row);
}
if (members.has("access_token")) {
  const next = document.querySelector("#next");
  const line = `curl -H 'Authorization: Bearer ${members.get("access_token")}' ${received.dataset.baseUrl}/me/profile`;
  next.hidden = false;
  next.querySelector("code").textContent = line;
  next.querySelector("[data-copy]").dataset.copy = line;
}
