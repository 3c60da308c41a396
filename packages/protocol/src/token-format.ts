/** `perdure_<env>_v1_<43 base62 characters: 256 random bits><6 base62 characters: CRC-32 of the text before>`. */
export const TOKEN_PREFIX = 'perdure'
export const TOKEN_ENVS = ['live', 'test', 'local'] as const
export type TokenEnv = (typeof TOKEN_ENVS)[number]

const TOKEN = /^perdure_(live|test|local)_v1_([0-9A-Za-z]{43})([0-9A-Za-z]{6})$/
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Builds the token text from 32 random bytes. */
export function formatToken(env: TokenEnv, secret: Uint8Array): string {
  if (secret.length !== 32) throw new RangeError('a token secret must have 32 bytes')
  const number = secret.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
  const head = `${TOKEN_PREFIX}_${env}_v1_${base62(number, 43)}`
  return head + base62(BigInt(crc32(head)), 6)
}

/** Whether `text` has the form of a token and a correct checksum. Needs neither a secret nor the storage. */
export function isWellFormedToken(text: string): boolean {
  const match = TOKEN.exec(text)
  return match !== null && base62(BigInt(crc32(text.slice(0, -6))), 6) === match[3]
}

function base62(value: bigint, length: number): string {
  let rest = value
  let text = ''
  while (text.length < length) {
    text = ALPHABET.charAt(Number(rest % 62n)) + text
    rest /= 62n
  }
  return text
}

function crc32(ascii: string): number {
  let crc = 0xffffffff
  for (let index = 0; index < ascii.length; index++) {
    crc ^= ascii.charCodeAt(index)
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (0xedb88320 & -(crc & 1))
  }
  return (crc ^ 0xffffffff) >>> 0
}
