import type { Profile } from "understudy-js";
import { type FormEvent, useState } from "react";
import { ApiError, findProfile } from "./api";

export function LookupCard() {
  const [profile, setProfile] = useState<Profile>();
  const [problem, setProblem] = useState<string>();

  async function find(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const who = String(new FormData(event.currentTarget).get("who"));
    setProfile(undefined);
    setProblem(undefined);
    try {
      setProfile(await findProfile(who));
    } catch (error) {
      setProblem(explained(error, who));
    }
  }

  return (
    <section aria-label="Find somebody">
      <form onSubmit={find}>
        <label>
          E-mail address or name in the address <input name="who" required />
        </label>
        <button>Find</button>
      </form>
      {problem !== undefined && <p role="alert">{problem}</p>}
      {profile !== undefined && <Card profile={profile} />}
    </section>
  );
}

function Card({ profile }: { profile: Profile }) {
  return (
    <article>
      {profile.avatar_url && <img src={profile.avatar_url} alt={profile.avatar_alt_text} width={96} height={96} />}
      <h2>{profile.display_name || "Somebody without a name"}</h2>
      <p>{[profile.job_title, profile.company, profile.location].filter(Boolean).join(" · ")}</p>
    </article>
  );
}

function explained(error: unknown, who: string): string {
  if (!(error instanceof ApiError)) return "The service cannot be reached. Please try again later.";
  if (error.status === 404) return `Nobody is known as ${who}.`;
  if (error.status === 429) return "Too many requests. Please wait a while.";
  return "Please try again later.";
}
