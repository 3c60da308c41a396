import { StartError } from '@berth/ports'
import type { ServerConfig } from '@berth/protocol'
import type { Call } from '../call.ts'
import { validConfig } from '../config/valid-config.ts'
import { demoAgents } from '../demo/demo-agents.ts'
import { checkWritable } from '../doctor/check-storage.ts'
import { listeningUrl } from '../serve/listening-url.ts'
import { prepareServer } from '../serve/prepare-server.ts'
import { serve } from '../serve/serve.ts'
import { writeDocument } from '../terminal.ts'

export interface ServerFlags {
  readonly check?: boolean
  readonly demo?: boolean
}

export async function serverCommand(call: Call, flags: ServerFlags): Promise<void> {
  const { terminal, finish } = call
  const json = call.out.isJson
  const loaded = await call.config()
  const config = validConfig(loaded)
  const agents = flags.demo ? [...loaded.agents, ...demoAgents(terminal.cwd, loaded.agents)] : loaded.agents
  const { server, log } = await prepareServer(terminal, { config, loaded, agents, json })

  if (flags.check) {
    await server.check()
    if (loaded.adapters.storage === undefined) await requireWritable(config)
    if (json) writeDocument(terminal, { ok: true })
    else terminal.stdout.write('ready to start\n')
    return
  }

  const exitCode = await serve(server, {
    interruptions: terminal.watchInterruptions(server.attribute),
    log,
    onListening(listening) {
      if (json) writeDocument(terminal, { event: 'listening', ...listening })
      else terminal.stdout.write(`listening on ${listeningUrl(listening)}\n`)
    },
  })
  finish(exitCode)
}

async function requireWritable(config: ServerConfig): Promise<void> {
  const { status, message, fix } = await checkWritable(config)
  if (status === 'fail') {
    throw new StartError('config-invalid', { message: `storage.path: ${message}`, hint: fix ?? 'correct storage.path' })
  }
}
