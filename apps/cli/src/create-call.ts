import type { createClient, PerdureClient } from '@perdure/client'
import type { Call } from './call.ts'
import type { CommandContext } from './command-context.ts'
import type { CommandLine } from './command-line.ts'
import type { ConfigFlags, LoadedConfig } from './config/load-config.ts'
import { loadForCommand } from './config/load-for-command.ts'
import { parseDuration } from './flag-time.ts'
import { createOutput, type OutputFlags } from './output/output.ts'
import { type ServerFlags, serverAccess } from './server-access/server-access.ts'

export type SharedFlags = OutputFlags & ServerFlags & ConfigFlags & { readonly timeout?: string | undefined }

export interface ClosableCall extends Call {
  /** The configuration if the command has loaded it, so that an error report can point to a field. */
  loaded(): LoadedConfig | undefined
  /** Closes the connections of the client, if one was created. */
  close(): void
}

export interface CallDeps {
  readonly cli: CommandLine
  /** `undefined` unless the target of the command is a server. */
  readonly createClient: typeof createClient | undefined
}

export function createCall(context: CommandContext, flags: SharedFlags, { cli, createClient }: CallDeps): ClosableCall {
  const { terminal } = context
  let client: PerdureClient | undefined
  let loaded: LoadedConfig | undefined

  const makeClient = () => {
    if (createClient === undefined) throw new Error('the target of this command is not a server')
    const { url, token } = serverAccess(terminal, flags)
    const timeoutMs = flags.timeout === undefined ? undefined : parseDuration('timeout', flags.timeout)
    // No automatic retries: the user, or a script that checks for exit code 3, decides whether to retry.
    return createClient({ baseUrl: url, token, timeoutMs, maxRetries: 0 })
  }

  return {
    ...context,
    cli,
    out: createOutput(terminal, flags),
    client() {
      client ??= makeClient()
      return client
    },
    serverUrl: () => withoutSlashes(serverAccess(terminal, flags).url),
    serverToken: () => serverAccess(terminal, flags).token,
    async config() {
      loaded = await loadForCommand(terminal, flags)
      return loaded
    },
    loaded: () => loaded,
    close: () => client?.close(),
  }
}

function withoutSlashes(url: string): string {
  let end = url.length
  while (url.charAt(end - 1) === '/') end--
  return url.slice(0, end)
}
