import type { AgentRegistration } from '@perdure/core'
import type { Call } from '../call.ts'
import { validConfig } from '../config/valid-config.ts'
import { listeningUrl } from '../serve/listening-url.ts'
import { prepareServer } from '../serve/prepare-server.ts'
import { serve } from '../serve/serve.ts'
import { useSourceMaps } from '../serve/use-source-maps.ts'
import { writeDocument } from '../terminal.ts'

export interface ServerFlags {
  readonly check?: boolean
  readonly demo?: boolean
}

export async function serverCommand(call: Call, flags: ServerFlags): Promise<void> {
  useSourceMaps()
  const { terminal, finish } = call
  const json = call.out.isJson
  const loaded = await call.config()
  const config = validConfig(loaded)
  const agents = flags.demo ? [...loaded.agents, ...(await demoAgentsFor(terminal.cwd, loaded.agents))] : loaded.agents
  const setup = { config, loaded, agents, json, ownsProcess: true }

  if (flags.check) {
    const { checkServer, checkStoredSchema } = await import('../serve/check-server.ts')
    await checkServer(terminal, setup)
    await checkStoredSchema(setup)
    if (json) writeDocument(terminal, { ok: true })
    else terminal.stdout.write('ready to start\n')
    return
  }

  const { server, log, flushLog } = await prepareServer(terminal, setup)
  const exitCode = await serve(server, {
    interruptions: terminal.watchInterruptions(server.attribute),
    log,
    onListening(listening) {
      if (json) writeDocument(terminal, { event: 'listening', ...listening })
      else terminal.stdout.write(`listening on ${listeningUrl(listening)}\n`)
    },
  }).finally(flushLog)
  finish(exitCode)
}

/** Loads the demo agents only when `--demo` is given. */
async function demoAgentsFor(
  cwd: string,
  present: readonly AgentRegistration[],
): Promise<readonly AgentRegistration[]> {
  const { demoAgents } = await import('../demo/demo-agents.ts')
  return demoAgents(cwd, present)
}
