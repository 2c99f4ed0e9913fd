// Shows and serves the copy buttons where the browser has a clipboard to write to.
if (navigator.clipboard) {
  for (const button of document.querySelectorAll("button[data-copy]")) {
    const label = button.textContent;
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = label), 1500);
    });
  }
}
