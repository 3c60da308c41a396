/** One HTTP request of a webhook delivery. */
export interface WebhookRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** The outcome of an attempt: the response, or the reason why there was none. */
export type WebhookResponse =
  | { readonly status: number; readonly retryAfterMs?: number | undefined }
  | { readonly error: string }

/**
 * Port. Sends webhook deliveries. Unless the operator allows the host, it connects only to public addresses. It checks
 * the address of the connection, not only the name.
 */
export interface WebhookSender {
  /** Resolves with the response, or with the reason why there is none. Never follows a redirect. */
  send(request: WebhookRequest): Promise<WebhookResponse>
  /** Why the URL can never be used: its form, its protocol or a literal address; `undefined` if it can. */
  refusalOf(url: string): string | undefined
}
