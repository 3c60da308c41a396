/** A timestamp followed by 80 random bits: keys that arrive in order are cheaper for the server to store. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(10))
  const random = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return Date.now().toString(16).padStart(12, '0') + random
}
