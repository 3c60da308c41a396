import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { EXIT_CODES } from '../exit-codes.ts'
import type { DevOrder, DevReport } from './dev-messages.ts'

/** A process that serves, or is about to. */
export interface ServerProcess {
  order(order: DevOrder): void
  /** Ends it at once; what it has committed is safe. */
  kill(): void
}

export interface ServerProcessEvents {
  onReport(report: DevReport): void
  onEnd(exitCode: number): void
}

export interface ServerProcesses {
  take(events: ServerProcessEvents): ServerProcess
  /** Starts one ahead of time: loading the code of the server takes longer than all else that a restart does. */
  warm(): void
  close(): void
}

interface ForkedServer extends ServerProcess {
  /** Nothing is reported before the first order but its end. */
  listen(events: ServerProcessEvents): void
}

export function createServerProcesses(env: NodeJS.ProcessEnv): ServerProcesses {
  let spare: ForkedServer | undefined
  const forget = { onReport: () => undefined, onEnd: () => (spare = undefined) }
  return {
    take(events) {
      const taken = spare ?? forkServer(env)
      spare = undefined
      taken.listen(events)
      return taken
    },
    warm() {
      if (spare !== undefined) return
      spare = forkServer(env)
      spare.listen(forget)
    },
    close: () => spare?.kill(),
  }
}

/**
 * It shares stdout and stderr with this process and ends with it: a pipe that nothing is written to closes however this process
 * ends.
 */
function forkServer(env: NodeJS.ProcessEnv): ForkedServer {
  const isSource = import.meta.url.endsWith('.ts')
  const entry = fileURLToPath(new URL(isSource ? './dev-server.ts' : './dev-server.js', import.meta.url))
  const child = fork(entry, {
    env,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc', 'pipe'],
    ...(isSource ? { execArgv: ['--conditions=perdure-source'] } : {}),
  })
  let listener: ServerProcessEvents | undefined
  child.on('message', (message) => listener?.onReport(message as DevReport))
  const end = (exitCode: number) => {
    listener?.onEnd(exitCode)
    listener = undefined
  }
  child.once('exit', (code) => end(code ?? EXIT_CODES.failed.code))
  child.once('error', () => end(EXIT_CODES.failed.code))
  return {
    listen(events) {
      listener = events
    },
    order(order) {
      // One that is ending takes no orders any more; its end is told.
      if (child.connected) child.send(order, () => undefined)
    },
    kill: () => void child.kill('SIGKILL'),
  }
}
