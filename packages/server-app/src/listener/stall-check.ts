import type { Socket } from 'node:net'

export interface StallCheckOptions {
  /** How long a client may take nothing while bytes are waiting for it. */
  readonly timeoutMs: number
  readonly sockets: () => Iterable<Socket>
  /** Called after a client was disconnected. */
  readonly onStalled: (waitingBytes: number) => void
}

/** Disconnects clients that stop reading their answers. */
export interface StallCheck {
  /** How often `run` has to be called, in milliseconds. */
  readonly intervalMs: number
  run(): void
  /** Ignores the connection until `include`: its stream watches its reader itself. */
  exempt(socket: object): void
  include(socket: object): void
}

interface Waiting {
  readonly taken: number
  /** Number of calls of `run` in a row that found no progress. */
  readonly idleRuns: number
}

const MAX_INTERVAL_MS = 1_000
const RUNS_PER_TIMEOUT = 10

/**
 * Time is counted in calls of `run`, not read from a clock: while the event loop is blocked, no client can make
 * progress, and the whole pause counts as one call.
 */
export function createStallCheck({ timeoutMs, sockets, onStalled }: StallCheckOptions): StallCheck {
  const intervalMs = Math.max(1, Math.min(MAX_INTERVAL_MS, Math.floor(timeoutMs / RUNS_PER_TIMEOUT)))
  const maxIdleRuns = Math.ceil(timeoutMs / intervalMs)
  const waiting = new WeakMap<Socket, Waiting>()
  const exempted = new WeakSet<object>()

  const check = (socket: Socket) => {
    if (socket.writableLength === 0 || exempted.has(socket)) return void waiting.delete(socket)
    const taken = takenFrom(socket)
    const before = waiting.get(socket)
    const idleRuns = before?.taken === taken ? before.idleRuns + 1 : 0
    waiting.set(socket, { taken, idleRuns })
    if (idleRuns < maxIdleRuns) return
    const waitingBytes = socket.writableLength
    socket.destroy()
    onStalled(waitingBytes)
  }

  return {
    intervalMs,
    run() {
      for (const socket of sockets()) check(socket)
    },
    exempt: (socket) => void exempted.add(socket),
    include: (socket) => void exempted.delete(socket),
  }
}

interface Handle {
  readonly bytesWritten: number
  readonly writeQueueSize: number
}

/**
 * Number of bytes that the operating system has accepted for this client. Node publishes only the end of a whole write,
 * which can be an answer of several MiB; its own socket timeout reads the same property of the handle.
 */
function takenFrom(socket: Socket): number {
  const { _handle: handle } = socket as { readonly _handle?: Handle | null }
  return handle ? handle.bytesWritten - handle.writeQueueSize : socket.bytesWritten - socket.writableLength
}
