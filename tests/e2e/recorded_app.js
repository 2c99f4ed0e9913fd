// What an app does with the worked examples of the interface, with canaries where people write.
async ({ base, token, canary, pixel }) => {
  const statuses = [];
  const headers = { Authorization: `Bearer ${token}`, "X-Person": canary };

  async function call(path, init = {}) {
    const response = await fetch(`${base}${path}`, { ...init, headers: { ...headers, ...init.headers } });
    statuses.push(response.status);
    return response.json();
  }

  function change(path, changes) {
    const body = JSON.stringify(changes);
    return call(path, { method: "PATCH", headers: { "Content-Type": "application/json" }, body });
  }

  function widthOf(address) {
    return new Promise((shown, failed) => {
      const image = new Image();
      image.onload = () => shown(image.naturalWidth);
      image.onerror = () => failed(new Error(`a picture was not shown: ${address}`));
      image.src = address;
      document.body.append(image);
    });
  }

  async function picture() {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 64;
    const drawing = canvas.getContext("2d");
    drawing.fillStyle = `rgb(${pixel.join(" ")})`;
    drawing.fillRect(0, 0, 64, 64);
    return new Promise((drawn) => canvas.toBlob(drawn, "image/png"));
  }

  const own = await change("/me/profile", { location: canary, description: `${canary} wrote this` });
  const body = new FormData();
  body.set("data", await picture(), `${canary}.png`);
  const avatar = await call("/me/avatars?select_avatar=true", { method: "POST", body });
  const avatars = await call("/me/avatars");
  await change(`/me/avatars/${avatar.image_id}`, { alt_text: canary });
  await call(`/profiles/${canary}`);
  await call("/me/profile", { headers: { Authorization: `Bearer ${canary}` } });
  const profile = await call("/me/profile");
  const gallery = profile.gallery.map((item) => widthOf(item.url));
  const pictures = {
    uploaded: await widthOf(avatar.image_url),
    selected: await widthOf(profile.avatar_url),
    qr: await widthOf(`${base}/qr-code/${own.hash}?size=200&utm_medium=${canary}`),
    header: await widthOf(/url\(['"]?([^'")]+)/.exec(profile.header_image)[1]),
    gallery: await Promise.all(gallery),
  };
  return { statuses, avatars: avatars.length, pictures };
}
