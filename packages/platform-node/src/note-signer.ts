import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'

/** Signs texts as C2SP signed notes with an Ed25519 key. */
export interface NoteSigner {
  /** Returns the signature in note format: base64 of the key id and the signature. */
  sign(text: string): string
  verify(text: string, signature: string): boolean
  /** The key with which a third party verifies signatures: `<name>+<key id>+<base64 key>`. */
  readonly verifierKey: string
}

const PKCS8_ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex')
const ED25519 = Buffer.from([1])
const PUBLIC_BYTES = 32

/** @see https://c2sp.org/signed-note */
export function createNoteSigner(name: string, seed: Uint8Array): NoteSigner {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8_ED25519, seed]), format: 'der', type: 'pkcs8' })
  const publicKey = createPublicKey(key)
  const encoded = Buffer.concat([ED25519, rawBytes(publicKey)])
  const keyId = createHash('sha256').update(`${name}\n`).update(encoded).digest().subarray(0, 4)

  return {
    sign: (text) => Buffer.concat([keyId, sign(null, Buffer.from(text), key)]).toString('base64'),
    verify(text, signature) {
      const bytes = Buffer.from(signature, 'base64')
      return bytes.subarray(0, 4).equals(keyId) && verify(null, Buffer.from(text), publicKey, bytes.subarray(4))
    },
    verifierKey: `${name}+${keyId.toString('hex')}+${encoded.toString('base64')}`,
  }
}

const rawBytes = (key: KeyObject): Buffer => key.export({ format: 'der', type: 'spki' }).subarray(-PUBLIC_BYTES)
