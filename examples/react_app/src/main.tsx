import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app";
import "./app.css";
import { tokenFromRedirect } from "./sign-in";

const signedIn = tokenFromRedirect();
createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <App {...signedIn} />
  </StrictMode>,
);
