import type { Profile } from "understudy-js";
import { useEffect, useState } from "react";
import { ApiError, ownProfile } from "./api";
import { AvatarUpload } from "./avatar-upload";
import { LookupCard } from "./lookup-card";
import { ProfileForm } from "./profile-form";
import { type SignedIn, signIn } from "./sign-in";

export function App({ token, failure }: SignedIn) {
  return (
    <main>
      <h1>Trail Journal</h1>
      <LookupCard />
      <section aria-label="Your profile">
        {failure !== undefined && <p role="alert">{failure}</p>}
        {token === undefined ? <SignIn /> : <OwnProfile token={token} />}
      </section>
    </main>
  );
}

function SignIn({ reason = "Sign in to change your profile." }: { reason?: string }) {
  return (
    <>
      <p>{reason}</p>
      <button onClick={signIn}>Sign in</button>
    </>
  );
}

function OwnProfile({ token }: { token: string }) {
  const [profile, setProfile] = useState<Profile>();
  const [error, setError] = useState<ApiError>();
  useEffect(() => {
    ownProfile(token).then(setProfile, setError);
  }, [token]);
  if (error?.status === 401) return <SignIn reason="Your sign-in has expired." />;
  if (error !== undefined) return <p role="alert">{error.message}</p>;
  if (profile === undefined) return <p>Loading…</p>;
  return (
    <>
      <h2>Hello, {profile.display_name}!</h2>
      <AvatarUpload token={token} shown={profile.avatar_url} onError={setError} />
      <ProfileForm token={token} profile={profile} onSaved={setProfile} onError={setError} />
    </>
  );
}
