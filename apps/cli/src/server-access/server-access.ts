import { usageError } from '../cli-error.ts'
import type { Terminal } from '../terminal.ts'
import { checkServerUrl, DEFAULT_URL } from './check-server-url.ts'
import { readContexts } from './contexts.ts'
import { type DevSession, readDevSession } from './dev-session.ts'
import { isLoopback } from './loopback.ts'

export interface ServerFlags {
  readonly url?: string | undefined
  readonly token?: string | undefined
  readonly context?: string | undefined
}

export interface ServerAccess {
  readonly url: string
  readonly token: string | undefined
}

/**
 * Selects the server of a command: `--url`, then `--context`, PERDURE_URL, the context in use, the `perdure dev` that
 * runs in this folder, the default address. A stored token goes only to the server it was stored with: the token of
 * `perdure dev` also if the URL of that server is given. The default address has the port and the base path that the environment sets
 * for a server.
 */
export function serverAccess({ env, cwd }: Pick<Terminal, 'env' | 'cwd'>, flags: ServerFlags): ServerAccess {
  const given = flags.token ?? (env.PERDURE_TOKEN || undefined)
  const selected = select({ env, cwd }, flags)
  checkServerUrl(selected.url)
  const token = given ?? selected.token
  if (token !== undefined) checkToken(token)
  return { ...selected, token }
}

function select({ env, cwd }: Pick<Terminal, 'env' | 'cwd'>, flags: ServerFlags): ServerAccess {
  const dev = devSession(cwd)
  const url = flags.url ?? (flags.context === undefined ? env.PERDURE_URL || undefined : undefined)
  if (url !== undefined) return { url, token: isSameUrl(url, dev?.url) ? dev?.token : undefined }
  const { contexts, current } = readContexts(env)
  const name = flags.context ?? current
  if (name !== undefined) {
    const context = contexts[name]
    if (context !== undefined) return { url: context.url, token: context.token }
    throw usageError(
      `unknown context ${name}`,
      'run perdure context list, or add it with perdure context add <name> --url <url>',
    )
  }
  if (dev !== undefined) return { url: dev.url, token: dev.token }
  return { url: defaultUrl(env), token: undefined }
}

/** @throws a usage error for a port that is not one; a server with the port 0 prints its own */
function defaultUrl({ PERDURE_SERVER_PORT: port, PERDURE_SERVER_BASE_PATH: basePath }: Terminal['env']): string {
  const url = new URL(DEFAULT_URL)
  if (basePath) url.pathname = basePath
  if (!port || port === '0') return url.href
  if (/^\d{1,5}$/.test(port) && Number(port) < 65_536) url.port = port
  else throw usageError(`PERDURE_SERVER_PORT is not a port: ${port}`, 'write a number below 65536, or set PERDURE_URL')
  return url.href
}

function devSession(cwd: string): DevSession | undefined {
  const session = readDevSession(cwd)
  return session !== undefined && isLoopback(session.url) ? session : undefined
}

const isSameUrl = (url: string, other: string | undefined): boolean => url === other || url === `${other}/`

/** Checked here because `fetch` repeats the whole header in its error. */
function checkToken(token: string): void {
  if (/^[\x21-\x7e]+$/.test(token)) return
  throw usageError(
    'the access token contains white space or characters that a header cannot carry',
    'copy the token again: it is one word that starts with perdure_',
  )
}
