import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A TCP proxy in front of a database whose faults the tests choose. */
export interface FaultyProxy {
  readonly port: number
  /** Resets every connection. */
  cut(): void
  /** Resets every connection and refuses new ones until `heal`. */
  shut(): void
  /** Delays each chunk, in one direction or in both, until `heal`. */
  delay(ms: number, direction?: Direction): void
  /** Holds what is sent in this direction until `heal`, as if every packet were lost. */
  lose(direction: Direction): void
  /** Holds both directions; new connections are accepted and stay silent until `heal`. */
  halfOpen(): void
  /** Forwards again, and delivers the held bytes in order. */
  heal(): void
  /** Resets every connection, and forwards new ones to another port. */
  leadTo(targetPort: number): void
  close(): Promise<void>
}

export type Direction = 'requests' | 'responses'

interface Faults {
  readonly isShut?: boolean
  readonly delaysMs?: { readonly [D in Direction]?: number }
  readonly lost?: readonly Direction[]
}

export async function openFaultyProxy(firstPort: number): Promise<FaultyProxy> {
  const pairs = new Set<readonly [Socket, Socket]>()
  const flushes = new Set<() => void>()
  let faults: Faults = {}
  let targetPort = firstPort

  const end = (pair: readonly [Socket, Socket]) => {
    if (!pairs.delete(pair)) return
    for (const socket of pair) socket.resetAndDestroy()
  }

  const forward = (from: Socket, to: Socket, direction: Direction) => {
    const held: { readonly chunk: Buffer; readonly dueAt: number }[] = []
    let timer: NodeJS.Timeout | undefined
    const flush = () => {
      clearTimeout(timer)
      if (faults.lost?.includes(direction)) return
      while (held[0] !== undefined) {
        const waitMs = faults.delaysMs?.[direction] === undefined ? 0 : held[0].dueAt - performance.now()
        if (waitMs > 0) {
          timer = setTimeout(flush, waitMs)
          return
        }
        to.write(held.shift()?.chunk ?? '')
      }
    }
    flushes.add(flush)
    from.on('data', (chunk) => {
      held.push({ chunk, dueAt: performance.now() + (faults.delaysMs?.[direction] ?? 0) })
      flush()
    })
    from.on('close', () => flushes.delete(flush))
  }

  const server = createServer({ noDelay: true }, (client) => {
    if (faults.isShut) {
      client.resetAndDestroy()
      return
    }
    const upstream = connect({ host: '127.0.0.1', port: targetPort, noDelay: true })
    const pair = [client, upstream] as const
    pairs.add(pair)
    forward(client, upstream, 'requests')
    forward(upstream, client, 'responses')
    for (const socket of pair) {
      socket.on('error', () => end(pair))
      socket.on('close', () => end(pair))
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const cut = () => {
    for (const pair of [...pairs]) end(pair)
  }

  return {
    port: (server.address() as AddressInfo).port,
    cut,
    shut() {
      faults = { isShut: true }
      cut()
    },
    delay(ms, direction) {
      faults = { delaysMs: direction === undefined ? { requests: ms, responses: ms } : { [direction]: ms } }
    },
    lose(direction) {
      faults = { lost: [direction] }
    },
    halfOpen() {
      faults = { lost: ['requests', 'responses'] }
    },
    heal() {
      faults = {}
      for (const flush of flushes) flush()
    },
    leadTo(port) {
      targetPort = port
      cut()
    },
    async close() {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}
