import { type ChangeEvent, useState } from "react";
import { ApiError, uploadAvatar } from "./api";

interface Properties {
  token: string;
  /** Address of the picture that is shown at first. */
  shown: string;
  onError: (error: ApiError) => void;
}

export function AvatarUpload({ token, shown, onError }: Properties) {
  const [picture, setPicture] = useState(shown);
  const [refusal, setRefusal] = useState<string>();

  async function upload(event: ChangeEvent<HTMLInputElement>) {
    const file = event.target.files?.[0];
    if (file === undefined) return;
    setRefusal(undefined);
    try {
      setPicture((await uploadAvatar(token, file)).image_url);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status === 401) onError(error as ApiError);
      else setRefusal(`This picture was refused: ${error.message}`);
    }
  }

  return (
    <div className="avatar">
      {picture && <img src={picture} alt="Your avatar" width={96} height={96} />}
      <label>
        New avatar <input type="file" accept="image/*" onChange={upload} />
      </label>
      {refusal !== undefined && <p role="alert">{refusal}</p>}
    </div>
  );
}
