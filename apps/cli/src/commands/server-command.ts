import type { Call } from '../call.ts'
import { validConfig } from '../config/valid-config.ts'
import { demoAgents } from '../demo/demo-agents.ts'
import { checkServer } from '../serve/check-server.ts'
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
  const setup = { config, loaded, agents, json }

  if (flags.check) {
    await checkServer(terminal, setup)
    if (json) writeDocument(terminal, { ok: true })
    else terminal.stdout.write('ready to start\n')
    return
  }

  const { server, log } = await prepareServer(terminal, setup)
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
