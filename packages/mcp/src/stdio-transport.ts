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
  /** Maximum length of one message. */
  readonly maxMessageBytes: number
  /** Maximum bytes of output between two expected responses. */
  readonly maxUnsolicitedBytes: number
  /** Maximum bytes of input that the server may leave unread. */
  readonly maxUnreadBytes: number
  /** Time between SIGTERM and SIGKILL. */
  readonly graceMs: number
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>

/** Maximum lines that are not MCP messages, between two expected responses. */
const MAX_INVALID_LINES = 100
/** Maximum messages between two expected responses. */
const MAX_UNSOLICITED = 10_000
const TOO_MUCH_OUTPUT = 'the server wrote too much output that was not requested'

/** Notifications passed on to the SDK; all others are dropped. */
const HANDLED_NOTIFICATIONS = new Set(['notifications/tools/list_changed'])

/**
 * Runs the server as a process in its own process group and speaks MCP over stdin and stdout. Memory use is bounded
 * regardless of what the process writes. Closing the transport kills the whole group.
 */
export function createStdioTransport(options: StdioTransportOptions): Transport {
  const { timers, graceMs, maxUnreadBytes } = options
  const pendingIds = new Set<unknown>()
  let child: Child | undefined
  let unsolicited = { bytes: 0, messages: 0, invalidLines: 0 }
  let ending: Promise<void> | undefined

  const fail = (error: Error) => {
    transport.onerror?.(error)
    void transport.close()
  }

  const onLine = (line: string) => {
    const message = parseMessage(line)
    if (message === undefined) unsolicited.invalidLines += 1
    else unsolicited.messages += 1
    if (unsolicited.invalidLines > MAX_INVALID_LINES)
      throw new Error('the server wrote too many lines that are not MCP messages')
    if (unsolicited.messages > MAX_UNSOLICITED) throw new Error(TOO_MUCH_OUTPUT)
    if (message === undefined) return
    const isAnswer = !('method' in message) && 'id' in message && pendingIds.delete(message.id)
    if (isAnswer) unsolicited = { bytes: 0, messages: 0, invalidLines: 0 }
    if (isAnswer || ('method' in message && ('id' in message || HANDLED_NOTIFICATIONS.has(message.method)))) {
      transport.onmessage?.(message)
    }
  }
  const lines = createLineSplitter(options.maxMessageBytes, onLine)

  const onOutput = (chunk: Buffer) => {
    if (ending !== undefined) return
    unsolicited.bytes += chunk.length
    try {
      lines.push(chunk)
    } catch (error) {
      return fail(error as Error)
    }
    if (unsolicited.bytes > options.maxUnsolicitedBytes) fail(new Error(TOO_MUCH_OUTPUT))
  }

  const terminate = (started: Child) =>
    new Promise<void>((resolve) => {
      const killAll = () => signalGroup(started, 'SIGKILL')
      const cancel = timers.after(graceMs, killAll)
      const finish = () => {
        cancel()
        // Kills the rest of the group. The system cannot reuse the group id while a process of the group is alive.
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
        // Reads and discards stderr, so that the process does not block on a full pipe.
        started.stderr.on('error', fail).resume()
      }),
    async send(message: JSONRPCMessage) {
      if (child === undefined || ending !== undefined || !child.stdin.writable)
        throw new Error('the server process has exited')
      if (child.stdin.writableLength > maxUnreadBytes) {
        fail(new Error('the server does not read its input'))
        throw new Error('the server does not read its input')
      }
      if ('method' in message && 'id' in message) pendingIds.add(message.id)
      child.stdin.write(`${JSON.stringify(message)}\n`)
    },
    async close() {
      const isFirst = ending === undefined
      ending ??= child?.pid === undefined ? Promise.resolve() : terminate(child)
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
    // The group has no processes left.
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
