import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { Sealer } from '@perdure/ports'

const VERSION = 'v1'
const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** AES-256-GCM with keys derived from the secrets by HKDF-SHA256. Seals with the first key and opens with any. */
export function createNodeSealer(secrets: readonly [Uint8Array, ...Uint8Array[]]): Sealer {
  const keys = secrets.map((secret) => new Uint8Array(hkdfSync('sha256', secret, '', 'perdure/sealed-answer/v1', 32)))
  const [current] = keys as [Uint8Array, ...Uint8Array[]]

  return {
    seal(text, context) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(CIPHER, current, nonce).setAAD(Buffer.from(context, 'utf8'))
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return `${VERSION}.${Buffer.concat([nonce, body, cipher.getAuthTag()]).toString('base64url')}`
    },
    open(sealed, context) {
      const [version, encoded = ''] = sealed.split('.')
      const bytes = Buffer.from(encoded, 'base64url')
      if (version !== VERSION || bytes.length < NONCE_BYTES + TAG_BYTES) return undefined
      for (const key of keys) {
        const text = openWith(key, bytes, context)
        if (text !== undefined) return text
      }
      return undefined
    },
  }
}

function openWith(key: Uint8Array, bytes: Buffer, context: string): string | undefined {
  const nonce = bytes.subarray(0, NONCE_BYTES)
  const body = bytes.subarray(NONCE_BYTES, -TAG_BYTES)
  try {
    const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
    decipher.setAAD(Buffer.from(context, 'utf8')).setAuthTag(bytes.subarray(-TAG_BYTES))
    return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}
