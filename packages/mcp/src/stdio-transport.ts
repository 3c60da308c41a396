import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio'
import type { Timers } from '@perdure/ports'
import { createLineSplitter } from './line-splitter.ts'

export interface StdioTransportOptions {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd?: string | undefined
  readonly timers: Timers
  /** Longest message. Bytes. */
  readonly maxMessageBytes: number
  /** What the server may write between two answers that were asked for. Bytes. */
  readonly maxUnaskedBytes: number
  /** What may wait for the server to read it. Bytes. */
  readonly maxUnreadBytes: number
  /** How long the process group may end by itself. Milliseconds. */
  readonly graceMs: number
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>

/** What a server may write between two answers besides bytes: lines that are no message, and messages. */
const MAX_NONSENSE = 100
const MAX_UNASKED = 10_000
const UNASKED = 'the server writes more than it was asked for'

/** Messages a client has to see that nobody has asked for. */
const NOTICED = new Set(['notifications/tools/list_changed'])

/**
 * The standard input and output of a process in a group of its own. Nothing of it is kept beyond the bounds, whatever it
 * writes; closing ends the whole group.
 */
export function createStdioTransport(options: StdioTransportOptions): Transport {
  const { timers, graceMs, maxUnreadBytes } = options
  const asked = new Set<unknown>()
  let child: Child | undefined
  let unasked = { bytes: 0, messages: 0, nonsense: 0 }
  let ending: Promise<void> | undefined

  const fail = (error: Error) => {
    transport.onerror?.(error)
    void transport.close()
  }

  const onLine = (line: string) => {
    const message = parseMessage(line)
    if (message === undefined) unasked.nonsense += 1
    else unasked.messages += 1
    if (unasked.nonsense > MAX_NONSENSE) throw new Error('the server writes what is no message')
    if (unasked.messages > MAX_UNASKED) throw new Error(UNASKED)
    if (message === undefined) return
    const isAnswer = !('method' in message) && 'id' in message && asked.delete(message.id)
    if (isAnswer) unasked = { bytes: 0, messages: 0, nonsense: 0 }
    if (isAnswer || ('method' in message && ('id' in message || NOTICED.has(message.method)))) {
      transport.onmessage?.(message)
    }
  }
  const lines = createLineSplitter(options.maxMessageBytes, onLine)

  const onOutput = (chunk: Buffer) => {
    if (ending !== undefined) return
    unasked.bytes += chunk.length
    try {
      lines.push(chunk)
    } catch (error) {
      return fail(error as Error)
    }
    if (unasked.bytes > options.maxUnaskedBytes) fail(new Error(UNASKED))
  }

  const end = (started: Child) =>
    new Promise<void>((resolve) => {
      const killAll = () => signalGroup(started, 'SIGKILL')
      const cancel = timers.after(graceMs, killAll)
      const finish = () => {
        cancel()
        // Whoever is left of the group; its number is free for others only after the last of them.
        killAll()
        resolve()
      }
      if (hasExited(started)) return finish()
      started.once('exit', finish)
      started.stdin.end()
      signalGroup(started, 'SIGTERM')
    })

  const transport: Transport = {
    start: () =>
      new Promise((resolve, reject) => {
        const { command, args, env, cwd } = options
        const started: Child = spawn(command, args, {
          ...{ env: { ...getDefaultEnvironment(), ...env }, cwd, detached: true, shell: false },
          ...{ stdio: ['pipe', 'pipe', 'pipe'], windowsHide: true },
        })
        child = started
        started.once('spawn', resolve)
        started.once('error', (error) => {
          reject(error)
          fail(error)
        })
        started.once('exit', () => void transport.close())
        started.stdin.on('error', fail)
        started.stdout.on('data', onOutput)
        started.stdout.on('error', fail)
        // It must be read, or the process blocks; there is nobody to show it to.
        started.stderr.on('error', fail).resume()
      }),
    async send(message: JSONRPCMessage) {
      if (child === undefined || ending !== undefined || !child.stdin.writable) throw new Error('the server has ended')
      if (child.stdin.writableLength > maxUnreadBytes) {
        fail(new Error('the server does not read what it is sent'))
        throw new Error('the server does not read what it is sent')
      }
      if ('method' in message && 'id' in message) asked.add(message.id)
      child.stdin.write(`${JSON.stringify(message)}\n`)
    },
    async close() {
      const isFirst = ending === undefined
      ending ??= child?.pid === undefined ? Promise.resolve() : end(child)
      if (isFirst) transport.onclose?.()
      await ending
    },
  }
  return transport
}

const hasExited = ({ exitCode, signalCode }: Child) => exitCode !== null || signalCode !== null

function signalGroup({ pid }: Child, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal)
  } catch {
    // Nobody of the group is left.
  }
}

function parseMessage(line: string): JSONRPCMessage | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    const message: unknown = JSON.parse(line)
    return typeof message === 'object' && message !== null && !Array.isArray(message)
      ? (message as JSONRPCMessage)
      : undefined
  } catch {
    return undefined
  }
}
