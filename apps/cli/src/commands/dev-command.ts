import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ServerConfig } from '@berth/protocol'
import { openTokenAdmin } from '@berth/server-app'
import type { Call } from '../call.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import { demoAgents } from '../demo/demo-agents.ts'
import { echoAgent } from '../demo/echo-agent.ts'
import { devBanner } from '../dev/dev-banner.ts'
import { devConfig } from '../dev/dev-config.ts'
import { listeningUrl } from '../serve/listening-url.ts'
import { prepareServer } from '../serve/prepare-server.ts'
import { type Listening, serve } from '../serve/serve.ts'
import { removeDevSession, writeDevSession } from '../server-access/dev-session.ts'
import { writeDocument } from '../terminal.ts'
import { readVersion } from '../version.ts'

export interface DevFlags {
  readonly demo?: boolean
}

const TOKEN_LIFE_MS = 24 * 60 * 60 * 1_000

export async function devCommand(call: Call, flags: DevFlags): Promise<void> {
  const { terminal, finish } = call
  const { cwd } = terminal
  const json = call.out.isJson
  const loaded = await call.config()
  const { config, pepperPath } = await devConfig(loaded)
  const extra = flags.demo ? demoAgents(cwd, loaded.agents) : loaded.agents.length === 0 ? [echoAgent] : []
  const agents = [...loaded.agents, ...extra]
  const { server, log } = await prepareServer(terminal, { config, loaded, agents, json })

  const announce = async (listening: Listening) => {
    const token = await mintDevToken(config, loaded)
    const url = listeningUrl(listening)
    writeDevSession(cwd, { url, pid: process.pid, ...(token === undefined ? {} : { token }) })
    const agentIds = agents.map(({ id }) => id)
    const storagePath = config.storage.path
    if (json) {
      writeDocument(terminal, { event: 'listening', ...listening, token, storagePath, agents: agentIds })
      return
    }
    const exampleFile = existsSync(join(cwd, 'README.md')) ? 'README.md' : undefined
    const facts = { version: readVersion(), url, cwd, storagePath, pepperPath, token, agentIds, exampleFile }
    terminal.stdout.write(devBanner(facts))
  }

  const interruptions = terminal.watchInterruptions(server.attribute)
  try {
    finish(await serve(server, { interruptions, log, onListening: announce }))
  } finally {
    removeDevSession(cwd, process.pid)
  }
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
