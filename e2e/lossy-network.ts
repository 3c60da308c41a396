import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A proxy to a server on loopback that drops connections on request. */
export interface LossyNetwork {
  /** `http://127.0.0.1:port`; does not change. */
  readonly origin: string
  /** Forwards new connections to this port. */
  target(port: number): void
  /** Resets every connection. */
  cut(): void
  /** Resets each new connection after this many milliseconds; `undefined` removes the limit. */
  limitLifetimes(lifetimeMs: (() => number) | undefined): void
  /** Number of connections reset so far. */
  cutCount(): number
  /** Resets all connections and refuses new ones until `open`. */
  shut(): void
  open(): void
  /** Stops reading from the server, so that it must buffer, until `flow`. */
  stall(): void
  flow(): void
  close(): Promise<void>
}

export async function createLossyNetwork(): Promise<LossyNetwork> {
  const pairs = new Set<readonly [Socket, Socket]>()
  let port = 0
  let isShut = false
  let lifetimeMs: (() => number) | undefined
  let torn = 0

  const end = (pair: readonly [Socket, Socket]) => {
    if (!pairs.delete(pair)) return
    torn += 1
    for (const socket of pair) socket.resetAndDestroy()
  }

  const server = createServer((client) => {
    if (isShut) {
      client.destroy()
      return
    }
    const upstream = connect({ host: '127.0.0.1', port, noDelay: true })
    const pair = [client, upstream] as const
    pairs.add(pair)
    if (lifetimeMs !== undefined) setTimeout(() => lifetimeMs !== undefined && end(pair), lifetimeMs())
    for (const [from, to] of [pair, [upstream, client] as const]) {
      from.pipe(to)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        pairs.delete(pair)
        to.destroy()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const cut = () => {
    for (const pair of [...pairs]) end(pair)
  }

  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    target(next) {
      port = next
    },
    cut,
    limitLifetimes(next) {
      lifetimeMs = next
    },
    cutCount: () => torn,
    shut() {
      isShut = true
      cut()
    },
    open() {
      isShut = false
    },
    stall() {
      for (const [client, upstream] of pairs) upstream.unpipe(client).pause()
    },
    flow() {
      for (const [client, upstream] of pairs) upstream.pipe(client)
    },
    async close() {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}
