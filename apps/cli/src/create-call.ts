import type { createClient, PerdureClient } from '@perdure/client'
import type { Call } from './call.ts'
import type { CommandContext } from './command-context.ts'
import type { CommandLine } from './command-line.ts'
import type { ConfigFlags, LoadedConfig } from './config/load-config.ts'
import { loadForCommand } from './config/load-for-command.ts'
import { createOutput, type OutputFlags } from './output/output.ts'
import { type ServerFlags, serverAccess } from './server-access/server-access.ts'
import { spanMs } from './span.ts'

export type SharedFlags = OutputFlags & ServerFlags & ConfigFlags & { readonly timeout?: string | undefined }

export interface MadeCall extends Call {
  /** The configuration that the command has loaded so far; an error may come from a field of it. */
  loaded(): LoadedConfig | undefined
  /** Ends the connections of the client, if there is one. */
  close(): void
}

/** What a call knows of the command that it is for. */
export interface CallMeans {
  readonly cli: CommandLine
  /** Of a command whose target is a server. */
  readonly createClient: typeof createClient | undefined
}

export function createCall(context: CommandContext, flags: SharedFlags, { cli, createClient }: CallMeans): MadeCall {
  const { terminal } = context
  let client: PerdureClient | undefined
  let loaded: LoadedConfig | undefined

  const makeClient = () => {
    if (createClient === undefined) throw new Error('the target of this command is no server')
    const { url, token } = serverAccess(terminal, flags)
    const timeoutMs = flags.timeout === undefined ? undefined : spanMs('timeout', flags.timeout)
    // A person, or a script that knows exit code 3, decides about another try.
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
