/** The interface by which the room posts to webhooks; `roles/` passes one that guards every connection. */

export interface WebhookPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type WebhookAnswer =
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** Beginning of the answer's body, for the owner of the webhook; absent: nothing arrived of it. */
      readonly body?: string;
    }
  /** No response, or an address that the guard forbids. */
  | { readonly kind: 'failed'; readonly reason: string };

/** Never rejects; bounded in time. */
export type PostWebhook = (post: WebhookPost, signal: AbortSignal) => Promise<WebhookAnswer>;
