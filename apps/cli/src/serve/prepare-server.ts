import type { AgentRegistration } from '@perdure/core'
import { createWatchdog, openServerLog, unbufferedLog } from '@perdure/platform-node'
import type { Logger } from '@perdure/ports'
import type { ServerConfig } from '@perdure/protocol'
import { createServer, type PerdureServer } from '@perdure/server-app'
import type { LoadedConfig } from '../config/load-config.ts'
import type { Terminal } from '../terminal.ts'

export interface ServerSetup {
  readonly config: ServerConfig
  readonly loaded: LoadedConfig
  readonly agents: readonly AgentRegistration[]
  readonly json: boolean
  /** Whether a stop that takes too long ends the process. */
  readonly ownsProcess: boolean
}

export interface PreparedServer {
  readonly server: PerdureServer
  readonly log: Logger
  /** Waits until the log is written, for a limited time: nothing may be reading it. */
  flushLog(): Promise<void>
}

const FLUSH_MS = 1_000

/** Creates the configured server, which logs to stderr, without opening the storage or a port. */
export async function prepareServer(
  { stderr }: Terminal,
  { config, loaded, agents, json, ownsProcess }: ServerSetup,
): Promise<PreparedServer> {
  const {
    configDir,
    hooks,
    adapters,
    workflows,
    triggers,
    skills,
    mcpServers,
    webhookEndpoints,
    embedder,
    priceUsage,
    consolidator,
  } = loaded
  const { level } = config.log
  const { logger, droppedLines, flush, flushNow } =
    adapters.logger === undefined ? openServerLog({ level, json, stream: stderr }) : unbufferedLog(adapters.logger)
  const watchdog = adapters.watchdog ?? createWatchdog({ level, json, logger, ownsProcess, flushLog: flushNow })
  const server = await createServer({
    config,
    agents,
    workflows,
    triggers,
    skills,
    mcpServers,
    webhookEndpoints,
    consolidator,
    configDir,
    originOf: async (path) => (await import('../config/origin-of-field.ts')).originOfField(path, loaded),
    adapters: { droppedLogLines: droppedLines, ...adapters, logger, watchdog },
    ...(hooks === undefined ? {} : { hooks }),
    ...(embedder === undefined ? {} : { embedder }),
    ...(priceUsage === undefined ? {} : { priceUsage }),
  })
  return { server, log: logger, flushLog: () => flush(FLUSH_MS) }
}
