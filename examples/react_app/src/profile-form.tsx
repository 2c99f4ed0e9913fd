import type { Profile } from "understudy-js";
import { type FormEvent, useState } from "react";
import { ApiError, changeProfile, EDITABLE } from "./api";

interface Properties {
  token: string;
  profile: Profile;
  onSaved: (profile: Profile) => void;
  onError: (error: ApiError) => void;
}

const LABELS = { display_name: "Name", location: "Location", job_title: "Job title", company: "Company" };

export function ProfileForm({ token, profile, onSaved, onError }: Properties) {
  const [status, setStatus] = useState("");

  async function save(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const texts = EDITABLE.map((name) => [name, String(form.get(name))] as const);
    setStatus("Saving…");
    try {
      // Only what was changed is sent, so that a change from elsewhere is not undone.
      onSaved(await changeProfile(token, Object.fromEntries(texts.filter(([name, text]) => text !== profile[name]))));
      setStatus("Saved.");
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) onError(error);
      else setStatus("Not saved. Please try again.");
    }
  }

  return (
    <form onSubmit={save}>
      {EDITABLE.map((name) => (
        <label key={name}>
          {LABELS[name]} <input name={name} defaultValue={profile[name]} />
        </label>
      ))}
      <button>Save</button>
      <p role="status">{status}</p>
    </form>
  );
}
