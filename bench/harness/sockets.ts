import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export interface SocketPlan {
  readonly url: string
  readonly sockets: number
  readonly protocols: readonly string[]
  /** Subjects that each socket subscribes to. The floor needs no subscription. */
  readonly subjects?: readonly string[]
  /** Reads nothing after subscribing. */
  readonly isStalled?: boolean
}

export interface Received {
  /** Time until every socket had received all events. */
  readonly ms: number
  /** Latency from the `at` of an event to its arrival. */
  readonly p99Ms: number
}

export interface SocketClients {
  /** Calls `emit` and waits until every socket has received that many events. */
  receive(events: number, emit: () => Promise<unknown>): Promise<Received>
  close(): Promise<void>
}

/** Opens the sockets in a separate process. */
export async function openSockets(plan: SocketPlan): Promise<SocketClients> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'socket-clients.ts'), JSON.stringify(plan)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async () => {
    const { done, value } = await lines.next()
    if (done) throw new Error('the process with the sockets has ended')
    return value
  }
  await next()
  return {
    async receive(events, emit) {
      child.stdin.write(`${JSON.stringify({ events })}\n`)
      await next()
      await emit()
      return JSON.parse(await next()) as Received
    },
    async close() {
      child.stdin.end()
      await exited
    },
  }
}
