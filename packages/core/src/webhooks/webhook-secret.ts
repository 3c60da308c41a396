import type { Clock, Digest, IdGenerator, Sealer, WebhookRecord, WebhookSecret } from '@perdure/ports'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32
/** The limits of Standard Webhooks for the length of a key. */
const MIN_KEY_BYTES = 24
const MAX_KEY_BYTES = 64

export const generateSecret = (ids: IdGenerator): string => PREFIX + toBase64(ids.randomBytes(SECRET_BYTES))

/** The key of a secret in the form `whsec_<base64>`; `undefined` if it has another form or length. */
export function keyOf(secret: string): Uint8Array | undefined {
  const text = secret.trim()
  if (!text.startsWith(PREFIX) || !/^[A-Za-z0-9+/]+={0,2}$/.test(text.slice(PREFIX.length))) return undefined
  try {
    const key = Uint8Array.from(atob(text.slice(PREFIX.length)), (char) => char.charCodeAt(0))
    return key.length < MIN_KEY_BYTES || key.length > MAX_KEY_BYTES ? undefined : key
  } catch {
    return undefined
  }
}

export const sealSecret = (sealer: Sealer, webhookId: string, secret: string): WebhookSecret => ({
  sealed: sealer.seal(secret, sealContext(webhookId)),
})

const sealContext = (webhookId: string) => `webhook:${webhookId}`

export interface SigningDeps {
  readonly clock: Clock
  readonly digest: Digest
  readonly sealer: Sealer
  /** Resolves a secret reference of the configuration; `undefined` if it cannot be resolved. */
  readonly resolveSecret: (reference: string) => Promise<string | undefined>
}

export interface SignedContent {
  readonly id: string
  readonly body: string
}

/**
 * The headers of Standard Webhooks. Every secret that has not expired signs, so that receivers can change their copy
 * while both are accepted. `undefined` if a secret cannot be read.
 */
export async function signedHeaders(
  deps: SigningDeps,
  webhook: WebhookRecord,
  { id, body }: SignedContent,
): Promise<Record<string, string> | undefined> {
  const now = deps.clock.now()
  const timestamp = String(Math.floor(now / 1_000))
  const active = webhook.secrets.filter(({ expiresAt }) => expiresAt === undefined || expiresAt > now)
  const signatures: string[] = []
  for (const secret of active) {
    const key = await readKey(deps, webhook.id, secret)
    if (key === undefined) return undefined
    signatures.push(`v1,${hexToBase64(deps.digest.hmacSha256(key, `${id}.${timestamp}.${body}`))}`)
  }
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') }
}

async function readKey(
  { sealer, resolveSecret }: SigningDeps,
  webhookId: string,
  { ref, sealed }: WebhookSecret,
): Promise<Uint8Array | undefined> {
  const secret = ref === undefined ? sealer.open(sealed ?? '', sealContext(webhookId)) : await resolveSecret(ref)
  return secret === undefined ? undefined : keyOf(secret)
}

const toBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes))

const hexToBase64 = (hex: string): string =>
  toBase64(Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16)))
