/// <reference types="vite/client" />

interface ImportMetaEnv {
  /** Base URL of the resource API; the plugin of understudy-js sets it. */
  readonly VITE_UNDERSTUDY_BASE_URL: string;
  /** Base URL of the authorization server. */
  readonly VITE_UNDERSTUDY_AUTH_URL: string;
}
