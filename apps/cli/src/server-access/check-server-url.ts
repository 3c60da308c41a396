import { usageError } from '../cli-error.ts'

export const DEFAULT_URL = 'http://127.0.0.1:8080/v1'

/** @throws a usage error that does not repeat a password in the URL */
export function checkServerUrl(text: string): void {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined ? text.includes('@') : url.username !== '' || url.password !== '') {
    throw usageError(
      'the server URL contains a user name or a password',
      `write the URL without it, like ${DEFAULT_URL}`,
    )
  }
  if (url !== undefined && /^https?:$/.test(url.protocol)) return
  throw usageError(`${text} is not an http(s) URL`, `write it with its base path, like ${DEFAULT_URL}`)
}
