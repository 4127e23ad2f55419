/** How the room reaches a customer's address: given to it by the process, which guards every connection. */

export interface WebhookPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type WebhookAnswer =
  | { readonly kind: 'answered'; readonly status: number }
  /** Nobody answered, or the address is not one that we connect to. */
  | { readonly kind: 'failed'; readonly reason: string };

/** Never rejects; bounded in time. */
export type PostWebhook = (post: WebhookPost, signal: AbortSignal) => Promise<WebhookAnswer>;
