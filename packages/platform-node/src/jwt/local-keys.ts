import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import { isSymmetric } from '@perdure/protocol'
import type { JSONWebKeySet, JWTVerifyGetKey } from 'jose'

const MIN_RSA_BITS = 2_048

/**
 * The keys in a secret: with HMAC algorithms the secret itself, otherwise public keys as PEM, JWK or JWK Set.
 *
 * @throws Error whose message names the problem
 */
export function localKeys(bytes: Uint8Array, algorithms: readonly string[]): () => Promise<JWTVerifyGetKey> {
  if (algorithms.every(isSymmetric)) return hmacKey(bytes, algorithms)
  const text = new TextDecoder().decode(bytes).trim()
  const json = parsed(text)
  if (json !== undefined && 'keys' in json) return keySet(json as unknown as JSONWebKeySet, algorithms)
  const key = publicKeyOf(text, json)
  const problem = problemOf(key, algorithms)
  if (problem !== undefined) throw new Error(problem)
  return async () => async () => key
}

function hmacKey(bytes: Uint8Array, algorithms: readonly string[]) {
  const needed = Math.max(...algorithms.map((algorithm) => Number(algorithm.slice(2)) / 8))
  if (bytes.length >= needed) return async () => async () => bytes
  throw new Error(`the secret has ${bytes.length} bytes; ${algorithms.join(', ')} needs at least ${needed}`)
}

function keySet(set: JSONWebKeySet, algorithms: readonly string[]) {
  if (!Array.isArray(set.keys) || set.keys.length === 0) throw new Error('the JWK Set has no keys')
  const problems = set.keys.map((jwk) => problemOf(publicKeyOf('', jwk as JsonWebKey), algorithms))
  if (problems.every((problem) => problem !== undefined)) throw new Error(problems[0])
  return async () => (await import('jose')).createLocalJWKSet(set)
}

function publicKeyOf(text: string, jwk: JsonWebKey | undefined): KeyObject {
  if (text.includes('PRIVATE KEY') || (jwk !== undefined && 'd' in jwk)) {
    throw new Error('the key is a private key; verification needs only the public key')
  }
  try {
    return jwk === undefined ? createPublicKey(text) : createPublicKey({ key: jwk, format: 'jwk' })
  } catch (cause) {
    throw new Error('the key is not a public key in PEM, a JWK or a JWK Set', { cause })
  }
}

const CURVES: Readonly<Record<string, string>> = { ES256: 'prime256v1', ES384: 'secp384r1', ES512: 'secp521r1' }

function problemOf({ asymmetricKeyType, asymmetricKeyDetails = {} }: KeyObject, algorithms: readonly string[]) {
  const { modulusLength = 0, namedCurve = '' } = asymmetricKeyDetails
  const fits = (algorithm: string) => {
    if (/^[RP]S/.test(algorithm)) return asymmetricKeyType === 'rsa'
    if (algorithm.startsWith('ES')) return asymmetricKeyType === 'ec' && CURVES[algorithm] === namedCurve
    return asymmetricKeyType === 'ed25519'
  }
  if (!algorithms.some(fits))
    return `the key is of the type ${asymmetricKeyType}, which ${algorithms.join(', ')} cannot use`
  if (asymmetricKeyType !== 'rsa' || modulusLength >= MIN_RSA_BITS) return undefined
  return `the RSA key has ${modulusLength} bits; at least ${MIN_RSA_BITS} are needed`
}

function parsed(text: string): JsonWebKey | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as JsonWebKey) : undefined
  } catch {
    return undefined
  }
}
