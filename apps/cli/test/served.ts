import { createLogger } from '@perdure/platform-node'
import type { ServerConfigInput } from '@perdure/protocol'
import { createServer, type ServerOptions } from '@perdure/server-app'
import { afterAll, beforeAll } from 'vitest'
import { runCli } from '../src/run-cli.ts'
import { recordingTerminal } from './recording-terminal.ts'
import { temporaryDir } from './temporary-dir.ts'

/** Starts a server for all tests of the block, and runs commands against it. */
export function served(registered: Pick<ServerOptions, 'agents' | 'workflows'>, more: ServerConfigInput = {}) {
  const dir = temporaryDir()
  const server = { port: 0, rateLimit: { perIpRequests: 1_000 } }
  const config = { auth: { kind: 'none' }, server, storage: { path: ':memory:' } } as const
  const adapters = { logger: createLogger({ level: 'silent' }) }
  let url: string
  let stop: () => Promise<void>
  beforeAll(async () => {
    const server = await createServer({ config: { ...config, ...more }, adapters, ...registered })
    const { port } = await server.start()
    url = `http://127.0.0.1:${port}/v1`
    stop = () => server.stop({ force: true })
  })
  afterAll(() => stop())

  const openTerminal = () => recordingTerminal({ cwd: dir(), env: { XDG_CONFIG_HOME: dir() } })
  const perdureOn = async (terminal: ReturnType<typeof openTerminal>, ...args: readonly string[]) => {
    const exitCode = await runCli([...args, '--url', url], terminal)
    return { exitCode, out: terminal.out(), err: terminal.err() }
  }
  const perdure = (...args: readonly string[]) => perdureOn(openTerminal(), ...args)
  return { openTerminal, perdureOn, perdure }
}
