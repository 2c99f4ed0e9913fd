import type { Avatar, Profile, ServiceError } from "understudy-js";

const BASE_URL = import.meta.env.VITE_UNDERSTUDY_BASE_URL;

export const EDITABLE = ["display_name", "location", "job_title", "company"] as const;
export type ProfileChanges = Partial<Record<(typeof EDITABLE)[number], string>>;

/** A response with an error, and the status by which a page decides what to say. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

async function call<T>(path: string, token?: string, init: RequestInit = {}): Promise<T> {
  const headers = new Headers(init.headers);
  if (token !== undefined) headers.set("Authorization", `Bearer ${token}`);
  const response = await fetch(`${BASE_URL}${path}`, { ...init, headers });
  if (!response.ok) {
    const body = (await response.json().catch(() => ({}))) as Partial<ServiceError>;
    throw new ApiError(response.status, body.error ?? response.statusText);
  }
  return (await response.json()) as T;
}

/** Finds a profile by an e-mail address, of which only the hash is sent, or by a slug. */
export async function findProfile(who: string): Promise<Profile> {
  const identifier = who.includes("@") ? await sha256(who.trim().toLowerCase()) : who.trim();
  return call(`/profiles/${encodeURIComponent(identifier)}`);
}

export function ownProfile(token: string): Promise<Profile> {
  return call("/me/profile", token);
}

export function changeProfile(token: string, changes: ProfileChanges): Promise<Profile> {
  const headers = { "Content-Type": "application/json" };
  return call("/me/profile", token, { method: "PATCH", headers, body: JSON.stringify(changes) });
}

export function uploadAvatar(token: string, picture: File): Promise<Avatar> {
  const body = new FormData();
  body.set("data", picture);
  return call("/me/avatars?select_avatar=true", token, { method: "POST", body });
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
