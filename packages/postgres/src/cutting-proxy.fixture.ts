import { connect, createServer, type Socket } from 'node:net'

/** What the proxy does when the given number of bytes, or of statements to the server, has passed in one direction. */
export interface Strike {
  readonly after: number
  /** Statements are counted on the connection with the given `application_name`. */
  readonly statementsOf?: string
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
    const statements = createStatementCounter()
    const pass = (direction: Strike['direction'], from: Socket, to: Socket) => {
      from.on('data', (data: Buffer) => {
        const ends = direction === 'to-server' ? statements.endsIn(data) : []
        const part = { direction, data, connection: statements.connection(), statementEnds: ends }
        const end = armed && strikeIn(part, armed)
        if (armed !== undefined && end !== undefined) return strike(data, { ...armed, left: end }, [from, to])
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

interface Part {
  readonly direction: Strike['direction']
  readonly data: Buffer
  readonly connection: string | undefined
  readonly statementEnds: readonly number[]
}

/** Where in the data the strike is; undefined, and counts the data, if it comes later. */
function strikeIn({ direction, data, connection, statementEnds }: Part, armed: ArmedStrike): number | undefined {
  const { left, statementsOf } = armed
  if (direction !== armed.direction || (statementsOf !== undefined && statementsOf !== connection)) return undefined
  const end = statementsOf === undefined ? left : (statementEnds[left - 1] ?? Number.POSITIVE_INFINITY)
  if (end <= data.length) return end
  armed.left -= statementsOf === undefined ? data.length : statementEnds.length
  return undefined
}

/** Finds the statements in what a client sends: messages with a type and a length, after one without a type. */
function createStatementCounter() {
  let connection: string | undefined
  let header = Buffer.alloc(0)
  let isStatement = false
  /** Bytes of the message that are still to come. */
  let left = 0

  const readHeader = (data: Buffer): number => {
    const length = connection === undefined ? 4 : 5
    const part = data.subarray(0, length - header.length)
    header = Buffer.concat([header, part])
    if (header.length < length) return part.length
    left = header.readInt32BE(length - 4) - 4
    isStatement = connection !== undefined && EXECUTIONS.includes(header[0] ?? 0)
    connection ??= nameIn(data.subarray(part.length, part.length + left))
    header = Buffer.alloc(0)
    return part.length
  }

  return {
    /** The `application_name` of the connection. */
    connection: () => connection,
    /** The offsets in the data at which a message that executes a statement ends. */
    endsIn(data: Buffer): readonly number[] {
      const ends: number[] = []
      let at = 0
      while (at < data.length) {
        if (left === 0) at += readHeader(data.subarray(at))
        const passed = Math.min(left, data.length - at)
        if (isStatement && passed > 0 && passed === left) ends.push(at + passed)
        left -= passed
        at += passed
      }
      return ends
    },
  }
}

/** Messages that execute a prepared statement, or a text. */
const EXECUTIONS = [...'EQ'].map((type) => type.charCodeAt(0))

/** The first message lists names and values, each with a zero at its end. */
function nameIn(message: Buffer): string {
  const texts = message.subarray(4).toString().split('\0')
  return texts[texts.indexOf('application_name') + 1] ?? ''
}
