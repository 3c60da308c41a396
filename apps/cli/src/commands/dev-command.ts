import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ServerConfig } from '@berth/protocol'
import { openTokenAdmin } from '@berth/server-app'
import type { CommandContext } from '../command-context.ts'
import type { ConfigFlags, LoadedConfig } from '../config/load-config.ts'
import { loadForCommand } from '../config/load-for-command.ts'
import { demoAgents } from '../demo/demo-agents.ts'
import { echoAgent } from '../demo/echo-agent.ts'
import { devBanner } from '../dev/dev-banner.ts'
import { devConfig } from '../dev/dev-config.ts'
import { listeningUrl } from '../serve/listening-url.ts'
import { prepareServer } from '../serve/prepare-server.ts'
import { type Listening, serve } from '../serve/serve.ts'
import { writeDocument } from '../terminal.ts'
import { readVersion } from '../version.ts'

export interface DevFlags extends ConfigFlags {
  readonly json?: boolean
  readonly demo?: boolean
}

const TOKEN_LIFE_MS = 24 * 60 * 60 * 1_000

export async function devCommand({ terminal, finish }: CommandContext, flags: DevFlags): Promise<void> {
  const { cwd } = terminal
  const json = flags.json ?? false
  const loaded = await loadForCommand(terminal, flags)
  const { config, pepperPath } = await devConfig(loaded)
  const extra = flags.demo ? demoAgents(cwd, loaded.agents) : loaded.agents.length === 0 ? [echoAgent] : []
  const agents = [...loaded.agents, ...extra]
  const { server, log } = await prepareServer(terminal, { config, loaded, agents, json })

  const announce = async (listening: Listening) => {
    const token = await mintDevToken(config, loaded)
    const agentIds = agents.map(({ id }) => id)
    const storagePath = config.storage.path
    if (json) {
      writeDocument(terminal, { event: 'listening', ...listening, token, storagePath, agents: agentIds })
      return
    }
    const exampleFile = existsSync(join(cwd, 'README.md')) ? 'README.md' : undefined
    const url = listeningUrl(listening)
    const facts = { version: readVersion(), url, cwd, storagePath, pepperPath, token, agentIds, exampleFile }
    terminal.stdout.write(devBanner(facts))
  }

  finish(
    await serve(server, { interruptions: terminal.watchInterruptions(server.attribute), log, onListening: announce }),
  )
}

/** Minted once the server listens, so that a refused start leaves no token behind. */
async function mintDevToken(config: ServerConfig, loaded: LoadedConfig): Promise<string | undefined> {
  if (config.auth.kind === 'none') return undefined
  const admin = await openTokenAdmin(config, loaded)
  try {
    const expiresAt = Date.now() + TOKEN_LIFE_MS
    const { token } = await admin.mint({ name: 'dev', subject: 'dev', env: 'local', scopes: ['admin:*'], expiresAt })
    return token
  } finally {
    await admin.close()
  }
}
