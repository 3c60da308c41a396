import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { EXIT_CODES } from '../exit-codes.ts'
import type { DevOrder, DevReport } from './dev-messages.ts'

/** A server process, running or starting. */
export interface ServerProcess {
  order(order: DevOrder): void
  /** Kills the process; committed data is safe. */
  kill(): void
}

export interface ServerProcessEvents {
  onReport(report: DevReport): void
  onEnd(exitCode: number): void
}

export interface ServerProcesses {
  take(events: ServerProcessEvents): ServerProcess
  /** Starts a spare process ahead of time, because loading the server code is the slowest part of a restart. */
  warm(): void
  close(): void
}

interface ForkedServer extends ServerProcess {
  /** Sets the receiver of reports. Before the first order, only the end of the process is reported. */
  listen(events: ServerProcessEvents): void
}

export function createServerProcesses(env: NodeJS.ProcessEnv): ServerProcesses {
  let spare: ForkedServer | undefined
  const spareEvents = { onReport: () => undefined, onEnd: () => (spare = undefined) }
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
      spare.listen(spareEvents)
    },
    close: () => spare?.kill(),
  }
}

/**
 * Forks a server that shares stdout and stderr with this process. The server exits when this process ends for any
 * reason, because the unused fifth pipe then closes.
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
  // Under `node --watch`, Node.js also sends the names of the files that the process loads.
  child.on('message', (message: object) => {
    if ('type' in message) listener?.onReport(message as DevReport)
  })
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
      // A disconnected process is ending and gets no more orders; `onEnd` reports it.
      if (child.connected) child.send(order, () => undefined)
    },
    kill: () => void child.kill('SIGKILL'),
  }
}
