import type { Socket } from 'node:net'
import { perdureError, type Refusal } from '@perdure/ports'

export interface ConnectionGateOptions {
  readonly maxConnections: number
  readonly maxConnectionsPerAddress: number
  /** Returns the address that a connection counts for, or `undefined` if no limit per address applies to it. */
  readonly addressOf: (remoteAddress: string) => string | undefined
}

/** Counts the open connections of a listener, upgraded ones included. */
export interface ConnectionGate {
  /** Counts the connection until it closes. Returns an error, and does not count it, if a limit is reached. */
  admit(socket: Socket): Refusal | undefined
  /** The counted connections. */
  sockets(): Iterable<Socket>
}

const RETRY_AFTER_MS = 1_000

export function createConnectionGate(options: ConnectionGateOptions): ConnectionGate {
  const { maxConnections, maxConnectionsPerAddress, addressOf } = options
  /** By connection, the address it counts for: a closed socket no longer knows its address. */
  const open = new Map<Socket, string | undefined>()
  const countByAddress = new Map<string, number>()

  // One listener for all sockets: a closure would take memory for as long as its connection is open.
  function onClose(this: Socket) {
    const address = open.get(this)
    open.delete(this)
    if (address === undefined) return
    const count = (countByAddress.get(address) ?? 1) - 1
    if (count === 0) countByAddress.delete(address)
    else countByAddress.set(address, count)
  }

  return {
    admit(socket) {
      if (open.size >= maxConnections)
        return overloaded(`the server has ${maxConnections} open connections, its maximum`)
      const address = socket.remoteAddress === undefined ? undefined : addressOf(socket.remoteAddress)
      const count = address === undefined ? 0 : (countByAddress.get(address) ?? 0)
      if (count >= maxConnectionsPerAddress) {
        return overloaded(`your address has ${maxConnectionsPerAddress} open connections, the maximum`)
      }
      open.set(socket, address)
      if (address !== undefined) countByAddress.set(address, count + 1)
      socket.once('close', onClose)
      return undefined
    },
    sockets: () => open.keys(),
  }
}

const overloaded = (message: string) => perdureError('overloaded', { message, retryAfter: RETRY_AFTER_MS })
