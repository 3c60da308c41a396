import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export interface SocketPlan {
  readonly url: string
  readonly sockets: number
  readonly protocols: readonly string[]
  /** What each subscribes to; a bare server needs no subscription. */
  readonly subjects?: readonly string[]
  /** Reads nothing once it has subscribed. */
  readonly isDeaf?: boolean
}

export interface Heard {
  /** Until every socket had heard all events. */
  readonly ms: number
  /** From the `at` of an event to its arrival. */
  readonly p99Ms: number
}

export interface SocketClients {
  /** Runs `cause` and waits until every socket has heard that many events. */
  hear(events: number, cause: () => Promise<unknown>): Promise<Heard>
  close(): Promise<void>
}

/** Opens the sockets in a process of their own. */
export async function openSockets(plan: SocketPlan): Promise<SocketClients> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'socket-clients.ts'), JSON.stringify(plan)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async () => {
    const { done, value } = await lines.next()
    if (done) throw new Error('the sockets were lost')
    return value
  }
  await next()
  return {
    async hear(events, cause) {
      child.stdin.write(`${JSON.stringify({ events })}\n`)
      await next()
      await cause()
      return JSON.parse(await next()) as Heard
    },
    async close() {
      child.stdin.end()
      await exited
    },
  }
}
