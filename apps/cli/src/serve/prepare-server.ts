import type { AgentRegistration } from '@perdure/core'
import { createLogger, createWatchdog } from '@perdure/platform-node'
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

/** Creates the configured server, which logs to stderr, without opening the storage or a port. */
export async function prepareServer(
  { stderr }: Terminal,
  { config, loaded, agents, json, ownsProcess }: ServerSetup,
): Promise<{ readonly server: PerdureServer; readonly log: Logger }> {
  const { configDir, hooks, adapters, workflows, triggers, skills, mcpServers, embedder, consolidator } = loaded
  const log = adapters?.logger ?? createLogger({ level: config.log.level, json, stream: stderr })
  const watchdog = adapters?.watchdog ?? createWatchdog({ level: config.log.level, json, logger: log, ownsProcess })
  const server = await createServer({
    config,
    agents,
    workflows,
    triggers,
    skills,
    mcpServers,
    consolidator,
    configDir,
    adapters: { ...adapters, logger: log, watchdog },
    ...(hooks === undefined ? {} : { hooks }),
    ...(embedder === undefined ? {} : { embedder }),
  })
  return { server, log }
}
