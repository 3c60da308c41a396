import type { Runtime, Session } from 'node:inspector'
import process from 'node:process'

/** What the event loop executes while it is blocked. */
export interface BlockedCode {
  /** The run whose code executes; `undefined` for code of the server. */
  readonly runId?: string | undefined
  /** The innermost frames; empty while only callbacks of resolved promises follow each other. */
  readonly stack: string
}

/**
 * Functions that the main thread offers under the symbol of this name. The inspector calls them between two
 * instructions of the blocking code, which then continues.
 */
export interface LoopHandle {
  /** JSON text of `BlockedCode`. */
  describe(): string
  exit(): void
}

/**
 * Resolves with `undefined` if the main thread does not answer because it executes native code, or if this Node.js has
 * no inspector.
 */
export function describeBlockedCode(key: string, timeoutMs: number): Promise<BlockedCode | undefined> {
  const session = connect()
  return new Promise((resolve) => {
    const finish = (code: BlockedCode | undefined) => {
      clearTimeout(timer)
      session?.disconnect()
      resolve(code)
    }
    const timer = setTimeout(finish, timeoutMs, undefined)
    session?.post('Runtime.evaluate', call(key, 'describe'), (_error, answer) => finish(parsed(answer)))
  })
}

/** Ends the process from its main thread, so that the storage thread can finish its commit. */
export function exitFromMainThread(key: string): void {
  connect()?.post('Runtime.evaluate', call(key, 'exit'))
}

/** A session with the main thread. It reads and calls; unlike a debugger, it neither pauses code nor slows it down. */
function connect(): Session | undefined {
  if (!process.features.inspector) return undefined
  const session = new (process.getBuiltinModule('node:inspector').Session)()
  session.connectToMainThread()
  return session
}

const call = (key: string, member: keyof LoopHandle): Runtime.EvaluateParameterType => ({
  expression: `globalThis[Symbol.for(${JSON.stringify(key)})].${member}()`,
  returnByValue: true,
})

const parsed = (answer: Runtime.EvaluateReturnType | undefined): BlockedCode | undefined => {
  const text: unknown = answer?.result?.value
  return typeof text === 'string' ? (JSON.parse(text) as BlockedCode) : undefined
}
