import { createHmac, type KeyObject, sign } from 'node:crypto'

/** The parts of a JWT. */
export interface ForgedJwt {
  /** A text is encoded as it is, so that it can have a member twice. Default: `{ alg: 'EdDSA' }`. */
  readonly header?: object | string
  readonly claims: object | string
  /** A private key, or a secret for HMAC; without one, the signature is empty. */
  readonly key?: KeyObject | Uint8Array | undefined
}

const encode = (value: object | string) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

/** Signs a JWT with any header and any claims. Libraries refuse to sign most of what an attacker sends. */
export function forgeJwt({ header = { alg: 'EdDSA' }, claims, key }: ForgedJwt): string {
  const input = `${encode(header)}.${encode(claims)}`
  if (key === undefined) return `${input}.`
  if (key instanceof Uint8Array) return `${input}.${createHmac('sha256', key).update(input).digest('base64url')}`
  const algorithm = key.asymmetricKeyType === 'ed25519' ? null : 'sha256'
  return `${input}.${sign(algorithm, Buffer.from(input), key).toString('base64url')}`
}
