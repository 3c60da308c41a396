import { setTimeout as sleep } from 'node:timers/promises'
import type { Call } from '../call.ts'
import { isClientError } from '../client-error.ts'
import { createBridge } from '../mcp-bridge/bridge.ts'

const PATIENCE_MS = 120_000
/** How long open calls are answered after the client has closed stdin. */
const CLOSING_MS = 60_000

/**
 * Passes the messages of an MCP client on stdin to the server and writes the answers to stdout, until the client closes
 * stdin or a signal arrives. Runs of open calls continue.
 */
export async function mcpServeCommand(call: Call): Promise<void> {
  const { terminal, out } = call
  const interruptions = terminal.watchInterruptions(() => false)
  const stopped = interruptions.next().then((interruption) => {
    if (interruption.type === 'crash') throw interruption.error
  })
  let hangUp = () => {}
  const gone = new Promise<void>((resolve) => {
    hangUp = resolve
  })
  const bridge = createBridge({
    url: `${call.serverUrl()}/mcp`,
    token: call.serverToken(),
    fetch,
    monotonicMs: () => performance.now(),
    sleep: (ms, signal) => sleep(ms, undefined, { signal }),
    patienceMs: PATIENCE_MS,
    newKey: () => crypto.randomUUID(),
    write: (message) => void terminal.stdout.write(`${message}\n`, (error) => error != null && hangUp()),
    note: out.note,
  })
  const unreachable = checkToken(call)

  const served = async () => {
    await terminal.readLines(bridge.take)
    const failure = await unreachable
    if (failure !== undefined && !bridge.hasReached()) throw failure
    const late = new AbortController()
    await Promise.race([bridge.settled(), sleep(CLOSING_MS, undefined, { signal: late.signal })])
    late.abort()
  }
  try {
    await Promise.race([served(), stopped, gone, unreachable.then(() => new Promise<never>(() => undefined))])
  } finally {
    bridge.close()
  }
}

/**
 * Checks the token before the client sends anything, so that a wrong one is reported with its own exit code. Returns why
 * the server cannot be reached: it may only be away for a moment.
 *
 * @throws PerdureError if the server refuses the token
 */
async function checkToken(call: Call): Promise<unknown> {
  try {
    await call.client().tokens.self()
    return undefined
  } catch (error) {
    if (isClientError(error) && (error.status === 401 || error.status === 403)) throw error
    return error
  }
}
