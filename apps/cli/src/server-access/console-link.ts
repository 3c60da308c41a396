import type { PerdureClient } from '@perdure/client'
import { cliError } from '../cli-error.ts'
import { isClientError } from '../client-error.ts'

/** The URL of the console of a server: `console` in place of the last segment of its base path. */
export const consoleUrl = (serverUrl: string): string => `${serverUrl.slice(0, serverUrl.lastIndexOf('/'))}/console/`

/** The code travels in the fragment, which browsers send to no server, so that no log contains it. */
export const consoleUrlWith = (serverUrl: string, code: string): string => `${consoleUrl(serverUrl)}#code=${code}`

export interface ConsoleLink {
  readonly url: string
  /** When the code in the URL expires; `undefined` if the server needs no code. */
  readonly expiresAt?: string
}

/**
 * A link that signs in once as the owner of the client's token.
 *
 * @throws CliError `console-off`; PerdureError of the request
 */
export async function consoleLink(client: Pick<PerdureClient, 'console'>, serverUrl: string): Promise<ConsoleLink> {
  try {
    const { code, expiresAt } = await client.console.createCode()
    return { url: consoleUrlWith(serverUrl, code), expiresAt }
  } catch (error) {
    if (!isClientError(error)) throw error
    // A server with auth.kind none issues no codes.
    if (error.code === 'validation-failed') return { url: consoleUrl(serverUrl) }
    if (error.code !== 'route-not-found') throw error
    throw cliError('console-off', {
      message: `the server at ${serverUrl} does not serve the console`,
      hint: 'set console: { enabled: true } in its configuration and restart it',
      exit: 'failed',
    })
  }
}
