import { connect, createServer, type Socket } from 'node:net'

/** What the proxy does when the given number of bytes has passed in one direction. */
export interface Strike {
  readonly after: number
  readonly direction: 'to-server' | 'to-client'
  /** Cuts the connection, or calls back and forwards the rest when the promise is settled. */
  readonly action: 'cut' | (() => Promise<unknown>)
}

type ArmedStrike = Strike & { left: number }

export interface CuttingProxy {
  /** The URL of the server, through the proxy. */
  readonly url: string
  /** Strikes once, on the connection whose client connects or sends next. */
  arm(strike: Strike): void
  /** Whether the armed strike has happened. */
  hasStruck(): boolean
  /** Bytes that have passed in both directions. */
  bytes(): Readonly<Record<Strike['direction'], number>>
  /** Refuses new connections and cuts those that are open, until it is called with false. */
  blackout(isDark: boolean): void
  close(): Promise<void>
}

/** A TCP proxy on the loopback interface that breaks connections at a given byte. */
export async function createCuttingProxy(serverUrl: string): Promise<CuttingProxy> {
  const target = new URL(serverUrl)
  const open = new Set<Socket>()
  const passed = { 'to-server': 0, 'to-client': 0 }
  let armed: ArmedStrike | undefined
  let isDark = false

  const server = createServer((client) => {
    if (isDark) return void client.destroy()
    const upstream = connect(Number(target.port), target.hostname)
    for (const socket of [client, upstream]) {
      open.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => undefined)
      socket.on('close', () => open.delete(socket))
    }
    /** The server still reads what has passed; the client hears nothing more. */
    const cut = () => {
      upstream.end()
      client.destroy()
    }
    const strike = (data: Buffer, { left, action }: ArmedStrike, [from, to]: readonly [Socket, Socket]) => {
      armed = undefined
      to.write(data.subarray(0, left))
      if (action === 'cut') return cut()
      from.pause()
      void action().finally(() => {
        to.write(data.subarray(left))
        from.resume()
      })
    }
    const pass = (direction: Strike['direction'], from: Socket, to: Socket) => {
      from.on('data', (data: Buffer) => {
        if (armed?.direction === direction && data.length >= armed.left) return strike(data, armed, [from, to])
        if (armed?.direction === direction) armed.left -= data.length
        passed[direction] += data.length
        to.write(data)
      })
      from.on('end', () => to.end())
    }
    pass('to-server', client, upstream)
    pass('to-client', upstream, client)
    client.on('close', () => upstream.end())
    upstream.on('close', () => client.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the proxy does not listen')
  const url = new URL(serverUrl)
  url.port = String(address.port)

  return {
    url: url.href,
    arm(strike) {
      armed = { ...strike, left: strike.after }
    },
    hasStruck: () => armed === undefined,
    bytes: () => ({ ...passed }),
    blackout(dark) {
      isDark = dark
      if (dark) for (const socket of open) socket.destroy()
    },
    async close() {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
